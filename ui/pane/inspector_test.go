package pane_test

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"specula/engine/event"
	"specula/ui/pane"
	"specula/ui/state"
	"specula/ui/state/statetest"
	"specula/ui/theme"
)

// The inspector says how the probabilities of the bars were computed. The draft may have been drawn at
// another temperature than the target's, be the draft model's best token, or be looked up.
func TestInspectorTellsTheTemperatures(t *testing.T) {
	th, _ := theme.Named("mono", true)
	one := 1.0
	for _, c := range []struct {
		name   string
		change func(*event.Round)
		want   string
	}{
		{"sharper", func(*event.Round) {}, "temperature 0.8 temperature 0.24"},
		{"rounded", func(r *event.Round) { r.Temperature, r.DraftTemperature = 0.7, 0.7*0.3 }, "temperature 0.7 temperature 0.21"},
		{"at temperature 0", func(r *event.Round) { r.Temperature, r.DraftTemperature = 0, 0 }, "plain softmax plain softmax"},
		{"looked up", func(r *event.Round) {
			r.DraftTemperature = 0
			for i := range r.Draft {
				r.Draft[i].Draft, r.Draft[i].Q = nil, &one
			}
		}, "temperature 0.8 certain: q = 1"},
		{"written anew at temperature 0", func(r *event.Round) {
			r.Temperature, r.DraftTemperature = 0, 0
			for i := range r.Draft {
				r.Draft[i].Draft, r.Draft[i].Q = nil, nil
			}
		}, "plain softmax none"},
		{"an older trace", func(r *event.Round) { r.DraftTemperature = 0 }, "temperature 0.8"},
	} {
		s := state.New()
		for _, e := range statetest.Chat(24) {
			if round, ok := e.(event.Round); ok {
				c.change(&round)
				e = round
			}
			s.Apply(e)
		}
		for _, size := range [][2]int{{40, 20}, {80, 9}, {60, 20}} {
			drawn := ansi.Strip(strings.Join(pane.Inspector(s, th, size[0], size[1], rejectedToken(s)), "\n"))
			if words := strings.Join(strings.Fields(drawn), " "); !strings.Contains(words, c.want) || c.name == "an older trace" && strings.Count(words, "temperature") != 1 {
				t.Errorf("%s, %d×%d: no %q in\n%s", c.name, size[0], size[1], c.want, drawn)
			}
		}
	}
}

// Where a form is on, a large inspector says which distribution it gives.
func TestInspectorTellsTheDistributionOfAForm(t *testing.T) {
	th, _ := theme.Named("mono", true)
	for _, form := range []string{"", "a digit"} {
		s := state.New()
		for _, e := range statetest.Chat(24) {
			if round, ok := e.(event.Round); ok {
				round.Constraint = form
				e = round
			}
			s.Apply(e)
		}
		drawn := ansi.Strip(strings.Join(pane.Inspector(s, th, 80, 40, rejectedToken(s)), "\n"))
		if words := strings.Join(strings.Fields(drawn), " "); strings.Contains(words, "the projected distribution, with and without drafts") != (form != "") {
			t.Errorf("form %q:\n%s", form, drawn)
		}
	}
}
