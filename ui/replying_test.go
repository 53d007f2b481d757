package ui

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/ui/pace"
)

// stepping returns a screen with a reply that waits for a key.
func stepping(t *testing.T) *screen {
	s := open(t, func(o *Options) { o.Config.UI.Pace = "step" })
	s.begin("hello")
	s.until("the draft", func() bool { return s.m.state.Pending != nil })
	return s
}

// until shows events until a condition holds.
func (s *screen) until(what string, ok func() bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	for !ok() {
		if !s.m.pump.Wait(ctx) {
			s.t.Fatalf("waited in vain for %s:\n%s", what, s.text())
		}
		s.show()
	}
}

func TestStoppingKeepsWhatIsWritten(t *testing.T) {
	for _, k := range []string{"esc", "ctrl+c"} {
		t.Run(k, func(t *testing.T) {
			s := stepping(t)
			s.press("space")
			s.until("the verdict", func() bool { return s.m.state.Pending == nil })
			s.press("space space space space") // to the last token of the round
			s.press(k)
			s.settle()
			if s.m.busy() || s.quit {
				t.Fatalf("busy %v, quit %v after %s", s.m.busy(), s.quit, k)
			}
			s.mustShow("Speculative decoding lets wrong3 a")
			s.press("f2 f2") // from step to full to slow
			s.m.pacer.Set(pace.Full, 1)
			s.ask("go on")
			if got := s.engine.asked[1][1].Content; got != "Speculative decoding lets a " {
				t.Errorf("the partial reply went on as %q", got)
			}
		})
	}
}

func TestCtrlCStopsClearsAndThenQuits(t *testing.T) {
	s := open(t, nil)
	s.press("x ctrl+c")
	if s.m.composer.Value() != "" || s.quit {
		t.Errorf("the first ctrl+c must clear the prompt %q, quit %v", s.m.composer.Value(), s.quit)
	}
	s.press("ctrl+c")
	s.mustShow("ctrl+c again quits")
	s.press("y ctrl+c ctrl+c")
	if s.quit {
		t.Error("another key in between must disarm quitting")
	}
	s.press("ctrl+c")
	if !s.quit {
		t.Error("the second ctrl+c on an empty prompt must quit")
	}
}

func TestCtrlDQuitsOnlyWithAnEmptyPrompt(t *testing.T) {
	s := open(t, nil)
	s.press("x ctrl+d")
	if s.quit {
		t.Error("ctrl+d with a prompt must not quit")
	}
	s.press("ctrl+u ctrl+d")
	if !s.quit {
		t.Error("ctrl+d with an empty prompt must quit")
	}
}

func TestSendingWhileAReplyIsWrittenKeepsThePrompt(t *testing.T) {
	s := stepping(t)
	s.press("n e x t enter")
	s.mustShow("esc stops it")
	if s.m.composer.Value() != "next" {
		t.Errorf("the prompt is %q", s.m.composer.Value())
	}
}

// The hint that a reply is being written goes when the reply ends. Another message stays for its time.
func TestTheHintThatAReplyIsWrittenGoesWithTheReply(t *testing.T) {
	const hint = "a reply is being written"
	s := stepping(t)
	s.press("n e x t enter")
	s.mustShow(hint)
	s.m.pacer.Set(pace.Full, 1)
	s.settle()
	s.mustNotShow(hint)

	s = stepping(t)
	s.press("n e x t enter")
	s.mustShow(hint)
	s.press("alt+right")
	s.m.pacer.Set(pace.Full, 1)
	s.settle()
	s.mustShow("temp 0.8 ")
}

func TestAPasteNeverSends(t *testing.T) {
	s := open(t, nil)
	s.update(tea.PasteMsg{Content: "one\ntwo\n/quit\n"})
	s.settle()
	if len(s.engine.asked) != 0 || s.quit || s.m.composer.Value() != "one\ntwo\n/quit\n" {
		t.Errorf("asked %q, quit %v, prompt %q", s.engine.asked, s.quit, s.m.composer.Value())
	}
}

func TestRegenerate(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.press("f5")
	s.settle()
	if got := s.engine.asked; len(got) != 2 || len(got[1]) != 1 || got[1][0] != (engine.Message{Role: "user", Content: "hello"}) {
		t.Errorf("asked %q", got)
	}
	if n := len(s.m.state.Messages); n != 2 {
		t.Errorf("the chat has %d messages, want 2", n)
	}
}

func TestRegenerateInMidReplyStopsItFirst(t *testing.T) {
	s := stepping(t)
	s.m.pacer.Set(pace.Step, 1)
	s.press("f5")
	s.until("the second reply", func() bool { return s.engine.number() == 2 && s.m.state.Pending != nil })
	if n := len(s.m.state.Messages); n != 2 {
		t.Errorf("the chat has %d messages, want 2", n)
	}
}

