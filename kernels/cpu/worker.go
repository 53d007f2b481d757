package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// thread is what belongs to one thread of a Pool. The first one belongs to the goroutine that calls
// Run. Goroutines are not locked to threads of the system, nor are these threads locked to cores: on two
// cores of AMD EPYC Zen 5 (family 26, model 2) decoding was 0 to 10 % slower with either lock. Go stops a
// goroutine every 10 ms, and a locked goroutine then has to be woken.
type thread struct {
	pauses atomic.Int64  // short waits inside a program
	naps   atomic.Int64  // waits inside a program for a thread that had lost its core
	lost   atomic.Int64  // duration of the naps, in nanoseconds
	sleeps atomic.Int64  // waits between programs, after the polling budget was spent
	asleep atomic.Bool   // the thread is a worker that sleeps until it is woken
	wake   chan struct{} // has room for one wake-up
	_      [16]byte      // so that each thread writes to a separate cache line
}

// Waits count the waits of all threads of a Pool since it was made.
type Waits struct {
	Pauses int64         // short waits inside a program
	Naps   int64         // waits inside a program for a thread that had lost its core
	Sleeps int64         // of idle workers, after the polling budget was spent
	Lost   time.Duration // duration of the naps
}

// Waits returns the sum over all threads.
func (p *Pool) Waits() Waits {
	var w Waits
	for i := range p.threads {
		t := &p.threads[i]
		w.Pauses += t.pauses.Load()
		w.Naps += t.naps.Load()
		w.Sleeps += t.sleeps.Load()
		w.Lost += time.Duration(t.lost.Load())
	}
	return w
}

// Waited returns the time that threads waited inside programs, summed over all threads.
func (p *Pool) Waited() time.Duration {
	w := p.Waits()
	return time.Duration(float64(w.Pauses)*p.polling.pauseNS) + w.Lost
}

// DefaultPoll is how long an idle worker polls. It covers the time between two rounds, in which the
// caller samples and may compute a draft alone. Then the worker sleeps, so that a chat that waits
// for its user takes no processor time.
const DefaultPoll = 5 * time.Millisecond

const (
	// Chunks are small, so running threads end their last chunks within lostCoreAfter of each other.
	// A thread that has waited longer assumes that the system has stopped another one. It naps, so
	// that the system can move the stopped thread to the napping thread's core.
	lostCoreAfter = 200 * time.Microsecond
	nap           = 50 * time.Microsecond
	// pauseTime is how long the measurement of a pause is repeated. The shortest result counts.
	pauseTime = 500 * time.Microsecond
	// pausesPerYield is how many times a thread polls before it lets other goroutines run
	// (polling.yields).
	pausesPerYield = 64
	// pausesPerClock is how many times an idle worker polls before it reads the clock.
	pausesPerClock = 256
)

// polling says how threads wait: they poll for a bounded time, with the processor's pause
// instruction between polls.
type polling struct {
	budget   time.Duration // of an idle worker
	pauseNS  float64       // measured length of a pause, in nanoseconds
	patience int           // how many pauses take lostCoreAfter
	// yields makes a polling thread let other goroutines run, once in pausesPerYield pauses. It is set
	// if Go runs no more goroutines at once than the pool has threads. Without it, the screen would wait.
	yields bool
}

func newPolling(threads int, budget time.Duration) polling {
	if threads == 1 {
		return polling{} // one thread never waits
	}
	p := polling{budget: budget, yields: runtime.GOMAXPROCS(0) <= threads}
	const measured = 1000
	p.pauseNS = max(0.1, float64(least(pauseTime, func() { p.pauses(measured) }))/measured)
	p.patience = int(float64(lostCoreAfter) / p.pauseNS)
	return p
}

// pauses waits as long as a thread that polls n times. The polls and yields count, too: without assembly
// they take longer than the pauses.
func (p *polling) pauses(n int) {
	var never atomic.Int64
	for i := range n {
		if never.Load() != 0 {
			return
		}
		p.pause(i)
	}
}

// pause waits inside a program. calls is the number of earlier calls in this wait.
func (p *polling) pause(calls int) {
	if p.yields && calls%pausesPerYield == pausesPerYield-1 {
		runtime.Gosched()
	} else {
		pause()
	}
}

// work runs programs as the thread with number i, until the pool is closed.
func (p *Pool) work(i int) {
	t := &p.threads[i]
	var seen uint64
	for {
		program := p.program.Load()
		if i < int(p.taking.Load()) {
			program = p.poll(seen)
		}
		if program != seen && i < int(p.taking.Load()) {
			p.walk(program, t)
			seen = program
			continue
		}
		t.sleeps.Add(1)
		t.asleep.Store(true)
		// Check again: a program that began before asleep was set has sent no wake-up.
		if p.program.Load() == seen || i >= int(p.taking.Load()) {
			if _, open := <-t.wake; !open {
				return
			}
		}
		t.asleep.Store(false)
	}
}

// wakeUp wakes the workers that sleep and take part in programs.
func (p *Pool) wakeUp() {
	for i := 1; i < int(p.taking.Load()); i++ {
		if t := &p.threads[i]; t.asleep.Load() {
			select {
			case t.wake <- struct{}{}:
			default:
			}
		}
	}
}

// poll waits for a program other than seen, and returns it. When the polling budget is spent, it
// returns seen.
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
