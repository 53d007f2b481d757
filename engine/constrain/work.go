package constrain

import (
	"context"
	"fmt"
)

// Bounds of the work on a form: of compiling it, and of each token that is written under it.
//
// Time is bounded in steps, not by a clock: then a form is refused on every machine or on none, and a reply does not depend
// on how busy the machine was. A step is a node that is looked up or a stack that is opened: 0.1 to 0.5 µs.
const (
	maxSteps = 1 << 23 // 1 to 4 seconds
	maxBytes = 128 << 20
	// freshBytes is how much an automaton may grow while a reply is written. Then it begins anew between two tokens.
	freshBytes = 8 << 20
)

// lookAfter is how many steps pass between two looks at the context: less than a millisecond.
const lookAfter = 1 << 10

// work counts what a form costs, and ends what costs too much or is no longer wanted.
type work struct {
	ctx   context.Context
	steps int
	look  int // the step at which to look at the context again
	bytes int
	err   error // why the work ended; nothing more is done after it
}

func newWork(ctx context.Context) *work { return &work{ctx: ctx} }

// did counts steps and the bytes that they keep. It reports whether to go on.
func (w *work) did(steps, bytes int) bool {
	if w.err != nil {
		return false
	}
	w.steps += steps
	w.bytes += bytes
	switch {
	case w.steps > maxSteps:
		w.err = fmt.Errorf("it takes more than %d million steps to work out: %s", maxSteps/1_000_000, smaller)
	case w.bytes > maxBytes:
		w.err = fmt.Errorf("it takes more than %d MB of memory to work out: %s", maxBytes>>20, smaller)
	case w.steps >= w.look:
		w.look = w.steps + lookAfter
		w.err = w.ctx.Err()
	}
	return w.err == nil
}

// smaller is what to do about a form that costs too much.
const smaller = "lower its counts, or make it less ambiguous"

// fail ends the work for a reason of the form itself.
func (w *work) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// renew gives the next piece of work all steps again. The memory stays taken.
func (w *work) renew(ctx context.Context) { w.ctx, w.steps, w.look = ctx, 0, 0 }
