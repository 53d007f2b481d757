package ui

import (
	"context"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
)

// TestAnEngineThatHangsLosesNoText quits during a reply while the engine does not answer. All that the
// engine has yielded is saved, even if no frame has shown it.
func TestAnEngineThatHangsLosesNoText(t *testing.T) {
	s := open(t, func(o *Options) { o.grace = 10 * time.Millisecond })
	s.engine.hangAt, s.engine.hang = 2, make(chan struct{})
	t.Cleanup(func() { close(s.engine.hang) })
	s.press("h i enter")
	s.until("the first round", func() bool { return s.m.state.Last != nil })
	if err := s.m.close(func() {}); err != nil {
		t.Fatal(err)
	}
	c, err := s.m.options.Chats.Open(s.m.chat.ID)
	if err != nil || len(c.Turns) != 2 {
		t.Fatalf("saved %+v, %v", c.Turns, err)
	}
	if got := c.Turns[1]; !strings.HasPrefix(got.Text, "Speculative decoding lets a ") || got.Reason != "cancelled" {
		t.Errorf("of the reply %q was saved, ended by %q", got.Text, got.Reason)
	}
	if s.engine.closed {
		t.Error("an engine in the middle of a reply was closed")
	}
}

// TestQuittingWhileTheModelsAreReadSendsNothing quits at the moment when the models are ready, with a
// prompt that waits for them.
func TestQuittingWhileTheModelsAreReadSendsNothing(t *testing.T) {
	release, engine := make(chan struct{}), (*scripted)(nil)
	s := &screen{t: t}
	o := Options{Load: func(_ context.Context, emit func(event.Event)) (Engine, error) {
		<-release
		engine = newScripted(s.m.config, 1)
		emit(engine.ready())
		return engine, nil
	}}
	o.tick = func(time.Duration, func(time.Time) tea.Msg) tea.Cmd { return nil }
	o.complete()
	s.m = newModel(t.Context(), o, &guard{})
	s.m.Init()
	s.m.Update(tea.WindowSizeMsg{Width: 120, Height: 36})
	s.press("h i enter")
	close(release)
	s.m.guard.running.Wait() // the event stays in the ring: no frame takes it
	if err := s.m.close(func() {}); err != nil {
		t.Fatal(err)
	}
	s.m.guard.running.Wait()
	if len(engine.asked) != 0 || !engine.closed {
		t.Errorf("asked %q, closed %v; want no reply, and the engine closed", engine.asked, engine.closed)
	}
}
