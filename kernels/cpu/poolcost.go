package cpu

import "time"

// StepCost is what it costs to share a task out, measured on the machine at hand. It decides how work is split and can never
// change a result.
type StepCost struct {
	Step    time.Duration // of a parallel step beside its work
	MinWork int           // multiplications below which a task is done sooner on one thread
}

const (
	// leastWork and mostWork bound what a measurement can say that other programs disturbed.
	leastWork = 4 << 10
	mostWork  = 96 << 10
	// costTime of measurements, of which the least counts: other programs only ever add time.
	costTime = 3 * time.Millisecond
	// costPhases make a program that is long enough for what begins and ends it to count little.
	costPhases = 16
	// costRow of numbers, passed over a few times, takes as long as an item of a small product.
	costRow    = 4096
	costPasses = 8
)

// measureStep takes two times costTime.
func measureStep(p *Pool) StepCost {
	if p.threads == 1 {
		return StepCost{MinWork: mostWork}
	}
	task := passing(make([]float32, costRow))
	alone := least(costTime, func() { task.Do(0, 1) })
	step := least(costTime, func() {
		for i := range costPhases {
			p.phases[i].prepare(Phase{Task: task, Items: p.threads}, p.threads)
		}
		p.share(costPhases)
	})/costPhases - alone
	// Two threads save half of the time and pay for the step. Products of integers are some four times as fast as this sum.
	even := 2 * 4 * float64(step) / float64(max(alone, 1)) * costRow * costPasses
	return StepCost{Step: max(step, 0), MinWork: int(min(max(even, leastWork), mostWork))}
}

// least repeats run for so long, and returns the shortest time it took.
func least(long time.Duration, run func()) time.Duration {
	least := time.Hour
	for begun := time.Now(); time.Since(begun) < long; {
		start := time.Now()
		run()
		least = min(least, time.Since(start))
	}
	return least
}

// passing is a task whose items each pass over the numbers a few times.
type passing []float32

func (t passing) Do(from, to int) {
	for range (to - from) * costPasses {
		squares(t)
	}
}
