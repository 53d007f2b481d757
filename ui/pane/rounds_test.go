package pane_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/theme"
)

// outcome is a round of γ draft tokens, of which some are kept and the next one may be refused.
func outcome(gamma, drafted, kept int, refused bool) event.Round {
	r := event.Round{Gamma: gamma, Accepted: kept, Tested: kept, VerifyMS: 2, DraftMS: float64(drafted) / 2, Commit: &event.Token{Text: "x", Verdict: event.Bonus}}
	for i := range drafted {
		t := event.Token{Text: "d", Verdict: event.Discarded}
		switch {
		case i < kept:
			t.Verdict = event.Accepted
		case i == kept && refused:
			t.Verdict = event.Rejected
		}
		r.Draft = append(r.Draft, t)
	}
	if refused {
		r.Tested, r.Commit.Verdict = kept+1, event.Resampled
	}
	if drafted == 0 {
		r.Commit.Verdict = event.Plain
	}
	return r
}

// A changed γ has the name that it has everywhere on the screen.
func TestAMarkNamesGammaAsTheScreenDoes(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1})
	s.Apply(event.SettingChanged{Name: "temperature", To: "0.2"})
	s.Apply(event.SettingChanged{Name: "gamma", To: "3"})
	s.Apply(outcome(3, 3, 3, false))
	if got := ansi.Strip(strings.Join(pane.Picture(s, th, 60, 9), "\n")); !strings.Contains(got, "temperature 0.2, γ 3") {
		t.Errorf("no γ 3 in\n%s", got)
	}
}

// A column shows a round, one cell per token. From the bottom up these are the kept draft tokens, the
// refused one and the untested ones. On top is the target's own token, in one shade if it replaces a
// refused token and in another if it is free (the whole draft was kept). If the reply ends within the
// draft, no token of the target is on top. A round without a draft has only the target's token.
// Above the column of a measuring round stands its sign. If a draft is shorter than γ, a line stands
// at the height of γ.
func TestARoundIsAColumnOfItsTokens(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1})
	measure := outcome(0, 0, 0, false)
	measure.Probe = true
	ended := outcome(4, 4, 2, false) // the reply ends within the draft
	ended.Commit = nil
	for _, r := range []event.Round{outcome(4, 4, 1, true), outcome(3, 3, 3, false), outcome(4, 2, 2, false), measure, ended} {
		s.Apply(r)
	}
	s.Apply(event.ReplyStarted{Reply: 2})
	s.Apply(outcome(1, 1, 0, true))
	want := []string{
		"     ═════                        ┆",
		"   4 ░░░░░ ▀▀▀▀▀ ╌╌╌╌╌       ░░░░░┆",
		"     ░░░░░ █████ ▀▀▀▀▀       ░░░░░┆",
		"   2 ▒▒▒▒▒ █████ █████   ◦   █████┆═════",
		"     █████ █████ █████ ▄▄▄▄▄ █████┆▒▒▒▒▒",
	}
	lines := pane.Picture(s, th, 60, 6)
	for i, want := range want {
		if got := strings.TrimRight(ansi.Strip(lines[i+1]), " "); got != want {
			t.Errorf("row %d is\n%q, want\n%q", i, got, want)
		}
	}
	// With about half the height, a cell has two tokens.
	half := pane.Picture(s, th, 60, 4)
	if got := strings.TrimRight(ansi.Strip(half[3]), " "); got != "     ▒▒▒▒▒ █████ █████ ▄▄▄▄▄ █████┆▒▒▒▒▒" {
		t.Errorf("half as high: %q", got)
	}
}

