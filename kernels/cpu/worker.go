package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// counts are the waits of a thread of a Pool.
type counts struct {
	pauses atomic.Int64 // short waits inside a program
	naps   atomic.Int64 // waits inside a program for a thread that had lost its core
	sleeps atomic.Int64 // waits between programs, after the polling budget was spent
	_      [40]byte     // so that each thread writes to a separate cache line
}

// Waits count the waits of all threads of a Pool since it was made.
type Waits struct {
	Pauses int64 // short waits inside a program
	Naps   int64 // waits inside a program for a thread that had lost its core
	Sleeps int64 // of idle workers, after the polling budget was spent
}

// Waits returns the sum over all threads.
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

// Waited returns the time that threads waited inside programs, summed over all threads.
func (p *Pool) Waited() time.Duration {
	w := p.Waits()
	return time.Duration(float64(w.Pauses)*p.polling.pauseNS) + time.Duration(w.Naps)*nap
}

// DefaultPoll is how long an idle worker polls. It covers the time between two rounds, in which the
// caller samples and may compute a draft alone. Then the worker sleeps, so that a chat that waits
// for its user takes no processor time.
const DefaultPoll = 5 * time.Millisecond

const (
	// Chunks are small: a running thread ends its last chunk at most lostCoreAfter later than the
	// others. A thread that waits longer waits for one that the system has stopped. It naps, so
	// that the system can move the stopped thread to its core.
	lostCoreAfter = 200 * time.Microsecond
	nap           = 50 * time.Microsecond
	// pauseTime is how long the measurement of a pause is repeated. The shortest result counts.
	pauseTime = 500 * time.Microsecond
	// pausesPerYield is how often a thread polls before it lets other goroutines run
	// (polling.yields).
	pausesPerYield = 64
	// pausesPerClock is how often an idle worker polls before it reads the clock.
	pausesPerClock = 256
)

// polling says how threads wait: they poll for a bounded time, with the processor's pause
// instruction between polls.
type polling struct {
	budget   time.Duration // of an idle worker
	pauseNS  float64       // measured length of a pause, in nanoseconds
	patience int           // pauses in lostCoreAfter
	// yields makes a polling thread let other goroutines run, once in pausesPerYield. It is set if
	// Go runs no more goroutines at once than the pool has threads. Otherwise the screen would have
	// to wait.
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

// pauses waits as long as a thread that polls n times. Without assembly, a poll takes longer than
// the pause.
func pauses(n int) {
	var never atomic.Int64
	for range n {
		if never.Load() != 0 {
			return
		}
		pause()
	}
}

// pauseOrNap waits inside a program: with a pause, or with a nap after more than patience calls in
// one wait. calls is the number of earlier calls in this wait.
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
		// A program that began before this worker was counted as sleeping sent no wake-up. So check
		// again.
		if p.program.Load() == seen {
			if _, open := <-p.wake; !open {
				return
			}
		}
		p.sleeping.Add(-1)
	}
}

// poll waits for a program other than seen, and returns it. After the budget is spent it returns
// seen.
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
