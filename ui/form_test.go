package ui

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"specula/engine/event"
)

// slowForm is an engine that does not finish a form before done is closed.
type slowForm struct {
	*scripted
	done chan struct{}
}

func (d *slowForm) Change(name, value string) error {
	if strings.HasPrefix(name, "constraint.") {
		select {
		case <-d.done:
		case <-time.After(patience):
			return errors.New("the screen waited for the form")
		}
	}
	return d.scripted.Change(name, value)
}

func TestTheScreenDoesNotWaitForAForm(t *testing.T) {
	done := make(chan struct{})
	s := open(t, func(o *Options) {
		load := o.Load
		o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
			e, err := load(ctx, emit)
			return &slowForm{e.(*scripted), done}, err
		}
	})
	for _, r := range "/regex [a-z]+" {
		s.update(key(string(r)))
	}
	_, cmd := s.m.Update(key("enter"))
	s.mustShow("working out the form …")
	s.mustShow("● working")

	// In the meantime other settings change at once, and a prompt waits.
	s.press("alt+right")
	s.mustShow("temp 0.8")
	s.ask("/schema any")
	s.mustShow("the form asked for before is still being worked out")
	s.ask("/demo")
	s.mustShow("the form is still being worked out")
	s.mustNotShow("a reply is being written")
	s.ask("hello")
	s.mustShow("the form is still being worked out: this is sent as soon as it is")
	if len(s.engine.asked) != 0 {
		t.Fatalf("sent before the form: %q", s.engine.asked)
	}

	close(done)
	s.do(cmd)
	s.settle()
	s.mustShow("Speculative")
	if len(s.engine.asked) != 1 || s.engine.Settings().Constraint.Regex != "[a-z]+" {
		t.Errorf("asked %q, with the form %q", s.engine.asked, s.engine.Settings().Constraint.Regex)
	}
}

func TestAFormThatIsRefusedKeepsThePromptThatWaited(t *testing.T) {
	done := make(chan struct{})
	s := open(t, func(o *Options) {
		load := o.Load
		o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
			e, err := load(ctx, emit)
			return &slowForm{e.(*scripted), done}, err
		}
	})
	for _, r := range "/regex a(" {
		s.update(key(string(r)))
	}
	_, cmd := s.m.Update(key("enter"))
	s.ask("hello")
	close(done)
	s.do(cmd)
	s.settle()
	s.mustShow("missing closing )")
	if len(s.engine.asked) != 0 || s.m.composer.Value() != "hello" {
		t.Errorf("asked %q; the prompt is %q", s.engine.asked, s.m.composer.Value())
	}
}
