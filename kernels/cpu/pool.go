package cpu

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Task computes the items from ≤ i < to. Calls with disjoint ranges may run at once.
type Task interface{ Do(from, to int) }

// Phase is a task with all its items. Work is their cost together, in multiplications.
type Phase struct {
	Task  Task
	Items int
	Work  int
}

// MostPhases bounds a program.
const MostPhases = 128

const (
	// chunksPerThread bounds how unevenly the threads of a phase can end: by one chunk.
	chunksPerThread = 8
	// leastChunkWork is in multiplications. Below it, taking a chunk costs a noticeable part of computing it.
	leastChunkWork = 32 << 10
)

// Pool runs programs, phase after phase, on a fixed number of threads: the caller's own goroutine and persistent
// workers. A phase begins when the one before is done. Every thread walks through the program by itself and takes
// the next chunk of items as soon as it is free, so the caller never waits for a worker that is still asleep.
//
// Threads poll inside a program and for a while after it (worker.go), because waking a thread takes longer than
// most phases. A Pool serves one caller at a time.
type Pool struct {
	threads   int
	cost      StepCost
	companies companies
	polling   polling
	counts    []counts // one for each thread, the caller's first

	program  atomic.Uint64 // number of the run << 16 | its phases
	phases   [MostPhases]sharedPhase
	sleeping atomic.Int64
	wake     chan struct{} // (threads−1)
	panicked atomic.Pointer[panicked]
}

// sharedPhase is what the threads share of a phase; it fills a cache line. Its plain fields stand still while a chunk is unfinished.
type sharedPhase struct {
	task   Task
	items  int
	chunks int           // that the items are shared out in, as evenly as they can be
	ticket atomic.Uint64 // number of the run << 32 | chunks taken from the front << 16 | end of those not taken
	left   atomic.Int64  // chunks nobody has finished
	first  atomic.Int32  // chunks that a thread takes at once when it comes; 0: there is but one, the caller's
	_      [12]byte
}

// panicked is what a task panicked with, and where.
type panicked struct {
	value any
	stack []byte
}

