package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/event"
	"specula/ui/keys"
	"specula/ui/race"
	"specula/ui/sanitize"
)

// Racer is an Engine that can answer a conversation in two lanes.
type Racer interface {
	// Race opens both lanes. With after, the second runs after the first; otherwise they take
	// turns.
	Race(ctx context.Context, lanes [2]race.Lane, after bool) (race.Race, error)
}

// RaceStart is a race that is shown instead of a chat. The program ends when its screen is closed.
type RaceStart struct {
	Prompt string
	Lanes  [2]race.Lane
	After  bool
	// Record, if not nil, is called with every event of a lane as the engine yields it. Over, if
	// not nil, is called with the outcome; failure says why the race failed, and is "" if it did
	// not. Both are called on the race's goroutine.
	Record func(lane int, e event.Event)
	Over   func(o event.RaceOutcome, failure string)
}

// racing is the current race, or the last one.
type racing struct {
	stop context.CancelFunc // nil when no race runs
	view *race.View
}

// The events of a race go through the same ring as the engine's, so that they come in order.
type (
	raced struct {
		view  *race.View
		lane  int
		event event.Event
	}
	raceOver struct {
		view    *race.View
		outcome event.RaceOutcome
		failure string
	}
)

func (raced) Kind() string    { return "raced" }
func (raceOver) Kind() string { return "race-over" }

// raceLast races the last prompt. text names the lanes, as in "gamma=2 vs gamma=6".
func (m *Model) raceLast(text string) tea.Cmd {
	lanes, err := race.ParseLanes(text)
	if err != nil {
		return m.say(sanitize.Line(err.Error()))
	}
	messages := m.conversation()
	for len(messages) > 0 && messages[len(messages)-1].Role != "user" {
		messages = messages[:len(messages)-1]
	}
	if len(messages) == 0 {
		return m.say("there is no message yet: ask something, and race it then")
	}
	return m.race(messages, lanes, false)
}

// race begins a race and opens its screen.
func (m *Model) race(messages []engine.Message, lanes [2]race.Lane, after bool) tea.Cmd {
	racer, ok := m.engine.(Racer)
	switch {
	case m.engine == nil:
		return m.say(m.whyNoEngine())
	case !ok:
		return m.say("this engine cannot race")
	case m.busy():
		return m.say("a reply is being written: esc stops it")
	case m.racing.stop != nil:
		return m.say("the race before is still ending")
	}
	ctx, cancel := context.WithCancel(m.ctx)
	view := race.NewView(messages[len(messages)-1].Content, lanes)
	if m.state.Ready != nil {
		view.Load(*m.state.Ready)
	}
	m.racing = racing{stop: cancel, view: view}
	m.dialog = view
	m.guard.Go("the race", func() {
		over := raceOver{view: view}
		defer func() {
			if r := m.options.Race; r != nil && r.Over != nil {
				r.Over(over.outcome, over.failure)
			}
			m.ring.Push(over)
		}()
		r, err := racer.Race(ctx, lanes, after)
		if err != nil {
			over.failure = err.Error()
			return
		}
		for lane, e := range r.Run(ctx, messages) {
			if r := m.options.Race; r != nil && r.Record != nil {
				r.Record(lane, e)
			}
			m.ring.Push(raced{view, lane, e})
			switch e := e.(type) {
			case event.Round:
				_ = m.pacer.Wait(ctx) // if ctx ends, the race ends too
			case event.Failed:
				over.failure = e.Error
			}
		}
		over.outcome = r.Outcome()
		if err := r.Close(); err != nil && over.failure == "" {
			over.failure = err.Error()
		}
	})
	return nil
}

// raceIsOver shows the outcome of a race and releases its context.
func (m *Model) raceIsOver(e raceOver) {
	e.view.Finish(e.outcome, e.failure)
	if m.racing.view == e.view && m.racing.stop != nil {
		m.racing.stop()
		m.racing.stop = nil
	}
}

// leaveRace stops a race whose screen was closed.
func (m *Model) leaveRace() tea.Cmd {
	if m.racing.stop != nil {
		m.racing.stop()
	}
	if m.options.Race != nil {
		return tea.Quit
	}
	return nil
}

// pressedInRace handles the pace keys. done is false for other keys.
func (m *Model) pressedInRace(a keys.Action, key string) (cmd tea.Cmd, done bool) {
	switch a {
	case keys.Pace, keys.PaceFaster, keys.PaceSlower:
		return m.screenAction(a)
	}
	if key == "space" && m.stepping() {
		m.pacer.Next()
		return nil, true
	}
	return nil, false
}
