package cpu

import (
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// The second item of a phase has 1/unevenness less work than the first.
const unevenness = 12

// uneven is a phase of two items. Work is counted in pauses, as waiting is.
type uneven struct {
	polling *polling
	pauses  int // of the first item
	worked  atomic.Int64
}

func (t *uneven) Do(from, to int) {
	for i := from; i < to; i++ {
		n := t.pauses - i*t.pauses/unevenness
		t.polling.pauses(n)
		t.worked.Add(int64(n))
	}
}

// In a pass a thread computes; it does not wait for long, nap or sleep. Waiting and work are both
// counted in pauses, so the speed of the machine does not matter. Other programs may take a core at
// any time, so one good pass of many is enough: if the pool itself chose to nap or sleep, it would
// do so in every pass.
func TestThreadsComputeInsideAPass(t *testing.T) {
	if runtime.NumCPU() < 2 {
		t.Skip("two threads of one core wait for each other")
	}
	const passes, phases = 4000, 4
	pool := NewPool(2, time.Minute)
	defer pool.Close()
	work := &uneven{polling: &pool.polling, pauses: int(float64(time.Millisecond) / pool.polling.pauseNS)}
	program := slices.Repeat([]Phase{{Task: work, Items: 2, Work: 2 * mostChoiceWork}}, phases)
	var idle float64
	var waits Waits
	for range passes {
		before := pool.Waits()
		work.worked.Store(0)
		pool.RunAll(program)
		after := pool.Waits()
		waits = Waits{Pauses: after.Pauses - before.Pauses, Naps: after.Naps - before.Naps,
			Sleeps: after.Sleeps - before.Sleeps}
		idle = float64(waits.Pauses) / float64(waits.Pauses+work.worked.Load())
		// one thread alone would not have waited
		together := waits.Pauses > int64(phases*work.pauses/unevenness/2)
		if together && idle < 0.1 && waits.Naps == 0 && waits.Sleeps == 0 {
			return
		}
	}
	t.Errorf("threads were idle in each of %d passes; in the last for %.0f %% of their pauses, with %d naps and %d sleeps",
		passes, 100*idle, waits.Naps, waits.Sleeps)
}

func TestIdleWorkersSleep(t *testing.T) {
	pool := NewPool(3, time.Millisecond)
	defer pool.Close()
	deadline := time.Now().Add(10 * time.Second)
	asleep := func() (n int) {
		for i := range pool.threads {
			if pool.threads[i].asleep.Load() {
				n++
			}
		}
		return n
	}
	for asleep() < 2 {
		if time.Now().After(deadline) {
			t.Fatalf("after ten seconds without a program %d of 2 workers sleep", asleep())
		}
		runtime.Gosched()
	}
	c := &counted{}
	pool.Run(c, 100, 1<<30)
	if n := c.items.Load(); n != 100 {
		t.Errorf("after the sleep %d of 100 items were computed", n)
	}
}

type counted struct{ items atomic.Int64 }

func (c *counted) Do(from, to int) { c.items.Add(int64(to - from)) }
