package ui

import (
	"strings"
	"testing"

	"specula/engine/event"
	"specula/ui/state"
)

// lane returns the lane's rows that begin with the names.
func (s *screen) lane(names ...string) string {
	var rows []string
	for _, line := range strings.Split(s.text(), "\n") {
		for _, name := range names {
			if strings.HasPrefix(strings.TrimSpace(line), name+" ") {
				line, _, _ = strings.Cut(line, "│")
				rows = append(rows, strings.Join(strings.Fields(line), " "))
			}
		}
	}
	return strings.Join(rows, "\n")
}

// Each key shows one more verdict, then the target's token. The engine goes on with the key after it.
func TestSteppingGoesTokenByToken(t *testing.T) {
	s := stepping(t)
	s.mustShow("space next")
	if got := s.lane("verdict"); strings.ContainsAny(got, "✓✗") {
		t.Errorf("judged already: %s", got)
	}
	s.press("space")
	s.until("the verdict", func() bool { return s.m.state.Pending == nil })
	for _, c := range []struct{ verdicts, text string }{
		{"verdict ✓ … … …", "Speculative decoding lets wrong3"}, // the whole draft stands there, pending
		{"verdict ✓ ✓ … …", "Speculative decoding lets wrong3"},
		{"verdict ✓ ✓ ✓ …", "Speculative decoding lets wrong3"},
		{"verdict ✓ ✓ ✓ ✗", "Speculative decoding lets wrong3"},
		{"verdict ✓ ✓ ✓ ✗→a␣", "Speculative decoding lets wrong3 a"},
	} {
		s.quiet()
		if got := s.lane("verdict"); !strings.HasPrefix(got, c.verdicts) {
			t.Errorf("the lane says %q, want %q", got, c.verdicts)
		}
		s.mustShow(c.text)
		s.press("space")
	}
	s.until("the next draft", func() bool { return s.m.state.Pending != nil })
	if n := len(s.m.state.History); n != 1 {
		t.Errorf("%d rounds, want 1", n)
	}
}

// Back through a finished reply and forwards again, the screen shows the same frames, and asks the
// engine for nothing.
func TestSteppingBackAndForwards(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	var frames []string
	for {
		frames = append(frames, s.text())
		before := s.m.past
		s.press("backspace")
		if s.m.past == before {
			break
		}
	}
	if len(frames) < 12*3 {
		t.Fatalf("%d steps back in a reply of 12 rounds", len(frames))
	}
	s.mustShow("space forward  backspace back  esc now")
	s.mustShow("─ round 1 ")
	for i := len(frames) - 2; i >= 0; i-- {
		s.press("space")
		if got := s.text(); got != frames[i] {
			t.Fatalf("%d steps from the end: first\n%s\nnow\n%s", i, frames[i], got)
		}
	}
	if s.m.past != (state.Moment{}) || len(s.engine.asked) != 1 || s.m.composer.Value() != "" {
		t.Errorf("past %+v, asked %d times, prompt %q", s.m.past, len(s.engine.asked), s.m.composer.Value())
	}
	s.press("space") // in the present it is text again
	if s.m.composer.Value() != " " {
		t.Errorf("the prompt is %q", s.m.composer.Value())
	}
}

// A step back pauses a reply that is being written, and the next prompt returns to the present.
func TestAStepBackPauses(t *testing.T) {
	s := stepping(t)
	s.press("space")
	s.until("the verdict", func() bool { return s.m.state.Pending == nil })
	s.press("f2") // full speed
	s.settle()
	s.press("backspace backspace")
	if s.m.past == (state.Moment{}) {
		t.Fatal("nothing is looked back at")
	}
	s.press("esc")
	if s.m.past != (state.Moment{}) {
		t.Error("esc did not return to the present")
	}
	s.press("backspace")
	s.ask("again")
	if s.m.past != (state.Moment{}) {
		t.Error("the new reply is not shown")
	}
}

// In the reply, a step back starts at the cursor and takes it along, so that the inspector follows.
func TestSteppingBackFromTheCursor(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.press("tab home")
	s.mustShow("─ round 1 ")
	s.press("right right backspace")
	if p, ok := s.m.state.Past(s.m.past); !ok || s.m.cursor != p.Last {
		t.Errorf("the cursor is at %+v, the moment is %+v", s.m.cursor, s.m.past)
	}
	s.press("backspace")
	if tok, _ := s.m.state.Token(s.m.cursor); tok.Fate != event.Accepted || tok.Position != 0 {
		t.Errorf("the cursor is on %+v", tok)
	}
}
