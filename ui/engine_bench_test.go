//go:build unix

package ui

import (
	"io"
	"iter"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"specula/assets"
	"specula/engine"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
)

// BenchmarkRealEngine measures the tokens per second of the embedded pair at full speed: alone, with
// candidates for the inspector, and with the whole screen.
func BenchmarkRealEngine(b *testing.B) {
	c := config.Default()
	c.Sampling.Temperature, c.Speculation.Rule, c.UI.Pace = 0, "fixed", "full"
	backend := host.New(0)
	defer backend.Close()
	e, err := engine.Load(b.Context(), engine.Options{
		Config: c, Backend: backend, Now: time.Now, NewSeed: func() int64 { return 1 },
		Target: engine.Source{Name: "target", Embedded: assets.Target()}, Draft: engine.Source{Name: "draft", Embedded: assets.Draft()},
	}, func(event.Event) {})
	if err != nil {
		b.Fatal(err)
	}
	run := func(b *testing.B, inspect bool, play func(iter.Seq[event.Event])) {
		s, err := e.NewSession(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer s.Close()
		tokens := 0
		messages := []engine.Message{{Role: "user", Content: "What is speculative decoding?"}}
		for b.Loop() {
			play(func(yield func(event.Event) bool) {
				for ev := range s.Generate(b.Context(), engine.Request{Messages: messages, Inspect: inspect, Sparing: true}) {
					if ended, ok := ev.(event.ReplyEnded); ok {
						tokens += len(ended.IDs)
					}
					if !yield(ev) {
						return
					}
				}
			})
		}
		b.ReportMetric(float64(tokens)/b.Elapsed().Seconds(), "tokens/s")
	}
	ignore := func(events iter.Seq[event.Event]) {
		for range events {
		}
	}
	b.Run("alone", func(b *testing.B) { run(b, false, ignore) })
	b.Run("inspected", func(b *testing.B) { run(b, true, ignore) })
	b.Run("screen", func(b *testing.B) {
		m := benchModel(b, 120, 36)
		p := tea.NewProgram(m, tea.WithContext(b.Context()), tea.WithInput(nil), tea.WithOutput(io.Discard),
			tea.WithWindowSize(120, 36), tea.WithColorProfile(colorprofile.TrueColor), tea.WithoutSignalHandler())
		ended := make(chan struct{})
		go func() { defer close(ended); _, _ = p.Run() }()
		run(b, true, func(events iter.Seq[event.Event]) { m.pacer.Play(b.Context(), events, m.ring.Push) })
		p.Quit()
		<-ended
	})
}
