package constrain

import (
	"context"
	"fmt"
)

// Limits of the work on a form: of compiling it, and of each call of its Shaper (renew).
//
// Time is limited in steps, not by a clock. So a form is refused on all machines or on none, and a
// reply does not depend on how busy the machine was. A step is about the work of looking up one node of
// the grammar; each call of the function spend says how many steps the work there counts as. Compiling the
// forms of TestExpensiveFormsHaveLimits took 0.2 to 2 µs a step on an Intel Xeon with AMX (family 6), two
// virtual cores, beside other work.
const (
	maxSteps = 1 << 23 // some seconds
	maxBytes = 128 << 20
	// freshBytes is how much an automaton may grow during a reply. After that it is replaced
	// between two tokens.
	freshBytes = 8 << 20
)

// lookAfter is the number of steps between two checks of the context.
const lookAfter = 1 << 10

// work counts the cost of a form. It stops when the cost exceeds a limit or the context is done.
type work struct {
	ctx   context.Context
	steps int
	look  int // the step at which to check the context again
	bytes int
	err   error // why the work stopped; spend then always returns false
}

func newWork(ctx context.Context) *work { return &work{ctx: ctx} }

// spend adds steps, and bytes that stay in use. It reports whether the work may continue.
func (w *work) spend(steps, bytes int) bool {
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

// smaller is the advice in errors about a form that costs too much.
const smaller = "lower its counts, or make it less ambiguous"

// fail ends the work with an error that is no limit of steps or bytes.
func (w *work) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}

// renew sets the count of steps to 0, for another call of the form's Shaper. The count of bytes stays.
func (w *work) renew(ctx context.Context) { w.ctx, w.steps, w.look = ctx, 0, 0 }
