package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"specula/engine/config"
	"specula/engine/event"
	"specula/ui/compose"
)

// onServer is an engine whose target is on a server.
func onServer(c config.Config, emit func(event.Event)) *scripted {
	e := newScripted(c, 3)
	ready := e.ready()
	if c.Remote.URL != "" {
		ready.Device, ready.Target = "llama-server at "+c.Remote.URL, event.Model{Name: "far-model", Path: c.Remote.URL, VocabSize: 4096, ContextLength: 2048}
	}
	emit(ready)
	return e
}

// screenToServers is a screen whose other engines come from reopen.
func screenToServers(t *testing.T, reopen func(context.Context, config.Config) error) (*screen, *[]*scripted) {
	var made []*scripted
	s := open(t, func(o *Options) {
		o.Reopen = func(ctx context.Context, c config.Config, emit func(event.Event)) (Engine, error) {
			emit(event.Notice{Level: "info", Text: "the server loads its model"})
			if err := reopen(ctx, c); err != nil {
				return nil, err
			}
			e := onServer(c, emit)
			made = append(made, e)
			return e, nil
		}
	})
	return s, &made
}

func TestRemoteMovesTheTargetAndKeepsTheChat(t *testing.T) {
	var asked []config.Config
	s, made := screenToServers(t, func(_ context.Context, c config.Config) error { asked = append(asked, c); return nil })
	s.m.config.Speculation.Proposer = "eagle"
	s.ask("hello")
	s.settle()
	s.ask("/remote")
	s.mustShow("the target is demo-target on this machine; /remote ADDRESS")
	s.ask("/temp 0.3")
	s.ask("/remote http://far:8080 big")
	s.settle()
	s.mustShow("the target is far-model on llama-server at http://far:8080; /remote off")
	if n := s.m.state.Notices; len(n) == 0 || n[0].Text != "the server loads its model" {
		t.Errorf("while the server is asked, it notes %v", n)
	}
	s.mustNotShow("cannot draft")                 // the proposer is that of the settings now, not of the start
	s.mustShow("speed-up: after the first draft") // the speeds before were those of the target here
	if !s.engine.closed || asked[0].Remote.URL != "http://far:8080" || asked[0].Remote.Model != "big" || asked[0].Sampling.Temperature != 0.3 {
		t.Errorf("closed %v, asked for %+v at temperature %g", s.engine.closed, asked[0].Remote, asked[0].Sampling.Temperature)
	}
	s.ask("and now?")
	s.settle()
	if far := (*made)[0].asked; len(far) != 1 || len(far[0]) != 3 || far[0][0].Content != "hello" {
		t.Errorf("the server's engine was asked %q, want the whole chat", far)
	}
	s.ask("/remote off")
	s.settle()
	s.mustShow("the target is demo-target on this machine")
	if last := asked[len(asked)-1].Remote; last.URL != "" || last.Model != "" || !(*made)[0].closed {
		t.Errorf("back with %+v, closed %v", last, (*made)[0].closed)
	}
	s.ask("/remote off")
	s.mustShow("the target is on this machine")
	if len(asked) != 2 {
		t.Error("opened once more for the same target")
	}
}

// The model that is here may be the server's, so its file is the vocabulary.
func TestRemoteTakesTheVocabularyOfTheTargetHere(t *testing.T) {
	c := config.Default()
	c.Model.Target = "Qwen3-8B-Q8_0.gguf"
	for _, v := range []struct{ set, want string }{{"", "Qwen3-8B-Q8_0.gguf"}, {"Qwen3/", "Qwen3/"}} {
		c.Remote.Vocabulary = v.set
		if got, err := elsewhere(c, "gpu:8080"); err != nil || got.Remote.Vocabulary != v.want || got.Remote.URL != "gpu:8080" {
			t.Errorf("%q: %+v, %v", v.set, got.Remote, err)
		}
	}
}

// The opening to watch drafts with heads, which a server has not.
func TestRemoteLeavesTheOpening(t *testing.T) {
	c := config.Default()
	for _, v := range config.Opening("watch") {
		if err := c.Set(v.Name, v.Text); err != nil {
			t.Fatal(err)
		}
	}
	got, err := elsewhere(c, "far:8080")
	if d := config.Default(); err != nil || got.Speculation.Proposer != d.Speculation.Proposer || got.Sampling.Temperature != d.Sampling.Temperature {
		t.Errorf("%+v, temperature %g, %v", got.Speculation, got.Sampling.Temperature, err)
	}
}

func TestATargetThatCannotBeOpenedChangesNothing(t *testing.T) {
	s, _ := screenToServers(t, func(context.Context, config.Config) error { return errors.New("no answer from http://far:8080") })
	s.ask("/remote http://far:8080")
	s.settle()
	s.mustShow("the target stays: no answer from http://far:8080")
	s.ask("hello")
	s.settle()
	s.mustShow("Speculative")
	if s.engine.closed || len(s.engine.asked) != 1 {
		t.Errorf("closed %v, asked %q", s.engine.closed, s.engine.asked)
	}
}

