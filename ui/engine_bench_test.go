//go:build unix

package ui

import (
	"fmt"
	"io"
	"iter"
	"slices"
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

const (
	benchSlice = 300 * time.Millisecond // of one way to write
	// steady is how far two measurements of the engine alone, before and after the others, may differ.
	// Beyond it the machine has changed meanwhile, and the turn does not count. A virtual machine's cores
	// are moved at times, which changes the engine's speed by a third.
	steady = 1.05
)

// BenchmarkRealEngine measures what the screen costs the embedded pair at full speed. An iteration is
// one turn: alone, with candidates for the inspector, with the whole screen, alone again. It reports the
// medians over all steady turns: tokens a second, and how much lower they are than alone, in percent.
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
	s, err := e.NewSession(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	w := &writing{b: b, session: s}
	for _, size := range [][2]int{{120, 36}, {200, 50}} {
		b.Run(fmt.Sprintf("%dx%d", size[0], size[1]), func(b *testing.B) { w.b = b; w.compare(size[0], size[1]) })
	}
}

// compare measures in turns, with a screen of width × height cells.
func (w *writing) compare(width, height int) {
	b := w.b
	var alone, inspected, screen, inspectedCost, screenCost []float64
	for b.Loop() {
		before := w.rate(false, ignore)
		i := w.rate(true, ignore)
		d := w.rateOnScreen(width, height)
		after := w.rate(false, ignore)
		if max(before, after) > steady*min(before, after) {
			continue
		}
		a := (before + after) / 2
		alone, inspected, screen = append(alone, a), append(inspected, i), append(screen, d)
		inspectedCost, screenCost = append(inspectedCost, 100*(1-i/a)), append(screenCost, 100*(1-d/a))
	}
	b.ReportMetric(0, "ns/op") // the slices' length
	b.ReportMetric(float64(len(alone)), "turns")
	if len(alone) > 0 {
		b.ReportMetric(median(alone), "alone-tokens/s")
		b.ReportMetric(median(inspected), "inspected-tokens/s")
		b.ReportMetric(median(screen), "screen-tokens/s")
		b.ReportMetric(median(inspectedCost), "inspected-%")
		b.ReportMetric(median(screenCost), "screen-%")
	}
}

func median(x []float64) float64 {
	slices.Sort(x)
	return x[len(x)/2]
}

// writing writes the same reply over and over.
type writing struct {
	b       *testing.B
	session *engine.Session
}

func ignore(events iter.Seq[event.Event]) {
	for range events {
	}
}

// rate writes replies for benchSlice, and returns the tokens a second. play takes their events.
func (w *writing) rate(inspect bool, play func(iter.Seq[event.Event])) float64 {
	messages := []engine.Message{{Role: "user", Content: "What is speculative decoding?"}}
	tokens := 0
	write := func() {
		play(func(yield func(event.Event) bool) {
			for ev := range w.session.Generate(w.b.Context(), engine.Request{Messages: messages, Inspect: inspect, Sparing: true}) {
				if ended, ok := ev.(event.ReplyEnded); ok {
					tokens += len(ended.IDs)
				}
				if !yield(ev) {
					return
				}
			}
		})
	}
	for begun := time.Now(); time.Since(begun) < benchSlice/3; { // not counted, so that what ran before has no influence
		write()
	}
	tokens = 0
	begun := time.Now()
	for time.Since(begun) < benchSlice {
		write()
	}
	return float64(tokens) / time.Since(begun).Seconds()
}

func (w *writing) rateOnScreen(width, height int) float64 {
	m := benchModel(w.b, width, height)
	p, _ := newProgram(m, Options{Environ: m.options.Environ, Output: io.Discard},
		tea.WithWindowSize(width, height), tea.WithColorProfile(colorprofile.TrueColor))
	ended := make(chan struct{})
	go func() { defer close(ended); _, _ = p.Run() }()
	rate := w.rate(true, func(events iter.Seq[event.Event]) { m.pacer.Play(w.b.Context(), events, m.ring.Push) })
	p.Quit()
	<-ended
	return rate
}
