package engine

import "time"

// stopwatch measures the phases of a round by the injected clock. Time spent by the reader of events, which may be
// pacing a show, is skipped.
type stopwatch struct {
	now  func() time.Time
	last time.Time
}

func (e *Engine) stopwatch() *stopwatch {
	return &stopwatch{now: e.options.Now, last: e.options.Now()}
}

// lap adds the milliseconds since the last lap to sum and returns the new sum.
func (w *stopwatch) lap(sum *float64) float64 {
	now := w.now()
	*sum += milliseconds(now.Sub(w.last))
	w.last = now
	return *sum
}

// skip leaves out the time since the last lap.
func (w *stopwatch) skip() { w.last = w.now() }

// elapsed is the milliseconds since the last lap, which goes on.
func (w *stopwatch) elapsed() float64 { return milliseconds(w.now().Sub(w.last)) }
