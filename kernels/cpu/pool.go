package cpu

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"sync/atomic"
)

// Task computes the items from ≤ i < to. Calls with disjoint ranges may run at once.
type Task interface{ Do(from, to int) }

const (
	// chunksPerThread leaves something to share when one thread is slower or wakes late.
	chunksPerThread = 4
	// spins is how often an idle worker looks for the next task before it sleeps: some tens of microseconds, the gap between
	// two products of one forward pass, where waking a sleeper would cost more than the product.
	spins = 4_000
	// spinsPerYield is how often it looks before it lets other goroutines run, of which the screen is one.
	spinsPerYield = 64
)

// Pool runs tasks on a fixed number of threads: the caller's own goroutine and persistent workers. Whoever is free takes
// the next chunk, so a caller never waits for a worker that is still asleep. A Pool serves one caller at a time.
type Pool struct {
	threads int
	cost    StepCost

	task  Task // of the current run, as are the next two; they stand still while a chunk is unfinished
	items int
	chunk int // items in a chunk

	ticket   atomic.Uint64 // number of the run << 32 | chunks nobody has taken
	left     atomic.Int64  // chunks nobody has finished
	sleeping atomic.Int64
	wake     chan struct{} // (threads−1)
	panicked atomic.Pointer[panicked]
}

// panicked is what a task panicked with, and where.
type panicked struct {
	value any
	stack []byte
}

// NewPool starts threads−1 workers; Close ends them. threads below 1 count as 1.
func NewPool(threads int) *Pool {
	threads = max(threads, 1)
	p := &Pool{threads: threads, wake: make(chan struct{}, threads)}
	for range threads - 1 {
		go p.work()
	}
	p.cost = measureStep(p)
	return p
}

// Threads is the number of goroutines that a task may run on.
func (p *Pool) Threads() int { return p.threads }

// Cost is what a parallel step was found to cost when the pool was made.
func (p *Pool) Cost() StepCost { return p.cost }

// Close ends the workers. Run must not be called afterwards.
func (p *Pool) Close() { close(p.wake) }

// Run computes items 0 ≤ i < items of t and returns when all are done. work is the cost of the whole in multiplications;
// it decides only whether and how finely the items are shared out: work that would be done before the others
// have begun stays on the caller's thread.
func (p *Pool) Run(t Task, items, work int) {
	chunks := min(items, p.threads*chunksPerThread, 2*work/p.cost.MinWork)
	if p.threads == 1 || chunks < 2 {
		t.Do(0, items)
		return
	}
	p.share(t, items, chunks)
}

// share runs a task in so many pieces, or fewer.
func (p *Pool) share(t Task, items, chunks int) {
	p.task, p.items = t, items
	p.chunk = (items + chunks - 1) / chunks
	chunks = (items + p.chunk - 1) / p.chunk // rounding up may have left the last ones empty
	p.left.Store(int64(chunks))
	run := p.ticket.Load()>>32 + 1
	p.ticket.Store(run<<32 | uint64(chunks))
	for range p.sleeping.Load() {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	for p.step() {
	}
	for spin := 1; p.left.Load() > 0; spin++ { // the others are at their last chunk
		if spin%spinsPerYield == 0 {
			runtime.Gosched()
		} else {
			pause()
		}
	}
	p.task = nil
	if v := p.panicked.Swap(nil); v != nil {
		panic(fmt.Sprintf("%v\n\n%s", v.value, v.stack))
	}
}

// step takes one chunk and computes it; false when none is left to take.
func (p *Pool) step() bool {
	for {
		ticket := p.ticket.Load()
		untaken := ticket & (1<<32 - 1)
		if untaken == 0 {
			return false
		}
		// The number of the run in the ticket keeps a late worker from taking a chunk by a stale count. Once a chunk is taken
		// the run cannot end, so its fields can be read.
		if p.ticket.CompareAndSwap(ticket, ticket-1) {
			from := int(untaken-1) * p.chunk
			p.compute(from, min(from+p.chunk, p.items))
			return true
		}
	}
}

// compute runs a chunk. Its panic is kept for the goroutine that called Run, which may be guarded where a worker is not, and a
// program that dies in a worker would leave the terminal as it is.
func (p *Pool) compute(from, to int) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked.CompareAndSwap(nil, &panicked{v, debug.Stack()})
		}
		p.left.Add(-1)
	}()
	p.task.Do(from, to)
}

func (p *Pool) work() {
	for {
		for idle := 0; idle < spins; idle++ {
			if p.step() {
				idle = 0
			} else if idle%spinsPerYield == spinsPerYield-1 {
				runtime.Gosched()
			} else {
				pause()
			}
		}
		p.sleeping.Add(1)
		// A run that began before this goroutine counted as sleeping sent it no wake-up: look once more.
		if !p.step() {
			if _, open := <-p.wake; !open {
				return
			}
		}
		p.sleeping.Add(-1)
	}
}
