package round

import (
	"errors"
	"time"
)

// Stopwatch measures the phases of a round by a given clock. Its user skips the time that the
// reader of events takes, because the reader may hold events back to show them slowly.
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

// Skip leaves out the time since the last lap.
func (w *Stopwatch) Skip() { w.last = w.now() }

// Elapsed is the milliseconds since the last lap, which goes on.
func (w *Stopwatch) Elapsed() float64 { return milliseconds(w.now().Sub(w.last)) }

// Progress is told how many tokens a model has read, of how many, in how many milliseconds. Its error
// ends the reply.
type Progress func(done, total int, ms float64) error

// Reading runs the reading of a model, tells its progress and adds its milliseconds to sum. The
// time that tell takes does not count. tell may be nil. After an error of tell, the model reads on,
// tell is not called again, and Reading returns the error.
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
