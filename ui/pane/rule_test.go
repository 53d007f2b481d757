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

// judgedBy returns a chat whose last round was judged by a rule, with the numbers that this rule
// records.
func judgedBy(rule string, lossy bool) *state.State {
	events := statetest.Chat(24)
	for i, e := range events {
		switch e := e.(type) {
		case event.ReplyStarted:
			e.Settings.Acceptance = rule
			events[i] = e
		case event.Round:
			e.Rule, e.Lossy = rule, lossy
			if len(e.Draft) > 0 {
				e.Rules = []event.RuleOutcome{{Rule: "token", Accepted: 1}, {Rule: "block", Accepted: 2}, {Rule: "exact"}, {Rule: "typical-lossy", Accepted: 3, Lossy: true}}
			}
			bound := 0.25
			for k := range e.Draft {
				e.Draft[k].Bound = &bound
			}
			events[i] = e
		}
	}
	return stateOf(events)
}

func TestScreenShowsTheRuleOfAcceptance(t *testing.T) {
	th, _ := theme.Named("dark", true)
	for _, c := range []struct {
		rule              string
		lossy             bool
		status, inspector string
	}{
		{"token", false, "", "test u·q = "},
		{"block", false, "block acceptance", "the block may end here: u = "},
		{"exact", false, "exact acceptance", "the target drew another token"},
		{"typical-lossy", true, "lossy: typical acceptance", "bound 0.2500 "},
	} {
		s := judgedBy(c.rule, c.lossy)
		status, lane := pane.Status(s, th, 80, pane.StatusOptions{}), strings.Join(pane.Lane(s, th, 80, 5, pane.LaneOptions{}), "\n")
		for where, text := range map[string]string{"status": status, "lane": lane} {
			if plain := ansi.Strip(text); c.status == "" && strings.Contains(plain, "acceptance") || !strings.Contains(plain, c.status) {
				t.Errorf("%s, %s: %q", c.rule, where, plain)
			}
			if c.lossy != strings.Contains(text, th.Warning.On("lossy: typical acceptance")) {
				t.Errorf("%s, %s: a warning that should be there only for a lossy rule: %q", c.rule, where, text)
			}
		}
		inspector := ansi.Strip(strings.Join(pane.Inspector(s, th, 60, 16, rejectedToken(s)), "\n"))
		for _, want := range []string{c.inspector, "by rule: token 1 block 2 exact 0 lossy 3"} {
			if !strings.Contains(inspector, want) {
				t.Errorf("%s: the inspector does not say %q:\n%s", c.rule, want, inspector)
			}
		}
	}
}

// The sentence of a refusal shows two numbers that differ with digits that differ.
func TestSentenceTellsCloseNumbersApart(t *testing.T) {
	th, _ := theme.Named("dark", true)
	for _, c := range []struct {
		p, bound float64
		want     string
	}{
		{0.12, 0.34, "p = .12 is below the bound .34"},
		{0.1234, 0.1236, "p = .123 is below the bound .124"},
		{0.87654321, 0.87654399, "p = 8.76543e-01 is below the bound 8.76544e-01"},
		{0.00001, 0.00003, "p = 1.0e-05 is below the bound 3.0e-05"},
	} {
		s := judgedBy("typical-lossy", true)
		ref := rejectedToken(s)
		token, _ := s.Token(ref)
		token.P, token.Bound = &c.p, &c.bound
		lane := ansi.Strip(strings.Join(pane.Lane(s, th, 120, 7, pane.LaneOptions{At: s.RoundOf(ref), Cursor: ref}), "\n"))
		if !strings.Contains(lane, c.want) {
			t.Errorf("the lane does not say %q:\n%s", c.want, lane)
		}
	}
}
