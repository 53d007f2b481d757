package cpu

import "time"

// StepCost is what it costs to share a task out, measured on the machine at hand. It decides how work is split and can never
// change a result.
type StepCost struct {
	Step    time.Duration // of a parallel step beside its work
	MinWork int           // multiplications below which a task is done sooner on one thread
}

const (
	// leastWork and mostWork bound what a disturbed measurement can say.
	leastWork = 4 << 10
	mostWork  = 256 << 10
	// costRuns of each measurement, of which the least counts: other programs only ever add time.
	costRuns = 50
)

// measureStep takes a few tens of microseconds.
func measureStep(p *Pool) StepCost {
	if p.threads == 1 {
		return StepCost{MinWork: mostWork}
	}
	const cols, rows = 256, 32
	product := &MatMulF32{Dst: make([]float32, rows), X: make([]float32, cols), M: 1, W: make([]float32, rows*cols), Rows: rows, Cols: cols}
	alone := least(func() { product.Do(0, rows) })
	step := least(func() { p.share(empty{}, p.threads, p.threads) })
	// Two threads save half of the time and pay for the step.
	even := 2 * float64(step) / float64(max(alone, 1)) * rows * cols
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

type empty struct{}

func (empty) Do(from, to int) {}
