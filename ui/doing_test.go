package ui

import (
	"context"
	"iter"
	"strings"
	"sync"
	"testing"

	"specula/engine"
	"specula/engine/event"
	"specula/ui/race"
)

// Once tokens are drafted, the status no longer says that the prompt is being read. This holds from
// the first round on.
func TestSteppingNamesEachPhase(t *testing.T) {
	s := stepping(t)
	s.mustNotShow("reading the prompt")
	s.mustShow("● checking")
	s.press("space")
	s.until("the verdict", func() bool { return s.m.state.Pending == nil })
	s.mustNotShow("reading the prompt")
	s.mustNotShow("● checking")
	s.mustShow("● drafting")
}

// The status of a reply without speculation says writing, not drafting.
func TestAPlainReplyIsNotDrafted(t *testing.T) {
	s := open(t, nil)
	s.mustShow("demo-draft guesses, demo-target checks")
	s.press("alt+s")
	s.engine.hangAt, s.engine.hang = 2, make(chan struct{})
	release := sync.OnceFunc(func() { close(s.engine.hang) })
	t.Cleanup(release) // even if the test fails
	s.begin("hello")
	s.until("the second round", func() bool { return len(s.m.state.History) == 2 })
	s.quiet()
	s.mustShow("● writing")
	s.mustNotShow("● drafting")
	s.mustShow("demo-target writes alone")
	release()
	s.settle()
	s.mustShow("○ ready")
}

// The lane of a new reply does not show the last round of the one before.
func TestANewReplyBeginsWithAnEmptyLane(t *testing.T) {
	s := open(t, nil)
	s.ask("hello")
	s.mustShow("─ round 12 ")
	s.tell(event.ReplyStarted{Reply: 2, Prompt: "again", Settings: s.m.state.Settings}, event.Prefill{Model: "target", Done: 3, Total: 20})
	s.mustNotShow("─ round 12 ")
	s.mustShow("reading the prompt · target 3 of 20 tokens")
	s.mustShow("the first round begins when the prompt has been read")
	s.tell(event.Prefill{Model: "target", Done: 20, Total: 20})
	s.mustNotShow("reading the prompt")
	s.mustShow("the first round is under way")
}

// tell gives the screen events as the engine would.
func (s *screen) tell(events ...event.Event) {
	for _, e := range events {
		s.m.ring.Push(e)
	}
	s.show()
}

// slowRacer is a racer whose race begins and ends when a test lets it.
type slowRacer struct {
	*racer
	begin, end chan struct{}
}

func (r slowRacer) Race(ctx context.Context, lanes [2]race.Lane, after bool) (race.Race, error) {
	<-r.begin
	inner, err := r.racer.Race(ctx, lanes, after)
	return slowRace{inner, r.end}, err
}

type slowRace struct {
	race.Race
	end chan struct{}
}

func (r slowRace) Run(ctx context.Context, messages []engine.Message) iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {
		for lane, e := range r.Race.Run(ctx, messages) {
			if !yield(lane, e) {
				return
			}
		}
		<-r.end
	}
}

// The status says that a race runs, from its start to its end, even if its screen is closed.
func TestARaceThatRunsIsNotReady(t *testing.T) {
	r := slowRacer{&racer{outcome: event.RaceOutcome{Compared: true, Same: true, Why: "because"}}, make(chan struct{}), make(chan struct{})}
	s := open(t, func(o *Options) {
		load := o.Load
		o.Load = func(ctx context.Context, emit func(event.Event)) (Engine, error) {
			e, err := load(ctx, emit)
			r.scripted = e.(*scripted)
			return r, err
		}
	})
	begin, end := sync.OnceFunc(func() { close(r.begin) }), sync.OnceFunc(func() { close(r.end) })
	t.Cleanup(func() { begin(); end() }) // even if the test fails
	s.ask("hello")
	s.mustShow("○ ready")
	s.press("alt+v")
	s.mustShow("● racing")
	begin()
	s.until("the second lane", func() bool { return strings.Contains(s.text(), "in 7 rounds") })
	s.mustShow("● racing")
	s.press("esc")
	s.mustShow("● racing")
	end()
	s.settle()
	s.mustShow("○ ready")
}
