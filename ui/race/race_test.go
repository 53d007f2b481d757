package race_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/golden"
	"specula/ui/race"
	"specula/ui/theme"
)

func TestParseLanes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "[speculation.enabled=off] vs [speculation.enabled=on]"},
		{"gamma=3", "[speculation.enabled=off] vs [speculation.gamma=3 speculation.gamma_rule=fixed]"},
		{"gamma=3,rule=windowed vs proposer=ngram", "[speculation.gamma=3 speculation.gamma_rule=windowed] vs [speculation.proposer=ngram]"},
		{"plain vs now", "[speculation.enabled=off] vs []"},
		{"plain temp=0.5 vs now temp=0.5", "[speculation.enabled=off sampling.temperature=0.5] vs [sampling.temperature=0.5]"},
		{"temp=0 topk=5 vs plain", "[sampling.temperature=0 sampling.top_k=5] vs [speculation.enabled=off]"},
	} {
		lanes, err := race.ParseLanes(c.text)
		var sides []string
		for _, l := range lanes {
			var list []string
			for _, v := range l.Settings {
				list = append(list, v.Name+"="+v.Text)
			}
			sides = append(sides, fmt.Sprint(list))
		}
		if got := strings.Join(sides, " vs "); err != nil || got != c.want {
			t.Errorf("%q: %s, %v; want %s", c.text, got, err, c.want)
		}
	}
	lanes, err := race.ParseLanes("")
	if err != nil || lanes[0].Name != "without speculation" || lanes[1].Name != "with speculation" {
		t.Errorf("the usual lanes are %+v, %v", lanes, err)
	}
	lanes, err = race.ParseLanes("gamma=2 vs proposer=ngram gamma=6")
	if err != nil || lanes[0].Name != "gamma 2" || lanes[1].Name != "proposer ngram, gamma 6" {
		t.Errorf("the lanes are %+v, %v", lanes, err)
	}
	for text, want := range map[string]string{"gamma": "is not NAME=VALUE", "propsoer=x": "did you mean proposer?", "a=1 vs gamma=2": "there is no setting"} {
		if _, err := race.ParseLanes(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}

// The outcome is shown in full. Only in a very low window its reason may be cut off.
func TestTheOutcomeIsNeverCut(t *testing.T) {
	th, _ := theme.Named("mono", true)
	drawn := "drawn texts need not be equal; they are at temperature 0 and with acceptance exact"
	for _, c := range []struct {
		outcome       event.RaceOutcome
		failure       string
		verdict, rest string
	}{
		{event.RaceOutcome{Compared: true, Same: true, Why: "acceptance exact and one seed: the target's own draws decide"}, "",
			"×2.0 faster with speculation · the same text ✓", ": acceptance exact and one seed: the target's own draws decide"},
		{event.RaceOutcome{Why: drawn}, "", "×2.0 faster with speculation · texts not compared", ": " + drawn},
		{event.RaceOutcome{Compared: true, Position: 12345, Why: "at temperature 0 there is one text"}, "",
			"×2.0 faster with speculation · THE TEXTS DIFFER ✗", ": from token 12346 on, and must not: at temperature 0 there is one text"},
		{event.RaceOutcome{}, "the GPU failed: " + drawn, "the GPU failed", ": " + drawn},
	} {
		settings := "gamma 5, acceptance block, gamma-rule fixed, proposer combined, suffix-trust 0.4, temperature 0.7, seed 12"
		v := race.NewView("hello", [2]race.Lane{{Name: settings}, {Name: "with speculation"}})
		for lane, ms := range []float64{2, 1} {
			v.Apply(lane, event.ReplyStarted{Reply: 1, Prompt: "hello"})
			v.Apply(lane, event.Round{Commit: &event.Token{ID: 1, Text: "Hi", Verdict: event.Plain}, VerifyMS: ms})
		}
		v.Finish(c.outcome, c.failure)
		for _, size := range [][2]int{{80, 17}, {48, 15}, {59, 35}, {40, 9}} {
			lines := v.Draw(th, size[0], size[1])
			screen := strings.Join(strings.Fields(ansi.Strip(strings.Join(lines, " "))), " ")
			want := c.verdict
			if size[1] > 9 {
				want += c.rest
			}
			for _, want := range []string{want, "500.0 tok/s", "1000.0 tok/s"} {
				if len(lines) != size[1] || !strings.Contains(screen, want) {
					t.Errorf("%v: %d lines, no %q in\n%s", size, len(lines), want, ansi.Strip(strings.Join(lines, "\n")))
				}
			}
		}
	}
}

// Unless it was asked otherwise, both texts must be the same: at temperature 0, or by the rule exact.
func TestLanesAreMadeComparable(t *testing.T) {
	for _, c := range []struct{ text, also, want string }{
		{"", "", "sampling.temperature=0"},
		{"gamma=2 vs gamma=8", "", "sampling.temperature=0"},
		{"temp=0.5 vs temp=0.9", "", "speculation.acceptance=exact"},
		{"", "temp=0.9", "speculation.acceptance=exact"},
		{"acceptance=block vs plain", "", ""},
		{"", "temp=0.9 acceptance=block", ""},
	} {
		lanes, err := race.ParseLanes(c.text)
		if err != nil {
			t.Fatal(err)
		}
		also, err := race.ParseLane(c.also)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range race.Comparable(lanes, also.Settings...) {
			got := ""
			for _, v := range l.Settings[len(lanes[i].Settings):] {
				got += v.Name + "=" + v.Text
			}
			if got != c.want || l.Name != lanes[i].Name {
				t.Errorf("%q with %q: lane %d gets %q, want %q", c.text, c.also, i, got, c.want)
			}
		}
	}
}

// raced returns the view of a race that is over: the first lane writes one token a round, the second four.
func raced(t *testing.T, over bool) *race.View {
	t.Helper()
	lanes, err := race.ParseLanes("")
	if err != nil {
		t.Fatal(err)
	}
	v := race.NewView("What is speculative decoding?", lanes)
	text := strings.Fields("A small model guesses and a large model checks all of them in a single pass")
	for lane, step := range []int{1, 4} {
		v.Apply(lane, event.ReplyStarted{Reply: 1, Prompt: "What is speculative decoding?", Settings: event.Settings{Speculate: lane == 1, GammaRule: "fixed", Gamma: 3 * lane}})
		for i := 0; i < len(text); i += step {
			if !over && i >= 8/(5-step) {
				break
			}
			r := event.Round{Index: i / step, Gamma: step - 1, Accepted: step - 1, Tested: step - 1, VerifyMS: 1, DraftMS: 0.2 * float64(step-1)}
			for _, word := range text[i : i+step-1] {
				r.Draft = append(r.Draft, event.Token{ID: 1, Text: word + " ", Verdict: event.Accepted})
			}
			r.Commit = &event.Token{ID: 2, Text: text[i+step-1] + " ", Verdict: event.Bonus}
			v.Apply(lane, r)
		}
		if over {
			v.Apply(lane, event.ReplyEnded{Reply: 1, Reason: "stop"})
		}
	}
	if over {
		v.Finish(event.RaceOutcome{Compared: true, Same: true, Why: "at temperature 0 there is one text"}, "")
	}
	return v
}

// The frames of a race, at three sizes and in two themes.
func TestRaceFramesMatchGoldens(t *testing.T) {
	for name, over := range map[string]bool{"running": false, "over": true} {
		for _, size := range [][2]int{{80, 23}, {120, 35}, {200, 49}} {
			for _, th := range []string{"dark", "light"} {
				theme, _ := theme.Named(th, true)
				lines := raced(t, over).Draw(theme, size[0], size[1])
				got := strings.Join(lines, "\n")
				label := fmt.Sprintf("%s-%dx%d", name, size[0], size[1])
				golden.Compare(t, label, ansi.Strip(got)) // both themes draw the same text
				if size[0] == 80 {
					golden.Compare(t, label+"-"+th+"-styles", strings.ReplaceAll(got, "\x1b", "␛"))
				}
				for _, line := range lines {
					if n := ansi.StringWidth(line); n != size[0] {
						t.Errorf("%s: a line has %d cells: %q", label, n, ansi.Strip(line))
					}
				}
			}
		}
	}
}

// Without Unicode the speed-up is not drawn large. The three lines of words still begin in one column.
func TestWordsOfTheVerdictAreAligned(t *testing.T) {
	th, _ := theme.Named("mono", false)
	lines := raced(t, true).Draw(th, 120, 35)
	at := -1
	for _, words := range []string{"faster with speculation", "the same text", "at temperature 0"} {
		i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, words) })
		if i < 0 {
			t.Fatalf("no line says %q:\n%s", words, strings.Join(lines, "\n"))
		}
		column := strings.Index(ansi.Strip(lines[i]), words)
		if at >= 0 && column != at {
			t.Errorf("%q begins in column %d, the words above in column %d", words, column, at)
		}
		at = column
	}
}

