// Package pace slows the show down so that eyes can follow. Unless the pace is full, a [Pacer] waits after
// each phase of a round, in the goroutine that pulls events from the engine ([Pacer.Play]). While it
// waits, the engine has nothing to do.
//
// Invariant: the milliseconds on screen are those that the engine measured; waiting is never part
// of them.
//
// The phases of a round are its draft (drafted tokens, not yet judged) and its verdict (the reply has
// grown). A plain round has only a verdict.
package pace

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Mode is how fast rounds are shown.
type Mode int

// The modes.
const (
	Full Mode = iota // never wait
	Slow             // a chosen number of rounds with a draft per second; a plain round takes a third of their time
	Step             // wait for a key after each phase
)

func (m Mode) String() string {
	return [...]string{"full", "slow", "step"}[m]
}

// Parse returns the mode of this name, and an error for any other name.
func Parse(name string) (Mode, error) {
	for _, m := range []Mode{Full, Slow, Step} {
		if m.String() == name {
			return m, nil
		}
	}
	return Full, fmt.Errorf("pace %.64q: allowed are full, slow and step", name)
}

// The range of the slow pace, in rounds per second.
const (
	MinRounds = 0.1
	MaxRounds = 60
)

// A round's time has three parts: one for its draft and two for its verdict, where there is more to read.
const (
	verdictParts = 2
	roundParts   = 1 + verdictParts
)

// Pacer delays rounds so that one can watch them. It is safe for concurrent use: the goroutine that
// pulls events waits in its methods while the screen changes mode and speed.
type Pacer struct {
	mu      sync.Mutex
	mode    Mode
	rounds  float64       // per second, in mode Slow
	changed chan struct{} // closed and replaced when the pace changes, so that a waiter looks at it again
	steps   chan struct{} // holds at most one step, which was asked for before anyone waited for it
}

// New returns a pacer. Rounds per second outside MinRounds … MaxRounds are clamped.
func New(mode Mode, roundsPerSecond float64) *Pacer {
	return &Pacer{
		mode: mode, rounds: clamp(roundsPerSecond),
		changed: make(chan struct{}), steps: make(chan struct{}, 1),
	}
}

func clamp(rounds float64) float64 {
	if !(rounds >= MinRounds) { // also catches NaN
		return MinRounds
	}
	return min(rounds, MaxRounds)
}

// Set changes mode and speed at once, also for a waiter.
func (p *Pacer) Set(mode Mode, roundsPerSecond float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mode, p.rounds = mode, clamp(roundsPerSecond)
	if mode != Step {
		select { // drop a step that was not used, so that it does not count later
		case <-p.steps:
		default:
		}
	}
	close(p.changed)
	p.changed = make(chan struct{})
}

// Mode returns the mode, and the rounds per second of the slow pace.
func (p *Pacer) Mode() (Mode, float64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mode, p.rounds
}

// Next lets one phase pass in mode Step; in other modes it does nothing. If nobody waits yet, the step
// is kept for the next wait; several kept steps count as one.
func (p *Pacer) Next() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mode != Step {
		return
	}
	select {
	case p.steps <- struct{}{}:
	default:
	}
}

// Take reports whether Next has left a step, and takes that step. It is for films, which do not wait in
// real time.
func (p *Pacer) Take() bool {
	select {
	case <-p.steps:
		return true
	default:
		return false
	}
}

// Wait blocks for as long as the pace holds a draft or a plain token on the screen: not at all in mode
// Full, until Next in mode Step. If ctx ends, it returns ctx's error at once; otherwise nil.
func (p *Pacer) Wait(ctx context.Context) error { return p.wait(ctx, 1) }

// wait is Wait, but waits parts times as long.
func (p *Pacer) wait(ctx context.Context, parts int) error {
	began := time.Now()
	for {
		p.mu.Lock()
		mode, rounds, changed := p.mode, p.rounds, p.changed
		p.mu.Unlock()

		var due <-chan time.Time
		var steps <-chan struct{}
		switch mode {
		case Full:
			return ctx.Err()
		case Slow:
			left := held(rounds, parts) - time.Since(began)
			if left <= 0 {
				return ctx.Err()
			}
			timer := time.NewTimer(left)
			defer timer.Stop()
			due = timer.C
		case Step:
			steps = p.steps
		}

		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-due:
			return nil
		case <-steps:
			return nil
		case <-changed:
		}
	}
}