// Columns are as wide as fit. When the window is full, the newest rounds are shown.
func TestColumnsFillTheWidth(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1})
	for n := 1; n <= 200; n++ {
		s.Apply(outcome(2, 2, 2, false))
		for _, w := range []int{48, 80, 104} {
			bottom := strings.TrimRight(ansi.Strip(pane.Picture(s, th, w, 4)[3]), " ")
			if used := ansi.StringWidth(bottom); n*6 > w-5 && used < w/2 {
				t.Fatalf("%d rounds fill only %d of %d cells: %q", n, used, w, bottom)
			}
		}
	}
	got := ansi.Strip(pane.Picture(s, th, 25, 4)[3])
	if want := "     █ █ █ █ █ █ █ █ █ █"; strings.TrimRight(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The time of a round stands under its column, and a line is at the time of a round without a draft.
func TestTimesStandUnderTheirRounds(t *testing.T) {
	th, _ := theme.Named("mono", true)
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1})
	s.Apply(outcome(4, 4, 4, false)) // 2 ms of checking and 2 ms of drafting
	s.Apply(outcome(0, 0, 0, false)) // 2 ms
	lines := strings.Split(ansi.Strip(strings.Join(pane.Side(s, th, 50, 20, pane.SideOptions{}), "\n")), "\n")
	for i, line := range lines {
		if strings.Contains(line, "ms a round") {
			lines = lines[i:]
			break
		}
	}
	for i, want := range []string{
		" ms a round  ▒ draft █ check ░ rest  ╌ no draft", "   4 ▒▒▒▒▒", "    ╌█████╌▄▄▄▄▄", "     █████ █████",
	} {
		if got := strings.TrimRight(lines[i], " "); got != want {
			t.Errorf("row %d is %q, want %q", i, got, want)
		}
	}
}

// The trade-off says which length is the best, and which would be at other temperatures that were in use.
func TestTheTradeoffNamesTheBestLength(t *testing.T) {
	th, _ := theme.Named("mono", true)
	set := event.Settings{Gamma: 1, GammaMax: 3, GammaRule: "fixed", Proposer: "draft", Speculate: true, Temperature: 0.2}
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1, Settings: set})
	for range 30 { // at temperature 0.2 everything is kept
		r := outcome(3, 3, 3, false)
		r.Temperature = 0.2
		s.Apply(r)
	}
	set.Temperature = 1
	s.Apply(event.ReplyStarted{Reply: 2, Settings: set})
	last := outcome(1, 1, 0, true)
	last.Temperature = 1
	last.Lengths = []event.Length{{Tokens: 1, Rounds: 1, Measured: true}, {Tokens: 1.4, Rounds: 1.2, Measured: true}, {Tokens: 1.8, Rounds: 1.4, Measured: true}, {Tokens: 1.9, Rounds: 1.9}}
	s.Apply(last)
	got := words(strings.Join(pane.Tradeoff(s, th, 80, 12), " "))
	for _, want := range []string{"78% 91% 100% ?", "γ 0 ●1 ★2 3", "γ 2 would be best: 10% faster than γ 1", "at temperature 0.20: γ 2, ×2.14 of no draft"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if got := words(pane.Tradeoff(s, th, 80, 5)[0]); got != "γ 2 would be best: 10% faster than γ 1" {
		t.Errorf("a low picture says %q", got)
	}
	last.Lengths = []event.Length{{Tokens: 1, Rounds: 1, Measured: true}, {Tokens: 1.5, Rounds: 1}}
	s.Apply(last)
	if got := words(strings.Join(pane.Tradeoff(s, th, 80, 12), " ")); !strings.Contains(got, "no draft was timed yet") {
		t.Errorf("of guessed costs: %s", got)
	}
	last.Lengths = []event.Length{{Tokens: 1, Rounds: 1, Measured: true}, {Tokens: 1.1, Rounds: 1.5, Measured: true}}
	s.Apply(last)
	if got := words(strings.Join(pane.Tradeoff(s, th, 80, 12), " ")); !strings.Contains(got, "γ 0, no drafting, would be best: 36% faster than γ 1") {
		t.Errorf("where drafts lose: %s", got)
	}
	// The head line is of the newest rounds. Where it contradicts the bars, that is explained.
	last.Speedup = 1.1
	s.Apply(last)
	if got := words(strings.Join(pane.Tradeoff(s, th, 80, 12), " ")); !strings.Contains(got, "The newest rounds kept more than is usual.") {
		t.Errorf("beside a gain in the head line: %s", got)
	}
	last.Speedup = 0.9
	s.Apply(last)
	if got := words(strings.Join(pane.Tradeoff(s, th, 80, 12), " ")); strings.Contains(got, "newest rounds") {
		t.Errorf("beside a loss in the head line: %s", got)
	}
	last.Lengths = []event.Length{{Tokens: 1, Rounds: 1}, {Tokens: 1.7, Rounds: 0.8, Measured: true}}
	s.Apply(last)
	if got := words(strings.Join(pane.Tradeoff(s, th, 80, 12), " ")); !strings.Contains(got, "γ 1, in use, is as good as any The newest rounds kept less than is usual.") {
		t.Errorf("where drafts gain, beside a loss in the head line: %s", got)
	}
}
