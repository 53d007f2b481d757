package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// counts say how a thread of a Pool spent the time in which it did not compute.
type counts struct {
	pauses atomic.Int64 // short waits inside a program
	naps   atomic.Int64 // inside a program, when another thread had lost its core
	sleeps atomic.Int64 // between programs, when the polling budget was spent
	_      [40]byte     // each thread writes to a cache line of its own
}

// Waits sum up how the threads of a Pool waited since it was made.
type Waits struct {
	Pauses int64 // short waits inside a program
	Naps   int64 // inside a program, when another thread had lost its core
	Sleeps int64 // of idle workers whose polling budget was spent
}

// Waits sums up all threads.
func (p *Pool) Waits() Waits {
	var w Waits
	for i := range p.counts {
		c := &p.counts[i]
		w.Pauses += c.pauses.Load()
		w.Naps += c.naps.Load()
		w.Sleeps += c.sleeps.Load()
	}
	return w
}

// Waited is the time that all threads together spent waiting inside programs.
func (p *Pool) Waited() time.Duration {
	w := p.Waits()
	return time.Duration(float64(w.Pauses)*p.polling.pauseNS) + time.Duration(w.Naps)*nap
}

// DefaultPoll is how long an idle worker polls. It covers what lies between two rounds: sampling, and a draft that the
// caller computes alone. Then the worker sleeps, so a chat that waits for its user takes no processor.
const DefaultPoll = 5 * time.Millisecond

const (
	// Chunks are so small that a running thread ends its last one at most this long after the others. A thread that waits
	// longer waits for one that the system has stopped. It naps, so that the system can move the stopped thread to its core.
	lostCoreAfter = 200 * time.Microsecond
	nap           = 50 * time.Microsecond
	// pauseTime of measurements of a pause, of which the least counts.
	pauseTime = 500 * time.Microsecond
	// pausesPerYield is how often a thread looks before it lets other goroutines run (polling.yields).
	pausesPerYield = 64
	// pausesPerClock is how often an idle worker looks before it asks for the time.
	pausesPerClock = 256
)

// polling says how threads wait: they look again and again, with the processor's pause instruction in between, for a
// bounded time.
type polling struct {
	budget   time.Duration // of an idle worker
	pauseNS  float64       // length of a pause on this processor, measured
	patience int           // pauses in lostCoreAfter
	// yields makes a polling thread let other goroutines run now and then. It is set when Go runs at most as many goroutines
	// at once as the pool has threads: the screen would have to wait otherwise.
	yields bool
}

func newPolling(threads int, budget time.Duration) polling {
	if threads == 1 {
		return polling{} // one thread never waits
	}
	const measured = 1000
	ns := max(0.1, float64(least(pauseTime, func() { pauses(measured) }))/measured)
	return polling{budget: budget, pauseNS: ns, patience: int(float64(lostCoreAfter) / ns), yields: runtime.GOMAXPROCS(0) <= threads}
}

// pauses waits as long as a thread that looks n times in vain. Without assembly, looking takes longer than the pause.
func pauses(n int) {
	var never atomic.Int64
	for range n {
		if never.Load() != 0 {
			return
		}
		pause()
	}
}

// pauseOrNap waits a little inside a program: with a pause at first, and with a nap once it was called more than patience
// times for one wait. calls counts them.
func (p *polling) pauseOrNap(calls int) (napped bool) {
	switch {
	case calls > p.patience:
		sleepThread(nap)
		return true
	case p.yields && calls%pausesPerYield == pausesPerYield-1:
		runtime.Gosched()
	default:
		pause()
	}
	return false
}

// work runs programs until the pool is closed.
func (p *Pool) work(counts *counts) {
	var seen uint64
	for {
		if program := p.poll(seen); program != seen {
			p.walk(program, false, counts)
			seen = program
			continue
		}
		counts.sleeps.Add(1)
		p.sleeping.Add(1)
		// A program that began before this worker counted as sleeping sent it no wake-up: look once more.
		if p.program.Load() == seen {
			if _, open := <-p.wake; !open {
				return
			}
		}
		p.sleeping.Add(-1)
	}
}

// poll looks for a program other than seen until the budget is spent, and returns the latest.
func (p *Pool) poll(seen uint64) uint64 {
	begun := time.Now()
	for spin := 1; ; spin++ {
		if program := p.program.Load(); program != seen {
			return program
		}
		switch {
		case spin%pausesPerClock == 0 && time.Since(begun) >= p.polling.budget:
			return seen
		case p.polling.yields && spin%pausesPerYield == 0:
			runtime.Gosched()
		default:
			pause()
		}
	}
}
