package cpu

import "time"

// Ceilings are what this machine can do at most on the threads of a pool, measured. A figure is 0 where portable Go has no loop
// that would reach it.
type Ceilings struct {
	ReadBytesPerS  float64 // from memory
	FloatMulPerS   float64 // multiplications of float32, each with its addition
	IntegerMulPerS float64 // multiplications of bytes, each with its addition
}

const (
	readBytes   = 256 << 20 // many times the caches
	readPiece   = 1 << 20
	peakLoops   = 20_000
	peakChains  = 12 // of the assembly
	ceilingRuns = 5
)

// MeasureCeilings takes about a tenth of a second.
func (p *Pool) MeasureCeilings() Ceilings {
	c := Ceilings{}
	memory := reading(make([]float32, readBytes/4))
	inLargePages(memory) // as weights are
	for i := 0; i < len(memory); i += 1024 {
		memory[i] = 1 // every page must be a page of its own
	}
	c.ReadBytesPerS = readBytes / p.fastest(memory, readBytes/readPiece)
	if peakLanes() > 0 {
		multiplied := float64(p.threads) * peakLoops * peakChains * float64(peakLanes())
		c.FloatMulPerS = multiplied / p.fastest(peakTask(peakFloat), p.threads)
		c.IntegerMulPerS = 4 * multiplied / p.fastest(peakTask(peakInteger), p.threads)
	}
	return c
}

// fastest is the least time of a task in seconds.
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

// reading reads memory; its items are pieces.
type reading []float32

func (r reading) Do(from, to int) { squares(r[from*readPiece/4 : to*readPiece/4]) }

// peakTask is a loop of arithmetic that each item runs once.
type peakTask func(n int)

func (t peakTask) Do(from, to int) {
	for range to - from {
		t(peakLoops)
	}
}
