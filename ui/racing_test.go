package ui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/race"
)

// racer is a scripted engine that can race. Each lane is a scripted reply; the lanes take turns.
type racer struct {
	*scripted
	outcome event.RaceOutcome
	refuse  error
	opened  [][2]race.Lane
	closed  int
}

type scriptedRace struct{ r *racer }

func (r *racer) Race(_ context.Context, lanes [2]race.Lane, _ bool) (race.Race, error) {
	r.opened = append(r.opened, lanes)
	return scriptedRace{r}, r.refuse
}

func (r scriptedRace) Run(ctx context.Context, messages []engine.Message) iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {
		for lane := range 2 {
			for e := range newScripted(r.r.Settings(), 6+lane).Generate(ctx, engine.Request{Messages: messages}) {
				if !yield(lane, e) {
					return
				}
			}
		}
	}
}

func (r scriptedRace) Outcome() event.RaceOutcome { return r.r.outcome }

func (r scriptedRace) Close() error { r.r.closed++; return nil }

func openRacer(t *testing.T, change func(*Options)) (*screen, *racer) {
	r := &racer{outcome: event.RaceOutcome{Compared: true, Same: true, Why: "because"}}
	s := open(t, func(o *Options) {
		load := o.Load
		o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
			e, err := load(ctx, emit)
			r.scripted = e.(*scripted)
			return r, err
		}
		if change != nil {
			change(o)
		}
	})
	return s, r
}

func TestRaceInTheChat(t *testing.T) {
	s, r := openRacer(t, nil)
	s.press("alt+v")
	s.settle()
	s.mustShow("Race Tell me a story.") // a new chat races the first example
	s.press("esc")
	s.mustShow("faster with speculation · the same text ✓")
	s.ask("hello")
	s.press("alt+v")
	s.settle()
	for _, text := range []string{"Race hello", "without speculation", "with speculation", "tok/s", "tokens in 6 rounds", "tokens in 7 rounds", "the same text ✓", "because", "faster with speculation", "done first", "esc closes"} {
		s.mustShow(text)
	}
	if o := fmt.Sprint(r.opened[1]); r.closed != 2 || !strings.Contains(o, "{speculation.enabled off} {sampling.temperature 0}") || !strings.Contains(o, "{speculation.enabled on} {sampling.temperature 0}") {
		t.Errorf("closed %d times, opened %v", r.closed, r.opened)
	}
	s.press("esc")
	s.mustNotShow("Race hello")
	s.mustShow("hello")
	r.outcome = event.RaceOutcome{Compared: true, Position: 7, Why: "because"}
	s.ask("/race gamma=2 vs proposer=ngram,gamma=6")
	s.mustShow("from token 8 on, and must not: because")
	s.mustShow("proposer ngram, gamma 6")
	s.press("q")
	s.ask("/race gama=2")
	s.mustShow("did you mean gamma?")
	r.refuse = errors.New("no room \x1b[2Jfor two")
	s.ask("/race")
	s.mustShow("no room for two")
	s.press("esc")
	s.ask("and again")
	if n := len(r.asked); n != 2 {
		t.Errorf("%d replies were written, want the 2 of the chat", n)
	}
}

// At the pace step a race waits after each round, until space is pressed.
func TestSpaceStepsARace(t *testing.T) {
	s, _ := openRacer(t, func(o *Options) { o.Config.UI.Pace = "step" })
	s.press("alt+v")
	s.mustShow("space next")
	s.until("the end of the race", func() bool {
		s.press("space")
		return s.m.racing.stop == nil
	})
	s.mustShow("tokens in 7 rounds")
	s.mustShow("r again")
}

// A race can be run again, and kept: a recording of each lane, which replay reads.
func TestARaceIsKept(t *testing.T) {
	s, r := openRacer(t, nil)
	s.ask("hello")
	s.press("alt+v")
	s.settle()
	s.press("r")
	s.settle()
	if len(r.opened) != 2 || fmt.Sprint(r.opened[0]) != fmt.Sprint(r.opened[1]) {
		t.Errorf("the races were %v", r.opened)
	}
	s.press("e")
	s.mustShow("saved, for specula replay: race-20261121-120000.a.jsonl and race-20261121-120000.b.jsonl")
	for lane, name := range []string{"race-20261121-120000.a.jsonl", "race-20261121-120000.b.jsonl"} {
		f, err := os.Open(filepath.Join(s.m.options.Folder, name))
		if err != nil {
			t.Fatal(err)
		}
		rounds, ended := 0, false
		for r, err := range trace.Read(f) {
			if err != nil {
				t.Fatal(err)
			}
			switch r.Event.(type) {
			case event.Round:
				rounds++
			case event.ReplyEnded:
				ended = true
			}
		}
		if rounds != 6+lane || !ended {
			t.Errorf("%s has %d rounds; ended %v", name, rounds, ended)
		}
	}
	s.press("e")
	s.mustShow("saving the race: ") // it never replaces a file
}

func TestRaceWithoutAChatQuitsWhenItIsClosed(t *testing.T) {
	var rounds [2]int
	var outcomes []event.RaceOutcome
	s, r := openRacer(t, func(o *Options) {
		o.Race = &RaceStart{
			Prompt: "Which?", Lanes: [2]race.Lane{{Name: "left"}, {Name: "right"}},
			Record: func(lane int, e event.Event) {
				if _, ok := e.(event.Round); ok {
					rounds[lane]++
				}
			},
			Over: func(o event.RaceOutcome, failure string) { outcomes = append(outcomes, o) },
		}
	})
	s.settle()
	if rounds != [2]int{6, 7} || len(outcomes) != 1 || outcomes[0] != r.outcome {
		t.Errorf("whoever prints the result was told of %d rounds and of %+v", rounds, outcomes)
	}
	s.mustShow("Race Which?")
	s.mustShow("left")
	s.press("esc")
	if !s.quit {
		t.Error("the program goes on when the race is closed")
	}
}

func TestAnEngineThatCannotRaceSaysSo(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.press("alt+v")
	s.mustShow("this engine cannot race")
}

func TestRaceFitsEveryWindow(t *testing.T) {
	s, _ := openRacer(t, nil)
	s.ask("hello")
	s.press("alt+v")
	s.settle()
	for _, size := range [][2]int{{48, 10}, {80, 24}, {99, 30}, {100, 30}, {120, 36}, {200, 50}} {
		s.m.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		lines := strings.Split(s.text(), "\n")
		if len(lines) != size[1] {
			t.Errorf("%v: %d lines", size, len(lines))
		}
		s.mustShow("with speculation")
		s.mustShow("the same text")
	}
}
