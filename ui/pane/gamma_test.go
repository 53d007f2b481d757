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
	side := ansi.Strip(strings.Join(pane.Side(s, th, 46, 40), "\n"))
	for _, want := range []string{"not drafting: acceptance 0.21", "always γ 2 would save 4%"} {
		if !strings.Contains(strings.Join(strings.Fields(side), " "), want) {
			t.Errorf("the side lacks %q:\n%s", want, side)
		}
	}
	// The graph marks the best fixed γ once: γ 2 of 8, in its lower half.
	if n := strings.Count(side, th.Glyph.Level); n != 1 {
		t.Errorf("the graph points at %d heights, want one:\n%s", n, side)
	}
	regret = -0.04 // no fixed γ would have been faster
	s.Apply(r)
	if side := words(strings.Join(pane.Side(s, th, 40, 40), "\n")); !strings.Contains(side, "drafted always γ 2 would cost 4% 8 ") {
		t.Errorf("the side does not say that γ 2 would cost time:\n%s", side)
	}
	if strip := ansi.Strip(pane.Strip(s, th, 90)); !strings.Contains(strip, "off: acceptance 0.21") {
		t.Errorf("the strip does not say why: %s", strip)
	}
}
