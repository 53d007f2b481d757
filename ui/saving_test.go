package ui

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"specula/engine"
	"specula/engine/event"
	"specula/ui/chats"
)

// longChat returns a chat of n numbered messages. The first long messages begin with text.
func longChat(s *screen, n, long int, text string) chats.Chat {
	c := s.m.chat
	for i := range n {
		if i >= long {
			text = ""
		}
		c.Turns = append(c.Turns, chats.Turn{Role: []string{"user", "assistant"}[i%2], Text: fmt.Sprint(text, i)})
	}
	return c
}

func TestALongChatKeepsItsBeginning(t *testing.T) {
	s := open(t, nil)
	s.update(opened{chat: longChat(s, 2400, 0, "")})
	s.ask("hello")
	if got := s.engine.asked[0]; len(got) != 2401 || got[0] != (engine.Message{Role: "user", Content: "0"}) || got[2400].Content != "hello" {
		t.Errorf("the engine was told %d turns, the first is %q", len(got), got[0])
	}
	c, err := s.m.options.Chats.Open(s.m.chat.ID)
	if err != nil || len(c.Turns) != 2402 || c.Turns[0].Text != "0" {
		t.Fatalf("%d turns were saved, %v", len(c.Turns), err)
	}
}

func TestAChatThatIsTooLongSaysSo(t *testing.T) {
	s := open(t, func(o *Options) { o.Chats = nil })
	s.update(opened{chat: longChat(s, 2040, 41, strings.Repeat("x", 1<<20))})
	s.mustShow("the chat is too long: its first")
	s.m.flash = ""
	s.update(opened{chat: longChat(s, 2031, 33, strings.Repeat("x", 1<<20))})
	s.mustNotShow("the chat is too long")
	s.ask("hello")
	s.mustShow("the chat is too long: its first 2 messages are neither saved nor sent any more")
}

// A reopened chat is drawn as before, and nothing of the previous chat remains on the screen.
func TestAReopenedChatIsDrawnAsItWas(t *testing.T) {
	for _, size := range []tea.WindowSizeMsg{{Width: 80, Height: 24}, {Width: 120, Height: 36}, {Width: 200, Height: 50}} {
		t.Run(fmt.Sprint(size.Width), func(t *testing.T) {
			s := open(t, nil)
			s.update(size)
			s.ask("first")
			s.press("f4") // rejected tokens: all, struck out
			s.ask("second")
			s.clearFlash()
			read := s.m.View().Content
			s.press("tab left left enter")
			inspected := s.m.View().Content

			s.press("esc esc f8")
			s.clearFlash()
			s.mustNotShow("Speculative decoding lets")
			if graphs := s.text(); strings.Contains(graphs, "██") {
				t.Errorf("a new chat shows the graphs of the one before:\n%s", graphs)
			}
			s.engine.rounds = 3
			s.press("alt+up")
			s.ask("another chat")
			s.press("alt+down f9 down enter")
			s.clearFlash()
			settings := s.m.state.Settings
			s.m.state.Settings = s.m.state.Messages[3].Settings // the current settings are this session's
			s.m.stale = true
			if got := s.m.View().Content; got != read {
				t.Errorf("opened again it is drawn as\n%s\nit was\n%s", ansi.Strip(got), ansi.Strip(read))
			}
			s.press("tab left left enter")
			if got := s.m.View().Content; got != inspected {
				t.Errorf("its inspector is\n%s\nit was\n%s", ansi.Strip(got), ansi.Strip(inspected))
			}
			if settings.Gamma != 4 || s.m.lastSeed != 7 {
				t.Errorf("γ %d and the seed %d, want this session's γ and the reply's seed", settings.Gamma, s.m.lastSeed)
			}
		})
	}
}

// clearFlash removes the message of say.
func (s *screen) clearFlash() { s.m.flash, s.m.stale = "", true }

// Two windows with one chat: the later save goes to a new file, and says so.
func TestAnotherWindowsTurnsAreNotErased(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chats")
	window := func() *screen { return open(t, func(o *Options) { o.Chats = chats.NewStore(dir) }) }
	a := window()
	a.ask("one")
	b := window()
	b.press("f9 enter")
	b.ask("from the second window")
	a.ask("from the first window")
	a.mustShow(`another window has changed this chat: yours is saved as "one (2)"`)
	a.ask("more")
	list, _, err := a.m.options.Chats.List()
	if err != nil || len(list) != 2 {
		t.Fatalf("saved chats: %+v, %v", list, err)
	}
	for _, head := range list {
		c, err := chats.NewStore(dir).Open(head.ID)
		said := ""
		for _, turn := range c.Turns {
			if turn.Role == "user" {
				said += turn.Text + "; "
			}
		}
		want := map[string]string{"one": "one; from the second window; ", "one (2)": "one; from the first window; more; "}[c.Title]
		if err != nil || said != want {
			t.Errorf("%q says %q (%v), want %q", c.Title, said, err, want)
		}
	}
}

// Reading a chat changes nothing, so turns of another window are no conflict.
func TestReadingAChatDoesNotSaveIt(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "chats")
	var stderr strings.Builder
	window := func() *screen {
		return open(t, func(o *Options) { o.Chats, o.Stderr = chats.NewStore(dir), &stderr })
	}
	a := window()
	a.ask("one")
	b := window()
	b.press("f9 enter")
	a.ask("two")
	b.press("f9 enter")
	b.mustShow("two")
	b.press("f8")
	if err := errors.Join(b.m.close(func() {}), a.m.close(func() {})); err != nil || stderr.Len() > 0 {
		t.Errorf("closing: %v, %q", err, stderr.String())
	}
	if list, _, err := a.m.options.Chats.List(); len(list) != 1 || err != nil {
		t.Errorf("saved chats: %+v, %v", list, err)
	}
	// A conflict that is found at the end is reported after the screen has closed.
	c := window()
	c.press("f9 enter")
	a = window()
	a.press("f9 enter")
	a.ask("three")
	c.m.state.Apply(event.ReplyStarted{Reply: 9, Prompt: "half"})
	c.m.saver.changes++
	if err := c.m.close(func() {}); err != nil || !strings.Contains(stderr.String(), `yours is saved as "one (2)"`) {
		t.Errorf("closing: %v, %q", err, stderr.String())
	}
}

// With the same seed and settings, a reply that is written again has the same text, even in a reopened
// chat. With other settings it differs.
func TestAReplyWhoseSeedIsKeptIsTheSameAgain(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	wait := func(keys string) { s.press(keys); s.settle() }
	wait("f5")
	if len(s.engine.drafts) != 0 {
		t.Fatalf("a reply with a new seed was drafted as the one before: %q", s.engine.drafts)
	}
	wait("alt+r f5")
	s.mustShow("the same reply again")
	wait("f8 f9 enter f5")
	if got := s.engine.drafts; len(got) != 2 || got[0] != "4x12" || got[1] != "4x12" {
		t.Errorf("asked to repeat %q", got)
	}
	wait("alt+right f5")
	if got := s.engine.drafts; len(got) != 2 {
		t.Errorf("at another temperature the reply was drafted as before: %q", got)
	}
}
