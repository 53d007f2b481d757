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

// The screen says why speculation does not pay, and what a fixed γ would have saved.
func TestGammaExplainsItself(t *testing.T) {
	best, regret := 2, 0.04
	events := statetest.Chat(24)
	r := events[len(events)-1].(event.Round)
	r.GammaOff, r.BestFixedGamma, r.Regret = "acceptance 0.21", &best, &regret
	events[len(events)-1] = r
	s := state.New()
	for _, e := range events {
		s.Apply(e)
	}
	th, _ := theme.Named("dark", true)
	side := ansi.Strip(strings.Join(pane.Side(s, th, 46, 60, pane.SideOptions{}), "\n"))
	for _, want := range []string{"not drafting: acceptance 0.21", "this reply alone: γ 2, 4% faster than it was"} {
		if !strings.Contains(strings.Join(strings.Fields(side), " "), want) {
			t.Errorf("the side lacks %q:\n%s", want, side)
		}
	}
	regret = -0.04
	s.Apply(r)
	if side := words(strings.Join(pane.Side(s, th, 46, 60, pane.SideOptions{}), "\n")); !strings.Contains(side, "this reply alone: no fixed γ was faster") {
		t.Errorf("the side does not say that no fixed γ was better:\n%s", side)
	}
	// A fixed γ in use is not compared with itself.
	s.Settings.GammaRule, s.Settings.Gamma = "fixed", 2
	r.GammaRule, r.Gamma, r.Probe, regret = "fixed", 2, false, 0.04
	s.Apply(r)
	if side := words(strings.Join(pane.Side(s, th, 46, 60, pane.SideOptions{}), "\n")); !strings.Contains(side, "this reply alone: γ 2, in use, was best") {
		t.Errorf("of the γ in use, the side says:\n%s", side)
	}
	r.Gamma, r.Draft = 0, nil
	s.Apply(r)
	if head := words(pane.Head(s, th, 90, 1)[0]); !strings.HasPrefix(head, "no draft now: acceptance 0.21") {
		t.Errorf("the head does not say why: %s", head)
	}
}

// A reply without a draft tells nothing about drafts.
func TestNothingIsSaidOfLengthsThatWereNotTimed(t *testing.T) {
	best, regret := 0, 0.0
	s := state.New()
	s.Apply(event.ReplyStarted{Reply: 1, Settings: event.Settings{GammaRule: "cost-aware", GammaMax: 8}})
	s.Apply(event.Round{GammaRule: "cost-aware", BestFixedGamma: &best, Regret: &regret, Commit: &event.Token{Text: "a", Verdict: event.Plain},
		Lengths: []event.Length{{Tokens: 1, Rounds: 1, Measured: true}, {Tokens: 1.8, Rounds: 1.2}}})
	th, _ := theme.Named("mono", true)
	side := words(strings.Join(pane.Side(s, th, 46, 60, pane.SideOptions{}), "\n"))
	if !strings.Contains(side, "no draft was timed yet") || strings.Contains(side, "this reply alone") {
		t.Errorf("the side says:\n%s", side)
	}
}
