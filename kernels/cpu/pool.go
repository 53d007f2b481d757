package cpu

import (
	"fmt"
	"runtime"
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
	// chunksPerThread leaves something to share when one thread is slower or wakes late.
	chunksPerThread = 4
	// leastChunkWork, in multiplications, takes about as long as taking a chunk does.
	leastChunkWork = 8 << 10
	// spins is how often an idle worker looks for the next program before it sleeps: some hundreds of microseconds, in which a small model,
	// whose steps the caller computes alone, drafts a dozen tokens. A sleeper wakes too late for the pass that verifies them.
	spins = 20_000 * spinsPerPause
	// spinsPerYield is how often it looks before it lets other goroutines run, of which the screen is one.
	spinsPerYield = 64
	// patience is how often a thread looks for the end of a phase before it takes naps.
	patience = 1_000 * spinsPerPause
	nap      = 20 * time.Microsecond
)

// Pool runs programs, phase after phase, on a fixed number of threads: the caller's own goroutine and persistent workers. A phase
// begins when the one before is done. All threads walk through a program by themselves, and whoever is free takes the next
// chunk of items, so a caller never waits for a worker that is still asleep. A Pool serves one caller at a time.
type Pool struct {
	threads   int
	cost      StepCost
	companies companies

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
	p.walk(run<<16|uint64(phases), true)
	for i := range p.phases[:phases] {
		p.phases[i].task = nil
	}
	if v := p.panicked.Swap(nil); v != nil {
		panic(fmt.Sprintf("%v\n\n%s", v.value, v.stack))
	}
}

// walk goes through a program; a worker leaves it early when another has begun. The caller takes chunks from the end and
// workers from the front, so that a thread finds more of its weights in its own cache the next time.
func (p *Pool) walk(program uint64, caller bool) {
	run := program >> 16 << 32
	for i := range p.phases[:program&0xffff] {
		s := &p.phases[i]
		// What is not shared is the caller's: a worker that the system stops in it would stop everybody.
		first := s.first.Load()
		for most := max(1, int(first)); (caller || first > 0) && p.step(s, run, caller, most); most = 1 {
		}
		for spin := 1; s.left.Load() > 0; spin++ { // the others are at their last chunk
			if !caller && p.program.Load() != program {
				return
			}
			wait(spin)
		}
	}
}

// wait passes a little time. Whoever has waited long sleeps: it may be what keeps the others from the processor.
func wait(spin int) {
	switch {
	case spin > patience:
		time.Sleep(nap)
	case spin%spinsPerYield == 0:
		runtime.Gosched()
	default:
		pause()
	}
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

func (p *Pool) work() {
	var seen uint64
	for {
		for idle := 0; idle < spins; idle++ {
			if program := p.program.Load(); program != seen {
				p.walk(program, false)
				seen, idle = program, 0
			} else if idle%spinsPerYield == spinsPerYield-1 {
				runtime.Gosched()
			} else {
				pause()
			}
		}
		p.sleeping.Add(1)
		// A run that began before this goroutine counted as sleeping sent it no wake-up: look once more.
		if p.program.Load() == seen {
			if _, open := <-p.wake; !open {
				return
			}
		}
		p.sleeping.Add(-1)
	}
}