func TestEscKeepsTheTargetWhileAServerIsAsked(t *testing.T) {
	s, _ := screenToServers(t, func(ctx context.Context, _ config.Config) error { <-ctx.Done(); return context.Cause(ctx) })
	s.begin("/remote http://far:8080")
	s.mustShow("asking http://far:8080: esc keeps the target that is here")
	s.mustShow("● loading")
	s.press("alt+right")
	s.mustShow("the models are still being read")
	s.press("esc")
	s.settle()
	s.mustShow("the target stays")
	if s.m.engine != Engine(s.engine) || s.engine.closed {
		t.Error("the engine before is gone")
	}
}

// A form that is being worked out would go to the engine that is left.
func TestTheTargetStaysWhileAFormIsWorkedOut(t *testing.T) {
	s, made := screenToServers(t, func(context.Context, config.Config) error { return nil })
	for _, r := range "/regex [a-z]+" {
		s.update(key(string(r)))
	}
	_, form := s.m.Update(key("enter"))
	s.ask("/remote far:8080")
	s.mustShow("a form is still being worked out")
	s.do(form)
	s.ask("/remote far:8080")
	s.settle()
	if len(*made) != 1 || (*made)[0].Settings().Constraint.Regex != "[a-z]+" {
		t.Errorf("%d engines were made, or the form is lost", len(*made))
	}
}

// Whoever quits while a server is asked leaves no engine open, whether the server answers or not.
func TestQuittingWhileAServerIsAskedClosesTheEngines(t *testing.T) {
	for _, answers := range []bool{false, true} {
		s, made := screenToServers(t, func(ctx context.Context, _ config.Config) error {
			if <-ctx.Done(); answers {
				return nil
			}
			return context.Cause(ctx)
		})
		s.begin("/remote far:8080")
		if err := s.m.close(func() {}); err != nil || !s.engine.closed {
			t.Errorf("%v; the engine here is closed: %v", err, s.engine.closed)
		}
		if answers && (len(*made) != 1 || !(*made)[0].closed) {
			t.Error("the engine of the server is open")
		}
	}
}

// A prompt that was entered while a server was asked is sent to it.
func TestAPromptWaitsForTheServer(t *testing.T) {
	answer := make(chan struct{})
	s, made := screenToServers(t, func(context.Context, config.Config) error { <-answer; return nil })
	s.begin("/remote http://far:8080")
	s.begin("hello")
	if len(s.engine.asked) != 0 {
		t.Error("sent to the engine that is leaving")
	}
	close(answer)
	s.settle()
	s.settle()
	if len((*made)[0].asked) != 1 {
		t.Errorf("asked %q", (*made)[0].asked)
	}
}

// An address may hold a password. It is refused without being shown, and is not remembered.
func TestAnAddressWithAPasswordIsNeitherShownNorKept(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.jsonl")
	opened := 0
	s := open(t, func(o *Options) {
		o.Reopen = func(context.Context, config.Config, func(event.Event)) (Engine, error) {
			opened++
			return nil, errors.New("opened")
		}
		h, err := compose.OpenHistory(path)
		if err != nil {
			t.Fatal(err)
		}
		o.History = h
	})
	for _, address := range []string{"http://me:hunter2@far:8080", "https://far/?key=hunter2", "me:hunter2@far", "far:8080?key=hunter2"} {
		s.ask("/remote " + address)
		s.settle()
		s.mustShow("the address of a server must not have a user name")
		if text := s.text(); strings.Contains(text, "hunter2") {
			t.Errorf("%s", text)
		}
	}
	kept, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if opened > 0 || strings.Contains(string(kept), "hunter2") {
		t.Errorf("opened %d, remembered %q", opened, kept)
	}
}

// The list under /remote says what stands at each address, in one column.
func TestTheListOfServersIsAligned(t *testing.T) {
	s := open(t, nil)
	for _, r := range "/remote " {
		s.update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
	s.mustShow("off              the target is on this machine")
	s.mustShow("127.0.0.1:30000  SGLang")
}

// The head says on which server the target is, and a round says that its bytes crossed a network.
func TestTheScreenSaysOnWhichServerTheTargetIs(t *testing.T) {
	s := open(t, func(o *Options) {
		load := o.Load
		o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
			return load(ctx, func(e event.Event) {
				if r, ok := e.(event.Ready); ok {
					r.Target.Server = "10.0.0.7:8080"
					e = r
				}
				emit(e)
			})
		}
	})
	s.quiet()
	s.mustRead("demo-draft guesses, demo-target on 10.0.0.7:8080 checks")
	s.ask("hello")
	s.quiet()
	s.mustRead("over the network")
}