// NewPool starts threads−1 workers, which poll for the next program for so long before they sleep; Close ends them.
// threads below 1 count as 1.
func NewPool(threads int, poll time.Duration) *Pool {
	threads = max(threads, 1)
	p := &Pool{threads: threads, polling: newPolling(threads, poll), counts: make([]counts, threads), wake: make(chan struct{}, threads)}
	for i := 1; i < threads; i++ {
		go p.work(&p.counts[i])
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

// Run computes items 0 ≤ i < items of t and returns when all are done.
func (p *Pool) Run(t Task, items, work int) { p.RunAll([]Phase{{t, items, work}}) }

// RunAll computes a program of at most MostPhases. The work decides only whether and how finely items are shared out: a program that
// would be done before the others have joined stays on the caller's thread, and so does one that was found to be faster there.
func (p *Pool) RunAll(program []Phase) {
	work, together := 0, 0 // multiplications, and phases that can be shared
	for _, t := range program {
		work += t.Work
		if t.Items > 1 {
			together++
		}
	}
	if p.threads == 1 || together == 0 || work < len(program)*p.cost.MinWork {
		runAlone(program)
		return
	}
	company := p.companies.of(work, len(program))
	if company == nil {
		p.runTogether(program)
		return
	}
	alone, timed := company.next()
	var start time.Time
	if timed {
		start = time.Now()
	}
	if alone {
		runAlone(program)
	} else {
		p.runTogether(program)
	}
	if timed {
		company.observe(alone, float64(time.Since(start))/float64(work))
	}
}

func runAlone(program []Phase) {
	for _, t := range program {
		t.Task.Do(0, t.Items)
	}
}

func (p *Pool) runTogether(program []Phase) {
	for i, t := range program {
		p.phases[i].prepare(t, min(t.Items, p.threads*chunksPerThread, 1+t.Work/leastChunkWork))
	}
	p.share(len(program))
}

// prepare splits a phase into so many chunks.
func (s *sharedPhase) prepare(t Phase, chunks int) {
	s.task, s.items, s.chunks = t.Task, t.Items, chunks
}

// share runs the first phases, which are prepared.
func (p *Pool) share(phases int) {
	run := p.program.Load()>>16 + 1
	for i := range p.phases[:phases] {
		s := &p.phases[i]
		s.left.Store(int64(s.chunks))
		s.first.Store(p.firstChunks(s.chunks))
		s.ticket.Store(run<<32 | uint64(s.chunks))
	}
	p.program.Store(run<<16 | uint64(phases))
	for range p.sleeping.Load() {
		select {
		case p.wake <- struct{}{}:
		default:
		}
	}
	p.walk(run<<16|uint64(phases), true, &p.counts[0])
	for i := range p.phases[:phases] {
		p.phases[i].task = nil
	}
	if v := p.panicked.Swap(nil); v != nil {
		panic(fmt.Sprintf("%v\n\n%s", v.value, v.stack))
	}
}

// walk goes through a program. A worker leaves early when the next program has begun. The caller takes chunks from the
// end and workers from the front, so a thread finds more of its weights in its own cache in the next pass.
func (p *Pool) walk(program uint64, caller bool, counts *counts) {
	run := program >> 16 << 32
	for i := range p.phases[:program&0xffff] {
		s := &p.phases[i]
		// What is not shared is the caller's: a worker that the system stops in it would stop everybody.
		first := s.first.Load()
		for most := max(1, int(first)); (caller || first > 0) && p.step(s, run, caller, most); most = 1 {
		}
		if !p.await(s, program, caller, counts) {
			return
		}
	}
}

// await polls until the other threads have finished their last chunks of a phase. It returns false to a worker that is
// no longer needed, because the next program has begun.
func (p *Pool) await(s *sharedPhase, program uint64, caller bool, counts *counts) bool {
	if s.left.Load() == 0 {
		return true
	}
	spins, naps := 0, 0
	for s.left.Load() > 0 && (caller || p.program.Load() == program) {
		if p.polling.pauseOrNap(spins + naps) {
			naps++
		} else {
			spins++
		}
	}
	counts.pauses.Add(int64(spins))
	counts.naps.Add(int64(naps))
	return caller || p.program.Load() == program
}

// firstChunks is three quarters of a thread's share of a phase, which it takes at once when it comes: threads that take chunks make each
// other wait, and most often all come at the same time.
func (p *Pool) firstChunks(chunks int) int32 {
	if chunks < 2 {
		return 0
	}
	return int32(max(1, chunks*3/(4*p.threads)))
}

// step takes at most so many chunks and computes them; false when none is left to take.
func (p *Pool) step(s *sharedPhase, run uint64, last bool, most int) bool {
	for {
		ticket := s.ticket.Load()
		first, end := ticket>>16&0xffff, ticket&0xffff
		// The number of the run in the ticket keeps a late worker from taking a chunk by a stale count. Once a chunk is taken
		// the run cannot end, so the fields of the phase can be read.
		if ticket>>32<<32 != run || first == end {
			return false
		}
		n := min(uint64(most), end-first)
		taken, next := first, ticket+n<<16
		if last {
			taken, next = end-n, ticket-n
		}
		if s.ticket.CompareAndSwap(ticket, next) {
			p.compute(s, int(taken), int(n))
			return true
		}
	}
}

// compute runs n chunks. Its panic is kept for the goroutine that called Run, which may be guarded where a worker is not, and a
// program that dies in a worker would leave the terminal as it is.
func (p *Pool) compute(s *sharedPhase, first, n int) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked.CompareAndSwap(nil, &panicked{v, debug.Stack()})
		}
		s.left.Add(int64(-n))
	}()
	s.task.Do(first*s.items/s.chunks, (first+n)*s.items/s.chunks)
}
