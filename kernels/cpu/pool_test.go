package cpu_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"specula/kernels/cpu"
)

// counter counts how often each item was computed, and in how many pieces.
type counter struct {
	items  []int32
	pieces atomic.Int32
}

func (c *counter) Do(from, to int) {
	c.pieces.Add(1)
	for i := from; i < to; i++ {
		atomic.AddInt32(&c.items[i], 1)
	}
}

func TestPoolComputesEveryItemOnce(t *testing.T) {
	for _, threads := range []int{-1, 1, 2, 3, 8} {
		pool := cpu.NewPool(threads, cpu.DefaultPoll)
		for run := range 500 {
			items := 1 + run%97
			c := &counter{items: make([]int32, items)}
			pool.Run(c, items, items<<14)
			for i, n := range c.items {
				if n != 1 {
					t.Fatalf("%d threads, run %d: item %d of %d was computed %d times", threads,
						run, i, items, n)
				}
			}
		}
		pool.Close()
	}
}

// bomb panics at one item, whoever computes it.
type bomb struct{ at int }

func (b bomb) Do(from, to int) {
	if from <= b.at && b.at < to {
		panic("the task is broken")
	}
}

func TestAPanicReachesTheCaller(t *testing.T) {
	pool := cpu.NewPool(3, cpu.DefaultPoll)
	defer pool.Close()
	for at := range 100 {
		func() {
			defer func() {
				if v := fmt.Sprint(recover()); !strings.Contains(v, "the task is broken") {
					t.Errorf("item %d: recovered %.80q", at, v)
				}
			}()
			pool.Run(bomb{at}, 100, 1<<30)
			t.Errorf("item %d: Run returned", at)
		}()
	}
	c := &counter{items: make([]int32, 100)}
	pool.Run(c, 100, 1<<30)
	for i, n := range c.items {
		if n != 1 {
			t.Fatalf("after the panics item %d was computed %d times", i, n)
		}
	}
}

func TestPoolKeepsSmallWorkWhole(t *testing.T) {
	pool := cpu.NewPool(4, cpu.DefaultPoll)
	defer pool.Close()
	for _, c := range []struct {
		items, work int
		split       bool
	}{
		{1000, 1000, false},
		{1, 1 << 30, false},
		{1000, 1 << 30, true},
	} {
		t.Run(fmt.Sprintf("%d items, work %d", c.items, c.work), func(t *testing.T) {
			task := &counter{items: make([]int32, c.items)}
			pool.Run(task, c.items, c.work)
			if split := task.pieces.Load() > 1; split != c.split {
				t.Errorf("computed in %d pieces; more than one: %v, want %v", task.pieces.Load(), split, c.split)
			}
		})
	}
}

// BenchmarkPoolStep measures the cost of a parallel step on two threads, less its work.
func BenchmarkPoolStep(b *testing.B) {
	pool := cpu.NewPool(2, cpu.DefaultPoll)
	defer pool.Close()
	task := &busy{}
	alone := time.Hour
	for range 1000 {
		start := time.Now()
		task.Do(0, busyItems)
		alone = min(alone, time.Since(start))
	}
	b.ReportAllocs()
	for b.Loop() {
		pool.Run(task, busyItems, 1<<30)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)-float64(alone.Nanoseconds())/2,
		"ns/overhead")
}

const busyItems = 16

// busy takes a few hundred nanoseconds an item.
type busy struct{ sums [busyItems]float32 }

func (t *busy) Do(from, to int) {
	for i := from; i < to; i++ {
		x := float32(i)
		for range 128 {
			x = x*0.5 + 1
		}
		t.sums[i] = x
	}
}
