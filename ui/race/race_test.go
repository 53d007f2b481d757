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

// What a model writes cannot leave its lane.
func TestHostileTextStaysInItsLane(t *testing.T) {
	v := race.NewView("\x1b]0;owned\x07prompt", [2]race.Lane{{Name: "a\x1b[2J"}, {Name: "b"}})
	for lane := range 2 {
		v.Apply(lane, event.ReplyStarted{Reply: 1, Prompt: "prompt"})
		v.Apply(lane, event.Round{Commit: &event.Token{ID: 1, Text: "evil\x1b[31m \u202etext", Verdict: event.Plain}, VerifyMS: 1})
		v.Apply(lane, event.ReplyEnded{Reason: "stop", Text: "evil\x1b[31m text"})
	}
	v.Finish(race.Outcome{Why: "not\x1b[H"}, "")
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
