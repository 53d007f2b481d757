package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
	"specula/ui/keys"
)

func TestTokenCursor(t *testing.T) {
	s := open(t, nil)
	s.press("shift+tab")
	s.mustShow("there is no token to look at yet")
	s.ask("hello")
	s.press("tab")
	if s.m.focus != keys.Read {
		t.Fatal("tab must give the keyboard to the reply")
	}
	newest := s.m.cursor
	s.press("left left enter")
	if s.m.cursor == newest || !s.m.inspector {
		t.Errorf("the cursor is at %+v, inspector %v", s.m.cursor, s.m.inspector)
	}
	s.mustShow("p/q")
	s.press("right right right")
	if s.m.cursor != newest {
		t.Errorf("the cursor is at %+v, want the end %+v", s.m.cursor, newest)
	}
	s.press("home")
	if tok, _ := s.m.state.Token(s.m.cursor); tok == nil || tok.Text != "Speculative " {
		t.Errorf("home is on %+v", tok)
	}
	s.press("esc esc")
	if s.m.focus != keys.Compose || s.m.inspector {
		t.Error("esc must close the inspector and then go back to the prompt")
	}
}

func TestRejectedTokensAreReachableWhereTheyAreShown(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	reach := func() int {
		n := 0
		s.press("tab home")
		for at := s.m.cursor; ; at = s.m.cursor {
			if tok, _ := s.m.state.Token(at); tok != nil && tok.Fate == event.Rejected {
				n++
			}
			s.press("right")
			if s.m.cursor == at {
				break
			}
		}
		s.press("esc")
		return n
	}
	first := reach()
	s.ask("hello")
	newest := reach()
	s.press("f4")
	all := reach()
	s.press("f4")
	never := reach()
	if first < 5 || newest < 5 || all != first+newest || never != 0 {
		t.Errorf("rejected tokens under the cursor: first reply %d, then newest reply %d, all %d, hidden %d", first, newest, all, never)
	}
}

func TestMouse(t *testing.T) {
	s := open(t, nil)
	if s.m.View().MouseMode != tea.MouseModeNone {
		t.Error("the mouse must be the terminal's until it is asked for")
	}
	s.press("f12")
	if s.m.View().MouseMode != tea.MouseModeCellMotion {
		t.Error("f12 must capture the mouse")
	}
	s.ask("hello")
	s.m.View()
	row := 0
	for i, l := range strings.Split(s.text(), "\n") {
		if strings.Contains(l, "Speculative") {
			row = i
			break
		}
	}
	click := tea.MouseClickMsg{X: 5, Y: row, Button: tea.MouseLeft}
	s.update(click)
	if tok, _ := s.m.state.Token(s.m.cursor); tok == nil || tok.Text != "Speculative " {
		t.Fatalf("a click selected %+v", tok)
	}
	s.update(click)
	if !s.m.inspector {
		t.Error("a second click must open the inspector")
	}
	s.update(tea.MouseClickMsg{X: 5, Y: s.m.rects.Composer.Y, Button: tea.MouseLeft})
	if s.m.focus != keys.Compose {
		t.Error("a click into the prompt must give it the keyboard")
	}
}
