package cli

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui"
	"specula/ui/race"
)

// compare shows the first replies of two recordings side by side, as a race on the engine's time.
func (a *invocation) compare(ctx context.Context, paths []string) error {
	onScreen := a.onScreen()
	c, _, err := a.settings()
	if err != nil {
		return err
	}
	r := recordings{config: c}
	var lanes [2]race.Lane
	for i, path := range paths {
		records, err := readTrace(path)
		if err != nil {
			return err
		}
		if r.replies[i], err = firstReply(records); err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		lanes[i].Name = filepath.Base(path)
		if e, ok := records[0].Event.(event.Ready); ok && i == 0 {
			r.ready = e
		}
	}
	prompt := r.replies[0][0].(event.ReplyStarted).Prompt
	o := raceFlags{recorded: true, open: func(_ context.Context, emit func(event.Event)) (ui.Engine, error) {
		emit(r.ready)
		return r, nil
	}}
	if onScreen {
		return a.raceOnScreen(ctx, c, prompt, lanes, o)
	}
	return a.raceHere(ctx, prompt, lanes, o)
}

// firstReply returns the events of the first reply of a recording, and an error if that reply has no end.
func firstReply(records []trace.Record) ([]event.Event, error) {
	var events []event.Event
	for _, r := range records {
		if _, begins := r.Event.(event.ReplyStarted); begins && events == nil || events != nil {
			events = append(events, r.Event)
		}
		if _, ends := r.Event.(event.ReplyEnded); ends && events != nil {
			return events, nil
		}
	}
	return nil, errors.New("the recording has no finished reply to compare")
}

// recordings takes the place of an engine. It can only race two recorded replies.
type recordings struct {
	config  config.Config
	ready   event.Ready
	replies [2][]event.Event
}

func (r recordings) Generate(context.Context, engine.Request) iter.Seq[event.Event] {
	return func(func(event.Event) bool) {}
}
func (r recordings) Change(string, string) error { return errors.New("these are recordings") }
func (r recordings) Settings() config.Config     { return r.config }
func (r recordings) Close() error                { return nil }

// Race opens a race of the recordings.
func (r recordings) Race(context.Context, [2]race.Lane, bool) (race.Race, error) { return r, nil }

// Run yields the events of both recordings, in the order of the engine's time.
func (r recordings) Run(ctx context.Context, _ []engine.Message) iter.Seq2[int, event.Event] {
	return func(yield func(int, event.Event) bool) {
		var next [2]int
		var ms [2]float64
		for ctx.Err() == nil {
			lane := 0
			if next[0] == len(r.replies[0]) || next[1] < len(r.replies[1]) && ms[1] < ms[0] {
				lane = 1
			}
			if next[lane] == len(r.replies[lane]) {
				return
			}
			e := r.replies[lane][next[lane]]
			next[lane]++
			if round, ok := e.(event.Round); ok {
				ms[lane] += round.MS()
			}
			if !yield(lane, e) {
				return
			}
		}
	}
}

// Outcome says where the two texts first differ. They may differ, because recordings can have any
// settings.
func (r recordings) Outcome() event.RaceOutcome {
	a, b := committed(r.replies[0]), committed(r.replies[1])
	o := event.RaceOutcome{Compared: true, Free: true, Same: true, Position: -1}
	for i := 0; i < max(len(a), len(b)); i++ {
		if i < len(a) && i < len(b) && a[i].ID == b[i].ID {
			continue
		}
		o.Same, o.Position = false, i
		o.Why = "there " + wordsOf(a, i) + " stands against " + wordsOf(b, i)
		break
	}
	return o
}

// place is a committed token and its round.
type place struct {
	event.Token
	round int // from 0
}

func committed(events []event.Event) []place {
	var out []place
	for _, e := range events {
		if round, ok := e.(event.Round); ok {
			for _, t := range round.Committed() {
				out = append(out, place{t, round.Index})
			}
		}
	}
	return out
}

func wordsOf(tokens []place, i int) string {
	if i >= len(tokens) {
		return "the end"
	}
	return fmt.Sprintf("%.40q (round %d, %s)", string(tokens[i].Raw), tokens[i].round+1, tokens[i].Verdict)
}
