package cpu

import (
	"runtime"
	"sync/atomic"
	"time"
)

// StepCost is what it costs to share a task out, measured on the machine at hand. It decides how work is split and can never
// change a result.
type StepCost struct {
	Step    time.Duration // of a parallel step beside its work
	MinWork int           // multiplications below which a task is done sooner on one thread
}

const (
	// leastWork and mostWork bound what a disturbed measurement can say.
	leastWork = 4 << 10
	mostWork  = 1 << 20
	// costRuns of each measurement, of which the least counts: other programs only ever add time.
	costRuns = 50
	// costPhases make a program that is long enough for what begins and ends it to count little.
	costPhases = 16
)

// measureStep takes a few tens of microseconds.
func measureStep(p *Pool) StepCost {
	if p.threads == 1 {
		return StepCost{MinWork: mostWork}
	}
	row := make([]float32, 8192)
	alone := least(func() { squares(row) }) // sums of products as fast as this processor makes them
	meetings := make([]meeting, costPhases)
	step := least(func() {
		for i := range meetings {
			meetings[i] = meeting{threads: int64(p.threads)}
			p.phases[i].prepare(Phase{Task: &meetings[i], Items: p.threads}, p.threads)
		}
		p.share(costPhases)
	}) / costPhases
	// Two threads save half of the time and pay for the step. Products of integers are some four times as fast as this sum.
	even := 2 * 4 * float64(step) / float64(max(alone, 1)) * float64(len(row))
	return StepCost{Step: step, MinWork: int(min(max(even, leastWork), mostWork))}
}

func least(run func()) time.Duration {
	least := time.Hour
	for range costRuns {
		start := time.Now()
		run()
		least = min(least, time.Since(start))
	}
	return least
}

// meeting is a task of one item to a thread, none of which ends before all have begun: so the time it takes is that of
// getting every thread to work.
type meeting struct {
	threads int64
	here    atomic.Int64
}

func (t *meeting) Do(from, to int) {
	t.here.Add(int64(to - from))
	for spin := 1; t.here.Load() < t.threads; spin++ {
		if spin%spinsPerYield == 0 {
			runtime.Gosched()
		}
	}
}
