package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// openSmall returns a screen of 80×24, which has no side column.
func openSmall(t *testing.T, change func(*Options)) *screen {
	s := open(t, change)
	s.update(tea.WindowSizeMsg{Width: 80, Height: 24})
	return s
}

// quiet waits until the short message is gone.
func (s *screen) quiet() { s.update(flashOver{s.m.flashID}) }

// mustRead is mustShow that ignores the kind and amount of white space.
func (s *screen) mustRead(text string) {
	s.t.Helper()
	if !strings.Contains(strings.Join(strings.Fields(s.text()), " "), text) {
		s.t.Fatalf("the screen does not say %q:\n%s", text, s.text())
	}
}

// A setting that was changed by key stays visible after the message about it is gone.
func TestASmallWindowShowsTheSettings(t *testing.T) {
	s := openSmall(t, nil)
	s.ask("hello")
	s.press("alt+up alt+right alt+right alt+p alt+r")
	s.quiet()
	s.mustRead("temperature 0.90 · γ 5 fixed · proposer ngram · seed 7")
	s.ask("/rule cost-aware")
	s.ask("/seed 9007199254740991")
	s.ask("/top-k 40")
	s.quiet()
	s.mustRead("temperature 0.90 · γ 4 cost-aware · proposer ngram · seed 9007199254740991")
}
