package ui

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/keys"
	"specula/ui/race"
	"specula/ui/sanitize"
)

// Racer is an Engine that can answer a conversation in two lanes.
type Racer interface {
	// Race opens both lanes. With after, the second runs when the first has ended; otherwise they take
	// turns.
	Race(ctx context.Context, lanes [2]race.Lane, after bool) (race.Race, error)
}

// RaceStart is a race that is shown instead of a chat. The program ends when its screen is closed.
type RaceStart struct {
	Prompt string
	Lanes  [2]race.Lane
	After  bool
	// Recorded says that the lanes are two recordings, which are compared.
	Recorded bool
	// Record, if not nil, is called with every event of a lane as the engine yields it. Over, if
	// not nil, is called with the outcome; failure says why the race failed, and is "" if it did
	// not. Both are called on the race's goroutine.
	Record func(lane int, e event.Event)
	Over   func(o event.RaceOutcome, failure string)
}

// racing is the current race; when none runs, the last one.
type racing struct {
	stop context.CancelFunc // nil when no race runs
	view *race.View

	messages []engine.Message
	lanes    [2]race.Lane
	after    bool
	then     func() tea.Cmd    // to call after the race; may be nil
	heard    [2][]trace.Record // the events of each lane; empty until the race is over
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
		heard   [2][]trace.Record
	}
)

func (raced) Kind() string    { return "raced" }
func (raceOver) Kind() string { return "race-over" }

// Parts tells the pacer how long to show the event: a round of a lane stays on the screen as long as a
// plain token does in a chat, however many tokens it drafted. Other events are not held.
func (r raced) Parts() int {
	if _, is := r.event.(event.Round); is {
		return 1
	}
	return 0
}

// raceLast races the last prompt. text names the lanes, as in "gamma=2 vs gamma=6"; "" means without and
// with speculation.
func (m *Model) raceLast(text string) tea.Cmd {
	lanes, err := race.ParseLanes(text)
	if err != nil {
		return m.say(sanitize.Line(err.Error()))
	}
	messages := m.toRace()
	if len(messages) == 0 {
		return m.say("there is no message yet: ask something, and race it then")
	}
	return m.race(messages, race.Comparable(lanes), false)
}

// toRace returns the conversation up to and including the last prompt. In an empty chat it returns an
// example question.
func (m *Model) toRace() []engine.Message {
	messages := m.conversation()
	for len(messages) > 0 && messages[len(messages)-1].Role != "user" {
		messages = messages[:len(messages)-1]
	}
	if examples := m.examples(); len(messages) == 0 && len(examples) > 0 {
		messages = []engine.Message{{Role: "user", Content: examples[0]}}
	}
	return messages
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
		return m.sayWriting()
	case m.racing.stop != nil:
		return m.say("the race before is still ending")
	}
	ctx, cancel := context.WithCancel(m.ctx)
	view := race.NewView(messages[len(messages)-1].Content, lanes)
	if m.state.Ready != nil {
		view.Load(*m.state.Ready)
	}
	if m.compares() {
		view.Compare()
	}
	m.racing = racing{stop: cancel, view: view, messages: messages, lanes: lanes, after: after}
	m.dialog = view
	over := raceOver{view: view}
	m.perform(ctx, "the race", m.raceEvents(ctx, racer, &over), func() event.Event {
		if r := m.options.Race; r != nil && r.Over != nil {
			r.Over(over.outcome, over.failure)
		}
		return over
	})
	return nil
}

