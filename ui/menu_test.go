package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
)

// A message and the list of commands are both visible, in either order and at any length.
func TestAMessageDoesNotHideTheMenu(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {48, 20}} {
		s := open(t, nil)
		s.update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		s.ask("/accept block")
		s.press("/")
		s.mustShow("accept block")
		for _, name := range []string{"▸ /regen", "write the last reply again", "/new ", " of "} {
			s.mustShow(name)
		}
		s.press("t e")
		s.mustShow("▸ /temp ")
		s.mustShow("  /templast ")
		s.mustNotShow("/regen")
		s.press("m p space")
		s.mustRead("/temp number from 0 to 5")
		s.press("ctrl+c")
		s.ask("/temp 9") // a message of more than one line at 48 columns
		s.press("/ r e")
		s.mustRead("/temp takes a number from 0 to 5, not 9")
		s.mustShow("▸ /regen")
		s.mustShow("  /repeat")
	}
}

// Arrows choose in the list, tab fills in, enter runs what needs no more.
func TestTheMenuIsChosenFromByKeys(t *testing.T) {
	for _, c := range []struct{ keys, prompt, shows string }{
		{"/ tab", "/regen", "▸ /regen"},
		{"/ down down down", "/", "▸ /new"},
		{"/ up", "/", "▸ /unicode"},
		{"/ down up up", "/", "▸ /unicode"},
		{"/ r a tab", "/race ", "/race [A] [vs B]: the last prompt twice"},
		{"/ t e m p down tab", "/templast ", "/templast"},
		{"/ t e enter", "/temp ", "/temp number from 0 to 5"},                     // its value is missing
		{"/ r u l e enter", "", "rule is cost-aware"},                             // as it was typed
		{"/ r u l enter enter", "", "rule is cost-aware"},                         // filled in, and then as it stands
		{"/ r u l e space down enter", "", "rule fixed"},                          // a value
		{"/ r u l e space w enter", "", "rule windowed"},                          // a value that was begun
		{"/ r u l e space tab", "/rule fixed", "enter run"},                       // tab takes the first
		{"/ h e l p enter", "", "How to read the tokens"},                         // at once
		{"/ esc", "/", "tab"},                                                     // closed
		{"/ t e m p space 0 enter up", "/temp 0", "enter run"},                    // from the history
		{"/ h e l p enter q / t e m p space 0 enter up up", "/help", "enter run"}, // the history goes on
	} {
		s := openSmall(t, nil)
		s.press(c.keys)
		if got := s.m.composer.Value(); got != c.prompt {
			t.Errorf("after %s the prompt is %q, want %q", c.keys, got, c.prompt)
		}
		s.mustRead(c.shows)
	}
	s := open(t, nil)
	s.press("/ esc")
	s.mustNotShow("write the last reply again")
	s.press("r")
	s.mustShow("write the last reply again")
}

// In a new chat each tab fills in the next example question, and enter sends it. Once there is a
// reply, tab moves the cursor to it.
func TestTabFillsInAnExample(t *testing.T) {
	s := open(t, nil)
	s.mustShow("What happens to a refused token?")
	s.press("tab tab")
	if got := s.m.composer.Value(); got != "What is speculative decoding?" {
		t.Errorf("the second tab gave %q", got)
	}
	s.press("tab tab enter")
	s.settle()
	if len(s.engine.asked) != 1 || s.engine.asked[0][0].Content != "Tell me a story." {
		t.Fatalf("the engine was asked %v", s.engine.asked)
	}
	s.press("tab")
	s.mustShow("enter inspect")
	s = open(t, nil)
	s.press("h i tab")
	if got := s.m.composer.Value(); got != "hi" {
		t.Errorf("tab replaced what was typed by %q", got)
	}
	if lines := strings.Count(s.text(), "\n"); lines != 35 {
		t.Errorf("the screen has %d lines", lines+1)
	}
}
