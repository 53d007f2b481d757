package cpu

import (
	"sync/atomic"
	"testing"
	"time"
)

// shared is a machine whose cores other programs may take. Runs last a millisecond.
type shared struct {
	lostCores
	clock time.Time
	lost  time.Duration // what all threads have waited for lost cores
	cores int           // that other programs leave
}

func newShared(threads int) *shared {
	s := &shared{clock: time.Unix(0, 0), cores: threads}
	s.lostCores = lostCores{threads: threads, now: func() time.Time { return s.clock },
		waited: func() time.Duration { return s.lost }}
	return s
}

// compute makes runs for a duration, and returns the share of them in which this many threads took
// part. Where there are more threads than cores, all but one wait for half of each run.
func (s *shared) compute(d time.Duration, threads int) float64 {
	runs, with := 0, 0
	for end := s.clock.Add(d); s.clock.Before(end); runs++ {
		n := s.begin()
		if n == threads {
			with++
		}
		s.clock = s.clock.Add(time.Millisecond)
		if n > s.cores {
			s.lost += time.Duration(n-1) * time.Millisecond / 2
		}
		s.end()
	}
	return float64(with) / float64(runs)
}

func TestAThreadRestsWhileItsCoreIsLost(t *testing.T) {
	for _, threads := range []int{2, 4, 8, 16} {
		s := newShared(threads)
		if share := s.compute(10*time.Second, threads); share < 1 {
			t.Errorf("%d threads, quiet: all took part in %.3f of the runs", threads, share)
		}
		s.cores--
		if share := s.compute(10*time.Second, threads-1); share < 0.95 {
			t.Errorf("%d threads, one core lost: one thread rested in %.3f of the runs", threads, share)
		}
		s.cores++
		s.compute(longestRest+window, threads)
		if share := s.compute(10*time.Second, threads); share < 1 {
			t.Errorf("%d threads, quiet again: all took part in %.3f of the runs", threads, share)
		}
	}
}

func TestSeveralLostCores(t *testing.T) {
	s := newShared(8)
	s.cores = 5
	if share := s.compute(20*time.Second, 5); share < 0.9 {
		t.Errorf("three of eight cores lost: five threads took part in %.3f of the runs", share)
	}
	s.cores = 0
	s.compute(10*time.Second, 1)
	if n := s.begin(); n < 1 {
		t.Errorf("all cores are shared, and %d threads take part", n)
	}
}

func TestLittleLossIsBorne(t *testing.T) {
	s := newShared(2)
	for range 10_000 {
		s.begin()
		s.clock = s.clock.Add(time.Millisecond)
		s.lost += time.Millisecond / 4
		s.end()
	}
	if s.resting != 0 {
		t.Error("a thread rests although it would do more than it costs")
	}
}

// A short task of the system takes a core for some windows. A rest after it would last longer.
func TestAShortDisturbanceIsBorne(t *testing.T) {
	s := newShared(2)
	for range 100 {
		s.cores = 1
		if share := s.compute((badAtFirst-1)*window, 2); share < 1 {
			t.Fatalf("after less than %d windows with a lost core both threads took part in %.3f of the runs", badAtFirst, share)
		}
		s.cores = 2
		s.compute(2*window, 2)
	}
}

// In Run, a thread may wait because the system clears the pages of new memory.
func TestNewMemoryIsNoLostCore(t *testing.T) {
	pool := NewPool(2, time.Minute)
	defer pool.Close()
	lost := time.Duration(0)
	pool.lost.waited = func() time.Duration { return lost }
	program := []Phase{{Task: &counted{}, Items: 2, Work: 1 << 30}}
	for range 10 * badAtFirst {
		lost += time.Hour
		pool.Run(program[0].Task, 2, 1<<30)
		pool.lost.ran = window
		pool.RunAll(program)
	}
	if pool.lost.resting != 0 {
		t.Error("a thread rests after it waited for new memory")
	}
}

// While some threads rest, every item is computed all the same, and these threads take part again later.
func TestRestingThreadsComeBack(t *testing.T) {
	const threads, items = 4, 64
	pool := NewPool(threads, time.Minute)
	defer pool.Close()
	clock := time.Now()
	pool.lost.now = func() time.Time { return clock }
	program := []Phase{{Task: &counted{}, Items: items, Work: 1 << 30}}
	for run := range 300 {
		pool.lost.resting = run % threads
		pool.lost.restEnds = clock.Add(time.Hour)
		c := &counted{}
		program[0].Task = c
		pool.RunAll(program)
		if n := c.items.Load(); n != items {
			t.Fatalf("with %d threads resting %d of %d items were computed", run%threads, n, items)
		}
	}
	pool.lost.resting = 0
	meet := &meeting{all: threads}
	program[0] = Phase{Task: meet, Items: threads, Work: 1 << 30}
	pool.RunAll(program)
}

// meeting is a phase whose items end when all have begun.
type meeting struct {
	all   int64
	begun atomic.Int64
}

func (m *meeting) Do(from, to int) {
	m.begun.Add(int64(to - from))
	for m.begun.Load() < m.all {
		sleepThread(nap)
	}
}