func (s *scripted) number() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.replies
}

func TestEditTheLastMessage(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.press("f6")
	if s.m.composer.Value() != "hello" || len(s.m.state.Messages) != 2 {
		t.Fatalf("prompt %q, %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
	s.press("esc")
	if s.m.composer.Value() != "" || len(s.m.state.Messages) != 2 {
		t.Fatalf("esc must leave everything as it was: prompt %q, %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
	s.press("f6 !")
	s.ask("")
	if got := s.engine.asked[1]; len(got) != 1 || got[0].Content != "hello!" || len(s.m.state.Messages) != 2 {
		t.Errorf("asked %q, %d messages", got, len(s.m.state.Messages))
	}
}

func TestCopyIsSafeText(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.m.state.Messages[1].Raw = "a\x1b]52;c;AA==\x07b"
	s.said = nil
	s.press("f7")
	if len(s.said) != 1 || s.said[0] != "ab" {
		t.Errorf("copied %q, want the text without its escape sequence", s.said)
	}
	s.m.state.Messages[1].Raw = "if x {\n\treturn می\u200cخواهم\n}"
	s.said = nil
	s.press("f7")
	if len(s.said) != 1 || s.said[0] != s.m.state.Messages[1].Raw {
		t.Errorf("copied %q, want tabs and joiners as they are", s.said)
	}
	s.said = nil
	s.ask("/copy chat")
	if len(s.said) != 1 || !strings.Contains(s.said[0], "## You\n\nhello") || !strings.Contains(s.said[0], "\n\treturn") {
		t.Errorf("copied %q, want the chat as Markdown", s.said)
	}
}

func TestExport(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	path := filepath.Join(t.TempDir(), "chat.md")
	s.ask("/export md " + path)
	s.mustShow("exported to")
	if text, err := os.ReadFile(path); err != nil || !strings.Contains(string(text), "## Model") {
		t.Errorf("exported %q, %v", text, err)
	}
	s.ask("/export md " + path)
	s.mustShow("exporting: open")
}

func TestARefusedPromptComesBack(t *testing.T) {
	s := open(t, nil)
	s.engine.refuses = "much too long"
	s.ask("much too long")
	s.mustShow("the context holds 2,048")
	if s.m.composer.Value() != "much too long" || len(s.m.state.Messages) != 0 {
		t.Errorf("the prompt is %q, the chat has %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
	if list, _, err := s.m.options.Chats.List(); len(list) != 0 || err != nil {
		t.Errorf("the refused prompt was saved: %+v, %v", list, err)
	}
	s.press("ctrl+u")
	s.ask("hello")
	if got := s.engine.asked[1]; len(got) != 1 || got[0] != (engine.Message{Role: "user", Content: "hello"}) {
		t.Errorf("after the refused prompt the engine was asked %q", got)
	}

	// A prompt that the user typed in the meantime stays.
	for _, r := range "much too long" {
		s.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.press("enter n e x t")
	s.settle()
	s.mustShow("the context holds 2,048")
	if s.m.composer.Value() != "next" || len(s.m.state.Messages) != 2 {
		t.Errorf("the prompt is %q, the chat has %d messages", s.m.composer.Value(), len(s.m.state.Messages))
	}
}

// The reason of a failure in mid-reply stands once on the screen, under the reply, and covers no pane.
func TestAFailureInMidReplyStandsOnce(t *testing.T) {
	s := open(t, nil)
	s.engine.failsAt = 3
	s.ask("hello")
	s.mustShow("the reply failed: the chat says why")
	if n := strings.Count(s.text(), "no answer from the server"); n != 1 {
		t.Errorf("the reason stands %d times:\n%s", n, s.text())
	}
}

func TestARefusalKeepsWhatWasToBeReplaced(t *testing.T) {
	tests := []struct {
		name, keys, composer string
	}{
		{"written again", "f5", ""},
		{"edited", "f6 ! enter", "hello!"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := open(t, nil)
			s.ask("hello")
			reply := s.m.state.Messages[1].Raw
			s.engine.refuses = "hello"
			s.press(tt.keys)
			s.settle()
			if got := s.m.state.Messages; len(got) != 2 || got[0].Raw != "hello" || got[1].Raw != reply {
				t.Errorf("the chat has %d messages, want the exchange as it was", len(got))
			}
			if s.m.composer.Value() != tt.composer || s.m.editing != (tt.composer != "") {
				t.Errorf("the prompt is %q, editing %v", s.m.composer.Value(), s.m.editing)
			}
		})
	}
}
