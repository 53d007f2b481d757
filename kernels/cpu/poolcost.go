package cpu

import "time"

// StepCost is the cost of sharing a task between threads, measured on this machine. It decides how
// work is divided and never changes a result.
type StepCost struct {
	Step    time.Duration // duration of a parallel step, without its work
	MinWork int           // least multiplications of a step that is shared; with fewer, one thread is faster
}

const (
	// leastWork and mostWork bound MinWork, because other programs may disturb the measurement.
	leastWork = 4 << 10
	mostWork  = 96 << 10
	// costTime is how long a measurement is repeated. The shortest result counts, because other
	// programs can only add time.
	costTime = 3 * time.Millisecond
	// costPhases is the number of phases in the measured program: so many that starting and ending
	// the program count little.
	costPhases = 16
	// To sum costRow squares costPasses times takes as long as an item of a small product.
	costRow    = 4096
	costPasses = 8
)

// measureStep measures the cost of a step. It takes 2·costTime.
func measureStep(p *Pool) StepCost {
	if len(p.threads) == 1 {
		return StepCost{MinWork: mostWork}
	}
	task := passing(make([]float32, costRow))
	alone := least(costTime, func() { task.Do(0, 1) })
	step := least(costTime, func() {
		for i := range costPhases {
			p.phases[i].prepare(Phase{Task: task, Items: len(p.threads)}, len(p.threads))
		}
		p.share(costPhases)
	})/costPhases - alone
	// Two threads take half the time of one thread, plus a step. So they are faster if one thread takes
	// longer than two steps. Integer products are about four times as fast as this sum of squares.
	even := 2 * 4 * float64(step) / float64(max(alone, 1)) * costRow * costPasses
	return StepCost{Step: max(step, 0), MinWork: int(min(max(even, leastWork), mostWork))}
}

// least repeats run until the duration long has passed, and returns the time of the fastest call.
func least(long time.Duration, run func()) time.Duration {
	least := time.Hour
	for begun := time.Now(); time.Since(begun) < long; {
		start := time.Now()
		run()
		least = min(least, time.Since(start))
	}
	return least
}

// passing is a task. Each item sums the squares of the numbers costPasses times.
type passing []float32

func (t passing) Do(from, to int) {
	for range (to - from) * costPasses {
		squares(t)
	}
}
