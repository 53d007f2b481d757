package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	uv "github.com/charmbracelet/ultraviolet"

	"specula/engine/event"
)

// slowly opens a screen whose engine has emitted event.Ready but is returned by Load only when release
// is called. Between the two a real engine measures.
func slowly(t *testing.T, change func(*Options)) (s *screen, release func()) {
	t.Helper()
	told, measured := make(chan struct{}), make(chan struct{})
	s = &screen{t: t}
	o := Options{Environ: []string{"TERM=xterm-256color"}, Load: func(_ context.Context, emit func(event.Event)) (Engine, error) {
		s.engine = newScripted(s.m.config, 12)
		emit(s.engine.ready())
		close(told)
		<-measured
		return s.engine, nil
	}}
	if change != nil {
		change(&o)
	}
	o.Config.UI.Pace = "full"
	o.tick = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	o.complete()
	s.m = newModel(t.Context(), o, &guard{})
	s.m.Init()
	s.m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	<-told
	s.show()
	return s, func() { close(measured); s.settle(); s.settle() } // the second one for the prompt that was sent
}

// TestTheScreenInvitesOnlyWhenTheEngineCanAnswer checks the screen while the engine measures.
func TestTheScreenInvitesOnlyWhenTheEngineCanAnswer(t *testing.T) {
	s, release := slowly(t, nil)
	if view := s.text(); strings.Contains(view, "Or type a message") || strings.Contains(view, " ready ") {
		t.Errorf("the screen invites to write before there is an engine:\n%s", view)
	}
	release()
	s.mustShow("Or type a message")
	s.mustShow("ready")
}

// TestAPromptOfTheCommandLineIsSent starts with a prompt. It is sent when the engine is ready, unless it was
// changed before.
func TestAPromptOfTheCommandLineIsSent(t *testing.T) {
	s, release := slowly(t, func(o *Options) { o.Prompt = "hello" })
	s.mustShow("esc does not send it")
	release()
	if asked := s.engine.asked; len(asked) != 1 || asked[0][0].Content != "hello" {
		t.Errorf("the engine was asked %v", asked)
	}
	s, release = slowly(t, func(o *Options) { o.Prompt = "hello" })
	s.press("y")
	release()
	if asked := s.engine.asked; len(asked) != 0 || s.m.composer.Value() != "helloy" {
		t.Errorf("the engine was asked %v; the composer has %q", asked, s.m.composer.Value())
	}
}

// TestAnExampleIsAskedBeforeTheEngineIsReady presses tab and enter at once. The example is for the model that
// the settings name.
func TestAnExampleIsAskedBeforeTheEngineIsReady(t *testing.T) {
	for target, want := range map[string]string{"": "Tell me a story.", "other.gguf": "Tell me a story about a lighthouse."} {
		s, release := slowly(t, func(o *Options) { o.Config.Model.Target = target })
		s.press("tab enter")
		release()
		if asked := s.engine.asked; len(asked) != 1 || asked[0][0].Content != want {
			t.Errorf("target %q: the engine was asked %v, want %q", target, asked, want)
		}
	}
}

// TestAWaitingPromptIsWithdrawn withdraws a prompt in every way before the engine is ready. It is not
// sent, and the text stays unless the user cleared it.
func TestAWaitingPromptIsWithdrawn(t *testing.T) {
	tests := []struct {
		name, keys string
		left       string // in the composer
		sent       bool
	}{
		{"not at all", "", "", true},
		{"esc", "esc", "hi", false},
		{"esc twice", "esc esc", "hi", false},
		{"esc held down", "alt+esc", "hi", false},
		{"ctrl+c", "ctrl+c", "hi", false},
		{"esc, and sent again", "esc enter", "", true},
		{"ctrl+c twice, and another one", "ctrl+c ctrl+c y o", "yo", false},
		{"changed", "y", "hiy", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, release := slowly(t, nil)
			s.press("h i enter")
			s.mustShow("this is sent as soon as they are")
			s.mustShow("esc does not send it")
			s.press(tt.keys)
			if tt.keys == "esc" {
				s.mustShow("not sent")
			}
			release()
			if sent := len(s.engine.asked) > 0; sent != tt.sent || s.m.composer.Value() != tt.left {
				t.Errorf("sent %v, and %q is left; want %v and %q", sent, s.m.composer.Value(), tt.sent, tt.left)
			}
		})
	}
	t.Run("ctrl+c twice, and the same pasted", func(t *testing.T) {
		s, release := slowly(t, nil)
		s.press("h i enter ctrl+c ctrl+c")
		s.update(tea.PasteMsg{Content: "hi"})
		release()
		if len(s.engine.asked) > 0 {
			t.Error("a prompt that nobody sent was sent")
		}
	})
}

// TestEscLeavesARaceThatHasNotBegun presses esc while the models of a race are read.
func TestEscLeavesARaceThatHasNotBegun(t *testing.T) {
	s, release := slowly(t, func(o *Options) { o.Race = &RaceStart{Prompt: "hi"} })
	defer release()
	s.press("esc")
	if !s.quit {
		t.Error("the race goes on")
	}
}

// TestEscHeldDownStopsAReply sends what a terminal sends for two quick presses of esc. It looks like alt
// and esc.
func TestEscHeldDownStopsAReply(t *testing.T) {
	var d uv.EventDecoder
	_, e := d.Decode([]byte("\x1b\x1b"))
	k, ok := e.(uv.KeyPressEvent)
	if !ok || k.String() != "alt+esc" {
		t.Fatalf("two escapes are read as %v", e)
	}
	s := open(t, nil)
	s.engine.hangAt, s.engine.hang = 2, make(chan struct{})
	s.press("h i enter")
	s.until("the first round", func() bool { return s.m.state.Last != nil })
	s.update(tea.KeyPressMsg(k))
	close(s.engine.hang)
	s.settle()
	s.mustShow("stopped")
}
