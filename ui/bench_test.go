//go:build unix

package ui

import (
	"context"
	"fmt"
	"io"
	"iter"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"golang.org/x/sys/unix"

	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
)

// recordedReply returns the events of a long scripted reply.
func recordedReply(rounds int) []event.Event {
	var out []event.Event
	for e := range newScripted(config.Default(), rounds).Generate(context.Background(), engine.Request{Messages: []engine.Message{{Role: "user", Content: "hello"}}}) {
		out = append(out, e)
	}
	return out
}

func benchModel(b *testing.B, w, h int) *Model {
	c := config.Default()
	c.UI.Theme, c.UI.Pace = "dark", "full"
	o := Options{Config: c, Environ: []string{"TERM=xterm-256color"}}
	o.complete()
	m := newModel(b.Context(), o, &guard{})
	m.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return m
}

// working yields a recorded reply. Between the events it computes as much as a small model does in one
// or two milliseconds, so that the screen competes with it for time.
func working(events []event.Event) iter.Seq[event.Event] {
	return func(yield func(event.Event) bool) {
		x := make([]float32, 4096)
		for _, e := range events {
			for k := range 400 {
				for i := range x {
					x[i] = x[i]*0.5 + float32(k)
				}
			}
			if !yield(e) {
				return
			}
		}
	}
}

// cpuTime returns the processor time of the process so far, on all cores. Other processes disturb it
// less than the clock.
func cpuTime(b *testing.B) time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkEngine measures a busy engine alone, and with the whole screen showing its events at full
// speed. The screen includes Bubble Tea's renderer; its output is discarded.
func BenchmarkEngine(b *testing.B) {
	events := recordedReply(400)
	report := func(b *testing.B, before time.Duration) {
		n := float64(len(events)) * float64(b.N)
		b.ReportMetric(n/b.Elapsed().Seconds(), "events/s")
		b.ReportMetric(float64((cpuTime(b)-before).Nanoseconds())/n/1000, "cpu-µs/event")
	}
	b.Run("alone", func(b *testing.B) {
		before := cpuTime(b)
		for b.Loop() {
			for range working(events) {
			}
		}
		report(b, before)
	})
	b.Run("screen", func(b *testing.B) {
		m := benchModel(b, 120, 36)
		p := tea.NewProgram(m, tea.WithContext(b.Context()), tea.WithInput(nil), tea.WithOutput(io.Discard),
			tea.WithWindowSize(120, 36), tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignalHandler())
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = p.Run() }()
		before := cpuTime(b)
		for b.Loop() {
			m.pacer.Play(b.Context(), working(events), m.ring.Push)
		}
		report(b, before)
		p.Quit()
		<-ended
	})
}

// BenchmarkFrame measures one frame in a long chat: a round arrives and the screen is drawn. The screen
// draws at most thirty frames a second.
func BenchmarkFrame(b *testing.B) {
	for _, size := range [][2]int{{80, 24}, {120, 36}, {200, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) {
			m := benchModel(b, size[0], size[1])
			events := recordedReply(1000)
			for _, e := range events[:len(events)-1] {
				m.apply(e)
			}
			rounds := 0
			for b.Loop() {
				e := events[2+rounds%1000]
				rounds++
				m.apply(e)
				m.stale = true
				m.View()
			}
		})
	}
}
