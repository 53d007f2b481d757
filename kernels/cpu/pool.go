package cpu

import (
	"fmt"
	"runtime/debug"
	"sync/atomic"
	"time"
)

// Task computes the items from ≤ i < to. Calls with disjoint ranges may run at once.
type Task interface{ Do(from, to int) }

// Phase is a task with all its items.
type Phase struct {
	Task  Task
	Items int
	Work  int // cost of all items, in multiplications
}

// MostPhases is the largest number of phases in a program.
const MostPhases = 128

const (
	// chunksPerThread is the number of chunks per thread in a phase. If threads are about equally fast, a thread
	// waits at the end of the phase for no more than another's last chunk, a small part of the phase.
	chunksPerThread = 8
	// leastChunkWork is the least work of a chunk, in multiplications. To take a smaller chunk would
	// cost a noticeable part of the time to compute it.
	leastChunkWork = 32 << 10
)

// Pool runs programs, phase after phase, on the caller's goroutine and on persistent workers. Some workers
// may rest (lostCores), and a small program may run on the caller alone (threadChoice). A phase begins when
// the one before is done. Its chunks belong to no thread: whoever is free takes some that nobody has taken;
// only the chunk of a phase that has a single one is always the caller's. So the caller never waits for a
// worker that is still asleep.
//
// Threads poll inside a program (await) and for a while after it (worker.go), because waking a thread takes
// longer than most phases. A Pool serves one caller at a time.
type Pool struct {
	threads []thread // the caller's is the first
	cost    StepCost
	ways    Ways
	choices threadChoices
	polling polling
	lost    lostCores

	taking   atomic.Int32  // how many threads take part in programs: threads[:taking]
	program  atomic.Uint64 // index of the run << 16 | how many phases it has
	phases   [MostPhases]sharedPhase
	panicked atomic.Pointer[panicked]
}

// sharedPhase is the part of a phase that the threads share. It fills a cache line. Its plain
// fields do not change while a chunk is unfinished.
type sharedPhase struct {
	task   Task
	items  int
	chunks int           // the items are divided into this many, as evenly as possible
	ticket atomic.Uint64 // index of the run << 32 | first chunk not taken << 16 | end of the chunks not taken
	left   atomic.Int64  // chunks that are not finished
	first  atomic.Int32  // chunks that a thread takes at first; 0: the caller takes the only chunk
	_      [12]byte
}

// panicked is a task's panic.
type panicked struct {
	value any
	stack []byte
}

// NewPool starts threads−1 workers. After a program they poll for the duration poll before they
// sleep. Close ends them. threads below 1 counts as 1.
func NewPool(threads int, poll time.Duration) *Pool {
	threads = max(threads, 1)
	p := &Pool{threads: make([]thread, threads), polling: newPolling(threads, poll)}
	p.lost = lostCores{threads: threads, now: time.Now, waited: func() time.Duration { return p.Waits().Lost }}
	p.taking.Store(int32(threads))
	for i := 1; i < threads; i++ {
		p.threads[i].wake = make(chan struct{}, 1)
		go p.work(i)
	}
	p.cost, p.ways = measureStep(p), measureWays()
	return p
}

// Threads returns the number of threads, with the caller's.
func (p *Pool) Threads() int { return len(p.threads) }

// Cost returns what a parallel step costs, and from how much work on it pays. NewPool measured both, if
// there is more than one thread.
func (p *Pool) Cost() StepCost { return p.cost }

// Ways returns the faster ways to compute, as NewPool measured them.
func (p *Pool) Ways() Ways { return p.ways }

// Close ends the workers. Run must not be called afterwards.
func (p *Pool) Close() {
	for i := 1; i < len(p.threads); i++ {
		close(p.threads[i].wake)
	}
}

// Run computes the items of t and returns when all are done. All threads take part if there is enough
// work to share. It is for tasks that write memory for the first time. In such a task, threads may wait
// while the system clears pages. RunAll would count this wait as a lost core, and Run does not.
func (p *Pool) Run(t Task, items, work int) {
	program := []Phase{{t, items, work}}
	if len(p.threads) == 1 || items < 2 || work < p.cost.MinWork {
		runAlone(program)
		return
	}
	p.runTogether(program, len(p.threads))
	p.lost.beginWindow()
}

// RunAll computes a program of at most MostPhases phases and returns when all are done. Phase.Work only
// decides whether the items are shared between threads, and how finely. A program runs on the
// caller's thread alone if its work is too small to share, or if one thread was measured to be faster.
//
// If a task panics, so does RunAll: on the caller's thread alone at once, with the task's value; in a
// shared program at its end, with a text of the value and the stack.
func (p *Pool) RunAll(program []Phase) {
	work, together := 0, 0 // multiplications; phases that can be shared
	for _, t := range program {
		work += t.Work
		if t.Items > 1 {
			together++
		}
	}
	if len(p.threads) == 1 || together == 0 || work < len(program)*p.cost.MinWork {
		runAlone(program)
		return
	}
	choice := p.choices.of(work, len(program))
	if choice == nil {
		p.runOnFreeCores(program)
		return
	}
	alone, timed := choice.next()
	var start time.Time
	if timed {
		start = time.Now()
	}
	if alone {
		runAlone(program)
	} else {
		p.runOnFreeCores(program)
	}
	if timed {
		choice.observe(alone, float64(time.Since(start))/float64(work))
	}
}

