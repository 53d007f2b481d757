package ui

import (
	"testing"
)

// alt+t shows the trade-off in place of the rounds where there is no room for both, and the rounds again.
func TestTheTradeoffIsOneKeyAway(t *testing.T) {
	s := openSmall(t, nil)
	s.ask("hello")
	s.mustShow("rounds  █ kept")
	s.press("alt+t")
	s.mustNotShow("rounds  █ kept")
	s.mustShow("expected speed by draft length")
	s.press("alt+t")
	s.mustShow("rounds  █ kept")
	s.ask("/tradeoff")
	s.mustShow("expected speed by draft length")
}

// Terminals take alt with an arrow and F1 for themselves: shift with the arrow and ? do the same.
func TestKeysThatTerminalsTakeHaveAnother(t *testing.T) {
	s := open(t, nil)
	s.press("shift+up shift+right")
	s.quiet()
	s.mustRead("temperature 0.80 · draft length γ 5 fixed")
	s.press("shift+down shift+left")
	s.quiet()
	s.mustRead("temperature 0.70 · draft length γ 4 fixed")
	s.press("a ?")
	if got := s.m.composer.Value(); got != "a?" {
		t.Errorf("after other text ? is typed; the prompt is %q", got)
	}
	s.press("ctrl+u ?")
	s.mustShow("How to read the tokens")
}

// An audience sees neither seed and filters in force, nor device, context and hints; /present again
// shows them.
func TestAnAudienceSeesOnlyWhatItNeeds(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.ask("/present")
	s.quiet()
	s.mustRead("temperature 0.70 · draft length γ 4 cost-aware · proposer auto: draft ──")
	for _, hidden := range []string{"context", "f1 help", "device", "ms a round", "kept by place", "check "} {
		s.mustNotShow(hidden)
	}
	s.mustShow("rounds  █ kept")
	s.ask("/present")
	s.quiet()
	s.mustShow("· seed 7")
	s.mustShow("f1 help")
}
