// Package host is the CPU backend of engine/compute. Its memory is Go's. Operations are queued, and
// run on a pool of threads when their results are needed.
//
// It keeps the law of engine/compute that a row's bits depend on that row alone: every kernel of
// kernels/cpu adds in a fixed order along the summed axis. For a comparison with GPUs, it counts the bytes
// that Logits copies, and one wait for each pass whose results were read.
//
// Only one goroutine may use a Backend at a time. Weights in F32, F16 and BF16 are used from the file's
// memory. Quantised weights are repacked for the vector unit.
package host

import (
	"fmt"
	"os"
	"time"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// Backend executes on the CPU; New makes one.
type Backend struct {
	pool *cpu.Pool
	name string
	why  string // reason for the number of threads; empty if the caller chose it

	queue     queue
	quantised [2]cpu.Quantized // memory for quantised activations; used in turns if phases are joined, else the first only
	exact     bool             // activations are not quantised
	room      cpu.Room         // memory for products with unquantised activations
	inputs    cpu.ExpertMemory // memory for the inputs of experts
	stateRoom []float32        // memory for copies of a layer's states; a pass computes on copies so that its rows can be removed

	weightBytes int64 // size of all matrices that were loaded
	nearBytes   int64 // up to this many bytes of weights stay in the last-level cache
}

var _ compute.Backend = (*Backend)(nil)

// New starts a backend on this many threads; 0 or less means as many as compute fastest (cores.go).
func New(threads int) *Backend { return NewPolling(threads, cpu.DefaultPoll) }

// NewPolling is New with a polling time: after a pass, the threads poll that long for new work before
// they sleep.
func NewPolling(threads int, poll time.Duration) *Backend {
	why, machine := "", thisMachine(os.DirFS("/"))
	if threads <= 0 {
		threads, why = machine.threads()
	}
	unit := "threads"
	if threads == 1 {
		unit = "thread"
	}
	b := &Backend{
		pool:  cpu.NewPool(threads, poll),
		queue: newQueue(),
		name:  fmt.Sprintf("%s, %s, %d %s", processorName(), cpu.ActiveLevel(), threads, unit),
		why:   why,

		nearBytes: machine.lastCacheBytes() / 2, // activations, keys, values and other programs need the rest
	}
	b.inputs.Quantised = &b.quantised[0]
	return b
}

// WithActivations sets how activations are multiplied with quantised weights: "q8", the default, rounds
// them to 8 bits; "f32" uses them as they are. It returns b. Call it before anything else.
func (b *Backend) WithActivations(kind string) *Backend {
	if b.exact = kind == "f32"; b.exact {
		b.name += ", f32 activations"
	}
	return b
}

// Info names the processor and the threads. MemoryBytes is what the system can still allocate, or 0
// if that is unknown.
func (b *Backend) Info() compute.Info {
	return compute.Info{Kind: "cpu", Name: b.name, MemoryBytes: availableMemoryBytes(), Detail: b.detail()}
}

// detail explains the number of threads. It also says what was measured when the threads started: the
// cost of sharing work between them, and which ways to compute are faster.
func (b *Backend) detail() string {
	text := ""
	if b.why != "" {
		text = "threads: " + b.why + "; "
	}
	if b.pool.Threads() == 1 {
		text += "everything runs on one thread"
	} else {
		cost := b.pool.Cost()
		text += fmt.Sprintf("a parallel step costs %.1f µs; under %d,000 multiplications one thread is faster",
			float64(cost.Step.Nanoseconds())/1e3, (cost.MinWork+500)/1000)
	}
	if ways := b.pool.Ways().String(); ways != "" {
		text += "; " + ways
	}
	return text
}

// Ceilings measures how fast this machine can multiply, and read memory, at most.
func (b *Backend) Ceilings() compute.Ceilings { return compute.Ceilings(b.pool.MeasureCeilings()) }

// Waited returns how long one thread has waited for the others inside passes, on average.
func (b *Backend) Waited() time.Duration { return b.pool.Waited() / time.Duration(b.pool.Threads()) }

// Close ends the worker threads.
func (b *Backend) Close() error {
	b.pool.Close()
	return nil
}

// near reports whether all weights stay in the last-level cache from pass to pass (nearBytes). Then a pass is
// so short that it should have few phases (join.go).
func (b *Backend) near() bool { return b.weightBytes <= b.nearBytes }

// prefetching says how products prefetch quantised weights. If all weights stay in the last-level cache,
// products prefetch them into all caches. Otherwise the weights are in main memory, and products use the
// way that was measured to be fastest when the threads started.
func (b *Backend) prefetching() cpu.Prefetching {
	if b.near() {
		return cpu.Prefetching{FillCaches: true}
	}
	return b.pool.Ways().Prefetching
}

// require panics if a caller broke the contract of compute.Backend.
func require(ok bool, broken string) {
	if !ok {
		panic("host: " + broken)
	}
}
