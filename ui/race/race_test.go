package race_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/race"
	"specula/ui/theme"
)

func TestParseLanes(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "[speculation.enabled=off] vs []"},
		{"gamma=3", "[speculation.enabled=off] vs [speculation.gamma=3 speculation.gamma_rule=fixed]"},
		{"gamma=3,rule=windowed vs proposer=ngram", "[speculation.gamma=3 speculation.gamma_rule=windowed] vs [speculation.proposer=ngram]"},
		{"plain vs now", "[speculation.enabled=off] vs []"},
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
			"second lane ×2.00 · the same text", ": acceptance exact and one seed: the target's own draws decide"},
		{event.RaceOutcome{Why: drawn}, "", "second lane ×2.00 · texts not compared", ": " + drawn},
		{event.RaceOutcome{Compared: true, Position: 12345, Why: "at temperature 0 there is one text"}, "",
			"second lane ×2.00 · THE TEXTS DIFFER", " from token 12345 on, and must not: at temperature 0 there is one text"},
		{event.RaceOutcome{}, "the GPU failed: " + drawn, "the GPU failed", ": " + drawn},
	} {
		settings := "gamma=5 acceptance=block gamma-rule=fixed proposer=combined suffix-trust=0.4 temperature=0.7 seed=12"
		v := race.NewView("hello", [2]race.Lane{{Name: settings}, {Name: settings}})
		for lane, ms := range []float64{2, 1} {
			v.Apply(lane, event.ReplyStarted{Reply: 1, Prompt: "hello"})
			v.Apply(lane, event.Round{Commit: &event.Token{ID: 1, Text: "Hi", Verdict: event.Plain}, VerifyMS: ms})
		}
		v.Finish(c.outcome, c.failure)
		for _, size := range [][2]int{{80, 23}, {48, 15}, {120, 35}, {40, 9}} {
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
	// Output: 1 tokens - 1 rounds - 1.00/pass - - kept - 2.0 ms
}
