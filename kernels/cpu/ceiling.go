package cpu

import "time"

// Ceilings are the measured limits of this machine, with the threads of a pool. On the portable
// level the two rates of multiplications are 0, because no loop in Go would reach these limits.
type Ceilings struct {
	ReadBytesPerS  float64 // bytes read from memory
	FloatMulPerS   float64 // float32 multiplications, each with an addition
	IntegerMulPerS float64 // byte multiplications, each with an addition
}

const (
	readBytes   = 256 << 20 // many times the size of most caches
	readPiece   = 1 << 20   // bytes of an item of reading
	peakLoops   = 20_000    // turns of the loop in an item of peakTask
	peakChains  = 12        // independent sums in the assembly's loop
	ceilingRuns = 5         // of each measurement; the fastest counts
)

// MeasureCeilings measures the limits. It takes about a tenth of a second.
func (p *Pool) MeasureCeilings() Ceilings {
	c := Ceilings{}
	memory := reading(make([]float32, readBytes/4))
	inLargePages(memory) // as for weights
	for i := 0; i < len(memory); i += 1024 {
		memory[i] = 1 // without a write, all pages would be one page of zeros
	}
	c.ReadBytesPerS = readBytes / p.fastest(memory, readBytes/readPiece)
	if peakLanes() > 0 {
		multiplied := float64(p.Threads()) * peakLoops * peakChains * float64(peakLanes())
		c.FloatMulPerS = multiplied / p.fastest(peakTask(peakFloat), p.Threads())
		c.IntegerMulPerS = 4 * multiplied / p.fastest(peakTask(peakInteger), p.Threads())
	}
	return c
}

// fastest runs a task ceilingRuns times and returns the least time, in seconds.
func (p *Pool) fastest(t Task, items int) float64 {
	least := time.Hour
	for range ceilingRuns {
		start := time.Now()
		p.phases[0].prepare(Phase{Task: t, Items: items}, items)
		p.share(1)
		least = min(least, time.Since(start))
	}
	return least.Seconds()
}

// reading is a task that reads memory; its items are pieces of it.
type reading []float32

func (r reading) Do(from, to int) { squares(r[from*readPiece/4 : to*readPiece/4]) }

// peakTask is a task whose items each run a loop of arithmetic.
type peakTask func(n int)

func (t peakTask) Do(from, to int) {
	for range to - from {
		t(peakLoops)
	}
}
