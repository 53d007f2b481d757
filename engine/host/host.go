// Package host is the CPU backend of engine/compute: memory is Go's, operations are queued and run on a
// pool of threads when their results are wanted.
//
// It keeps the law of the seam, that a row's bits depend on that row alone, because every kernel of kernels/cpu adds in an
// order that is fixed along the summed axis. What "crosses the seam" is counted as a device would: the bytes
// that Logits copies out, and one wait per pass in which anything was read; so the figures on screen can be compared.
//
// A Backend serves one goroutine at a time. Weights in F32, F16 and BF16 are used where the file has them; quantised weights are repacked for
// the vector unit.
package host

import (
	"fmt"
	"time"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// Backend executes on the CPU; New makes one.
type Backend struct {
	pool *cpu.Pool
	name string

	queue     queue
	quantised cpu.Quantized // room for activations as integers
}

var _ compute.Backend = (*Backend)(nil)

// New starts a backend on so many threads; 0 or less means one per physical core.
func New(threads int) *Backend { return NewPolling(threads, cpu.DefaultPoll) }

// NewPolling starts a backend as New does, with threads that poll for so long between passes before they sleep.
func NewPolling(threads int, poll time.Duration) *Backend {
	if threads <= 0 {
		threads = physicalCores()
	}
	unit := "threads"
	if threads == 1 {
		unit = "thread"
	}
	return &Backend{
		pool:  cpu.NewPool(threads, poll),
		queue: newQueue(),
		name:  fmt.Sprintf("%s, %s, %d %s", processorName(), cpu.ActiveLevel(), threads, unit),
	}
}

// Info names processor and threads; MemoryBytes is what the system can still give, 0 when it does not say.
func (b *Backend) Info() compute.Info {
	return compute.Info{Kind: "cpu", Name: b.name, MemoryBytes: availableMemoryBytes(), Detail: b.detail()}
}

// detail says how work is split, which was measured when the threads were started.
func (b *Backend) detail() string {
	if b.pool.Threads() == 1 {
		return "everything runs on one thread"
	}
	cost := b.pool.Cost()
	return fmt.Sprintf("a parallel step costs %.1f µs; under %d,000 multiplications one thread is faster",
		float64(cost.Step.Nanoseconds())/1e3, (cost.MinWork+500)/1000)
}

// Ceilings measures what the products on this machine cannot exceed.
func (b *Backend) Ceilings() cpu.Ceilings { return b.pool.MeasureCeilings() }

// Waited is the time that a thread has spent waiting for the others inside passes, on average.
func (b *Backend) Waited() time.Duration { return b.pool.Waited() / time.Duration(b.pool.Threads()) }

// Close ends the worker threads.
func (b *Backend) Close() error {
	b.pool.Close()
	return nil
}

// require panics unless a programmer kept the contract.
func require(ok bool, broken string) {
	if !ok {
		panic("host: " + broken)
	}
}