// Two recordings are compared, not raced. Each has one rate, both have as many figures, and no words of a
// lane are cut.
func TestRecordingsAreComparedWhole(t *testing.T) {
	th, _ := theme.Named("mono", true)
	v := race.NewView("hello", [2]race.Lane{{Name: "a.jsonl"}, {Name: "b.jsonl"}})
	v.Compare()
	for lane, rounds := range []int{17, 170} {
		v.Apply(lane, event.ReplyStarted{Reply: 1, Prompt: "hello", Settings: event.Settings{Temperature: 0.7, Seed: 4294967295, Speculate: true}})
		for i := range rounds {
			v.Apply(lane, event.Round{Index: i, Gamma: 1, Tested: 1, Accepted: 1, VerifyMS: 1.26, OtherMS: 0.01, ReadMS: 0.02,
				Draft:  []event.Token{{ID: 1, Text: "a", Verdict: event.Accepted}},
				Commit: &event.Token{ID: 2, Text: " ", Verdict: event.Bonus}})
		}
		v.Apply(lane, event.ReplyEnded{Reply: 1, Reason: "stop", Totals: event.Totals{Tokens: 2 * rounds, Rounds: rounds, Tested: rounds, Accepted: rounds, VerifyMS: 1.26 * float64(rounds)}})
	}
	v.Finish(event.RaceOutcome{Compared: true, Free: true, Same: true}, "")
	for _, size := range [][2]int{{80, 23}, {100, 35}, {120, 35}, {200, 49}} {
		screen := ansi.Strip(strings.Join(v.Draw(th, size[0], size[1]), "\n"))
		if strings.Contains(screen, "…") || !strings.Contains(screen, " Two recordings: hello ") || strings.Count(screen, "tok/s") != 2 ||
			strings.Count(screen, "complete · seed 4294967295 ") != 2 || strings.Count(screen, "% kept") == 1 || strings.Count(screen, "Race") > 0 {
			t.Errorf("%v: wrong frame\n%s", size, screen)
		}
	}
}

