package round

import (
	"errors"
	"time"
)

// Stopwatch measures the phases of a round by a given clock. Call Skip each time after an event was
// yielded: whoever reads the events may wait on purpose, to show them slowly.
type Stopwatch struct {
	now  func() time.Time
	last time.Time
}

// NewStopwatch returns a running stopwatch.
func NewStopwatch(now func() time.Time) Stopwatch { return Stopwatch{now: now, last: now()} }

// Lap adds the milliseconds since the last lap to sum.
func (w *Stopwatch) Lap(sum *float64) {
	now := w.now()
	*sum += milliseconds(now.Sub(w.last))
	w.last = now
}

// Skip drops the time since the last lap.
func (w *Stopwatch) Skip() { w.last = w.now() }

// Elapsed returns the milliseconds since the last lap. It does not end the lap.
func (w *Stopwatch) Elapsed() float64 { return milliseconds(w.now().Sub(w.last)) }

// Progress gets the number of tokens that a model has read, their total, and the milliseconds so far.
// An error from it ends the reply.
type Progress func(done, total int, ms float64) error

// Reading runs read, tells its progress and adds its milliseconds to sum, without the time spent in
// tell. tell may be nil. If tell returns an error, read runs to its end without further calls of tell,
// and Reading returns the error.
func (w *Stopwatch) Reading(sum *float64, tell Progress, read func(progress func(done, total int)) error) error {
	var ms float64
	var stopped error
	w.Skip()
	err := read(func(done, total int) {
		w.Lap(&ms)
		if stopped == nil && tell != nil {
			stopped = tell(done, total, ms)
		}
		w.Skip()
	})
	w.Lap(&ms)
	*sum += ms
	return errors.Join(err, stopped)
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
