package ui

import (
	"bytes"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"

	"specula/engine/event"
	"specula/engine/trace"
	"specula/ui/pace"
)

// withoutPrompt returns the screen without the composer, which differs in a replay.
func (s *screen) withoutPrompt() string {
	lines := strings.Split(s.m.View().Content, "\n")
	r := s.m.rects.Composer
	return strings.Join(slices.Delete(lines, r.Y, r.Y+r.H), "\n")
}

// TestAReplayDrawsTheFramesOfTheLiveRun records a live reply in the trace format, plays it on a screen
// without an engine, and compares the frames after every event.
func TestAReplayDrawsTheFramesOfTheLiveRun(t *testing.T) {
	var file bytes.Buffer
	writer := trace.NewWriter(&file, time.Now)
	var events []event.Event
	live := open(t, func(o *Options) {
		o.Record = func(e event.Event) {
			events = append(events, e)
			if err := writer.Write(e); err != nil {
				t.Error(err)
			}
		}
	})
	live.ask("hello")

	// Apply each event to a live screen and to a screen without an engine that reads the file.
	live = open(t, nil)
	replay := open(t, func(o *Options) { o.Load = nil })
	for _, s := range []*screen{live, replay} {
		s.m.reply = reply{stop: func() {}, started: true}
	}
	i, compared := 0, 0
	for r, err := range trace.Read(&file) {
		if err != nil {
			t.Fatal(err)
		}
		live.do(live.m.apply(events[i]))
		replay.do(replay.m.apply(r.Event))
		live.m.stale, replay.m.stale = true, true
		// Before the reply begins, only the live screen knows the settings.
		if replay.m.state.Reply.Number > 0 {
			compared++
			if a, b := live.withoutPrompt(), replay.withoutPrompt(); a != b {
				t.Fatalf("after event %d (%s) the live screen and the replay differ:\n%s\n%s", i, r.Event.Kind(), a, b)
			}
		}
		i++
	}
	if i != len(events) || compared < 20 {
		t.Errorf("%d events were read and %d compared, %d recorded", i, compared, len(events))
	}
	replay.mustShow("Speculative decoding lets wrong3 a small wrong1 model guess")
}

// script returns a short recording: three rounds, one second apart.
func script() []trace.Record {
	records := []trace.Record{{Event: event.ReplyStarted{Reply: 1, Prompt: "hello"}}}
	for i := range 3 {
		text := []string{"one ", "two ", "three"}[i]
		records = append(records, trace.Record{AtMS: float64(1000 * (i + 1)), Event: event.Round{
			Index: i, Proposer: "none", Commit: &event.Token{ID: 1, Text: text, Verdict: event.Plain},
		}})
	}
	return append(records, trace.Record{AtMS: 90_000, Event: event.ReplyEnded{Reply: 1, Reason: "stop", Text: "one two three"}})
}

func TestARecordingKeepsItsTimesAtFullSpeedAndThePaceOtherwise(t *testing.T) {
	tests := []struct {
		name string
		mode pace.Mode
		want time.Duration
	}{
		{"as recorded, but no silence longer than a second", pace.Full, 4 * time.Second},
		{"three rounds at one a second, a third of a second for each commit", pace.Slow, time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, n, began := pace.New(tt.mode, 1), 0, time.Now()
				p.Play(t.Context(), recording(t.Context(), p, script(), new(atomic.Int64)), func(event.Event) { n++ })
				if took := time.Since(began).Round(time.Millisecond); took != tt.want || n != 5 {
					t.Errorf("%d events in %v, want 5 in %v", n, took, tt.want)
				}
			})
		})
	}
}

func TestAReplayedScreenIsReadOnlyAndCanBePlayedAgain(t *testing.T) {
	s := open(t, func(o *Options) { o.Load, o.Replay = nil, script()[:1] })
	s.mustShow("The recording has ended: f5 plays it again")
	s.press("h i enter")
	if s.m.composer.Value() != "" {
		t.Errorf("typed %q into a recording", s.m.composer.Value())
	}
	s.press("alt+up")
	s.mustShow("a recorded reply cannot be changed")
	s.press("f5")
	s.settle()
	if n := len(s.m.state.Messages); n != 2 {
		t.Errorf("the second showing has %d messages, want 2", n)
	}
	s.update(tea.PasteMsg{Content: "x"})
	if s.m.composer.Value() != "" {
		t.Error("a paste went into a recording")
	}
	s.press("ctrl+c ctrl+c")
	if !s.quit {
		t.Error("ctrl+c twice must leave a recording")
	}
}

func TestStoppingARecordingKeepsWhatWasShown(t *testing.T) {
	s := open(t, func(o *Options) { o.Load = nil })
	s.m.options.Replay = script()
	s.m.pacer.Set(pace.Step, 1)
	s.m.playFrom(0)
	s.until("the first word", func() bool {
		messages := s.m.state.Messages
		return len(messages) == 2 && len(messages[1].Tokens) == 1
	})
	s.press("esc")
	s.settle()
	s.mustShow("one")
	s.mustNotShow("three")
	if s.m.state.Busy() {
		t.Error("a stopped recording still looks busy")
	}
}

func TestARecordingIsSought(t *testing.T) {
	s := open(t, func(o *Options) { o.Load = nil })
	s.m.options.Replay = script()
	s.m.pacer.Set(pace.Step, 1) // a place that was sought stands until a key
	s.m.playFrom(0)
	for _, step := range []struct{ key, shows, at, not string }{
		{"end", "one two three", "90.00 of 90.00 s", ""},
		{"home", "one", "1.00 of 90.00 s", "two"}, // from its start, a recording plays
		{"right", "one two", "2.00 of 90.00 s", "three"},
		{"right", "one two three", "3.00 of 90.00 s", ""},
		{"left", "one two", "2.00 of 90.00 s", "three"},
		{"left", "one", "1.00 of 90.00 s", "two"},
		{"ctrl+right", "one two three", "3.00 of 90.00 s", ""}, // to second 10
		{"ctrl+right", "one two three", "90.00 of 90.00 s", ""},
		{"ctrl+left", "one two three", "3.00 of 90.00 s", ""}, // to second 81
	} {
		s.press(step.key)
		s.until(step.key+": "+step.at, func() bool {
			return strings.Contains(s.text(), step.at) && strings.Contains(s.text(), step.shows)
		})
		if step.not != "" {
			s.mustNotShow(step.not)
		}
	}
	s.press("esc")
	s.settle()
}

func TestARecordingBeginsWhereItIsAskedTo(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want int // events
	}{
		{"at the start", Options{}, 0},
		{"at a time", Options{ReplayAt: 2500 * time.Millisecond}, 3},
		{"after a round", Options{ReplayRound: 3}, 4},
		{"after its end", Options{ReplayAt: time.Hour}, 5},
		{"after a round that it does not have", Options{ReplayRound: 9}, 5},
	} {
		m := Model{options: tt.o}
		m.options.Replay = script()
		if got := m.startOfReplay(); got != tt.want {
			t.Errorf("%s: begins after %d events, want %d", tt.name, got, tt.want)
		}
	}
}