// A model's text cannot leave its lane.
func TestHostileTextStaysInItsLane(t *testing.T) {
	v := race.NewView("\x1b]0;owned\x07prompt", [2]race.Lane{{Name: "a\x1b[2J"}, {Name: "b"}})
	for lane := range 2 {
		v.Apply(lane, event.ReplyStarted{Reply: 1, Prompt: "prompt"})
		v.Apply(lane, event.Round{Commit: &event.Token{ID: 1, Text: "evil\x1b[31m \u202etext", Verdict: event.Plain}, VerifyMS: 1})
		v.Apply(lane, event.ReplyEnded{Reason: "stop", Text: "evil\x1b[31m text"})
	}
	v.Finish(event.RaceOutcome{Why: "not\x1b[H"}, "")
	th, _ := theme.Named("mono", true)
	for _, line := range v.Draw(th, 120, 30) {
		for _, bad := range []string{"\x1b]", "\x1b[2J", "\x1b[H", "\x1b[31m", "\u202e"} {
			if strings.Contains(line, bad) {
				t.Errorf("the line %q holds %q", line, bad)
			}
		}
	}
}

func Example() {
	lanes, err := race.ParseLanes("gamma=2 vs gamma=6")
	if err != nil {
		panic(err)
	}
	v := race.NewView("hello", lanes)
	v.Apply(0, event.ReplyStarted{Reply: 1, Prompt: "hello"})
	v.Apply(0, event.Round{Commit: &event.Token{ID: 1, Text: "Hi", Verdict: event.Plain}, VerifyMS: 2})
	th, _ := theme.Named("mono", false)
	fmt.Println(strings.TrimSpace(ansi.Strip(v.Draw(th, 60, 20)[3])))
	// Output: 1 token in 1 round - 1.00 a round - 2.0 ms
}