func runAlone(program []Phase) {
	for _, t := range program {
		t.Task.Do(0, t.Items)
	}
}

// runOnFreeCores runs a program on as many threads as seem to have a core of their own (see
// lostCores). The system decides which core each of them gets.
func (p *Pool) runOnFreeCores(program []Phase) {
	threads := p.lost.begin()
	defer p.lost.end()
	p.runTogether(program, threads)
}

func (p *Pool) runTogether(program []Phase, threads int) {
	if threads != int(p.taking.Load()) {
		p.taking.Store(int32(threads))
	}
	if threads == 1 {
		runAlone(program)
		return
	}
	for i, t := range program {
		p.phases[i].prepare(t, min(t.Items, threads*chunksPerThread, 1+t.Work/leastChunkWork))
	}
	p.share(len(program))
}

// prepare divides a phase into chunks.
func (s *sharedPhase) prepare(t Phase, chunks int) {
	s.task, s.items, s.chunks = t.Task, t.Items, chunks
}

// share runs the first `phases` of p.phases, which must be prepared, on the threads that take part.
func (p *Pool) share(phases int) {
	run := p.program.Load()>>16 + 1
	for i := range p.phases[:phases] {
		s := &p.phases[i]
		s.left.Store(int64(s.chunks))
		s.first.Store(p.firstChunks(s.chunks))
		s.ticket.Store(run<<32 | uint64(s.chunks))
	}
	p.program.Store(run<<16 | uint64(phases))
	p.wakeUp()
	p.walk(run<<16|uint64(phases), &p.threads[0])
	for i := range p.phases[:phases] {
		p.phases[i].task = nil
	}
	if v := p.panicked.Swap(nil); v != nil {
		panic(fmt.Sprintf("%v\n\n%s", v.value, v.stack))
	}
}

// walk takes part in the phases of a program. A worker leaves early when the next program has begun.
// In each phase the caller takes chunks from the end, and workers take chunks from the front, no matter
// which thread comes first. So a thread tends to get the same chunks in each pass of the model, and its
// core's cache still holds some of their weights.
func (p *Pool) walk(program uint64, t *thread) {
	caller := t == &p.threads[0]
	run := program >> 16 << 32
	for i := range p.phases[:program&0xffff] {
		s := &p.phases[i]
		// Only the caller computes a phase of one chunk: if the system stopped a worker there, all threads
		// would wait for it.
		first := s.first.Load()
		for most := max(1, int(first)); (caller || first > 0) && p.step(s, run, caller, most); most = 1 {
		}
		if !p.await(s, program, caller, t) {
			return
		}
	}
}

// await waits until the other threads have finished their last chunks of a phase: it polls, and after
// polling.patience pauses it naps. It returns false to a worker if the next program has begun.
func (p *Pool) await(s *sharedPhase, program uint64, caller bool, t *thread) bool {
	if s.left.Load() == 0 {
		return true
	}
	pauses, naps := 0, 0
	var firstNap time.Time
	for s.left.Load() > 0 && (caller || p.program.Load() == program) {
		if pauses <= p.polling.patience {
			p.polling.pause(pauses)
			pauses++
			continue
		}
		if naps == 0 {
			firstNap = time.Now()
		}
		sleepThread(nap)
		naps++
	}
	t.pauses.Add(int64(pauses))
	if naps > 0 {
		t.naps.Add(int64(naps))
		t.lost.Add(int64(time.Since(firstNap)))
	}
	return caller || p.program.Load() == program
}

// firstChunks returns the number of chunks that a thread takes at first: three quarters of an equal
// part, or 0 if there is only one chunk. Threads that take chunks at the same moment wait for each other,
// and most threads begin a phase at the same moment. So it is cheaper to take several chunks then.
func (p *Pool) firstChunks(chunks int) int32 {
	if chunks < 2 {
		return 0
	}
	return int32(max(1, chunks*3/(4*int(p.taking.Load()))))
}

// step takes up to most chunks and computes them, from the end if last, else from the front. It
// returns false if none is left, or if another run has begun.
func (p *Pool) step(s *sharedPhase, run uint64, last bool, most int) bool {
	for {
		ticket := s.ticket.Load()
		first, end := ticket>>16&0xffff, ticket&0xffff
		// The ticket holds the index of the run, so that a late worker cannot take a chunk of a later
		// run. The run cannot end while a taken chunk is unfinished, so the phase's fields are valid.
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

// compute runs n chunks. It keeps a panic for the goroutine that called Run or RunAll, which may recover
// from it. A panic in a worker would end the process and leave the terminal in raw mode.
func (p *Pool) compute(s *sharedPhase, first, n int) {
	defer func() {
		if v := recover(); v != nil {
			p.panicked.CompareAndSwap(nil, &panicked{v, debug.Stack()})
		}
		s.left.Add(int64(-n))
	}()
	s.task.Do(first*s.items/s.chunks, (first+n)*s.items/s.chunks)
}