// raceEvents runs the current race. It yields the events of both lanes, and writes the outcome to over.
func (m *Model) raceEvents(ctx context.Context, racer Racer, over *raceOver) iter.Seq[event.Event] {
	messages, lanes, after := m.racing.messages, m.racing.lanes, m.racing.after
	return func(yield func(event.Event) bool) {
		began := m.options.Now()
		r, err := racer.Race(ctx, lanes, after)
		if err != nil {
			over.failure = err.Error()
			return
		}
		for lane, e := range r.Run(ctx, messages) {
			if r := m.options.Race; r != nil && r.Record != nil {
				r.Record(lane, e)
			}
			over.heard[lane] = append(over.heard[lane], trace.Record{AtMS: float64(m.options.Now().Sub(began)) / float64(time.Millisecond), Event: e})
			if failed, is := e.(event.Failed); is {
				over.failure = failed.Error
			}
			if !yield(raced{over.view, lane, e}) {
				break
			}
		}
		over.outcome = r.Outcome()
		if err := r.Close(); err != nil && over.failure == "" {
			over.failure = err.Error()
		}
	}
}

// raceIsOver shows the outcome of a race and releases its context.
func (m *Model) raceIsOver(e raceOver) tea.Cmd {
	e.view.Finish(e.outcome, e.failure)
	if m.racing.view != e.view || m.racing.stop == nil {
		return nil
	}
	m.racing.stop()
	then := m.racing.then
	m.racing.stop, m.racing.then = nil, nil
	m.racing.heard = e.heard
	if then == nil {
		return nil
	}
	return then()
}

// compares reports whether two recordings are shown instead of a chat.
func (m *Model) compares() bool { return m.options.Race != nil && m.options.Race.Recorded }

// inRace reports whether the screen of a race is open.
func (m *Model) inRace() bool {
	_, is := m.dialog.(*race.View)
	return is
}

// leaveRace is called when the screen of a race was closed. It stops the race if it still runs. If the
// program shows nothing but the race, the program ends; otherwise the status line says how the race ended.
func (m *Model) leaveRace() tea.Cmd {
	if m.racing.stop != nil {
		m.racing.stop()
	}
	if m.options.Race != nil {
		return tea.Quit
	}
	if words := m.racing.view.Summary(m.theme.Glyph); words != "" {
		return m.say(words)
	}
	return nil
}

// saveRace writes a recording of each lane, for specula replay, into the folder of the options.
func (m *Model) saveRace() tea.Cmd {
	r := m.racing
	var ready []trace.Record
	if m.state.Ready != nil {
		ready = []trace.Record{{Event: *m.state.Ready}}
	}
	name := "race-" + m.options.Now().Format("20060102-150405")
	return func() tea.Msg {
		var paths []string
		for i, heard := range r.heard {
			path := fmt.Sprintf("%s.%c.jsonl", name, 'a'+i)
			if err := writeTrace(filepath.Join(m.options.Folder, path), slices.Concat(ready, heard)); err != nil {
				return noteMsg(sanitize.Line("saving the race: " + err.Error()))
			}
			paths = append(paths, path)
		}
		return noteMsg(sanitize.Line("saved, for specula replay: " + strings.Join(paths, " and ")))
	}
}

// writeTrace writes records to a new file that only its owner may read.
func writeTrace(path string, records []trace.Record) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	var at time.Time
	w := trace.NewWriter(f, func() time.Time { return at })
	for _, r := range records {
		at = time.UnixMicro(int64(r.AtMS * 1000))
		err = errors.Join(err, w.Write(r.Event))
	}
	return errors.Join(err, f.Close())
}

// pressedInRace does the action of a key on the screen of a race: it changes the pace, makes a step under
// pace step, and, once the race is over, saves it (e) or runs it again (r). done is false for other keys.
func (m *Model) pressedInRace(a keys.Action, key string) (cmd tea.Cmd, done bool) {
	switch a {
	case keys.Pace, keys.PaceFaster, keys.PaceSlower:
		return m.screenAction(a)
	}
	over := m.racing.stop == nil && m.racing.view.Over()
	switch {
	case key == "space" && m.stepping():
		m.pacer.Next()
		return nil, true
	case over && key == "e" && !m.compares():
		return m.saveRace(), true
	case over && key == "r" && m.options.Race == nil:
		return m.race(m.racing.messages, m.racing.lanes, m.racing.after), true
	}
	return nil, false
}
