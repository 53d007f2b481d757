package gamma

import "math"

// Length is what rounds of one draft length should bring.
type Length struct {
	Tokens   float64 // expected number of tokens that a round commits
	Cost     float64 // expected cost of a round
	Measured bool    // passes over drafts of this length were timed; if not, Cost is an estimate or a lower bound
}

// rate returns the expected tokens per cost.
func (l Length) rate() float64 { return l.Tokens / l.Cost }

// expect returns what the draft lengths 0 to most should bring. holds(i) is the chance that draft token i is
// accepted, given that all before it were.
func (c *costs) expect(most int, holds func(i int) float64) []Length {
	list := make([]Length, most+1)
	tokens, reach := 1.0, 1.0
	for gamma := range list {
		if gamma > 0 {
			reach *= holds(gamma - 1)
			tokens += reach
		}
		list[gamma] = Length{Tokens: tokens, Cost: c.of(gamma), Measured: c.measured(gamma)}
	}
	return list
}

// bestLength returns the index, least or above, with the most tokens per cost; of equal ones the smallest.
// With least 0 it returns 0 unless a length has more than 1+margin times the tokens per cost of length 0.
func bestLength(list []Length, least int, margin float64) int {
	best := min(least, len(list)-1)
	highest := list[best].rate()
	if best == 0 {
		highest *= 1 + margin
	}
	for gamma := best + 1; gamma < len(list); gamma++ {
		if rate := list[gamma].rate(); rate > highest {
			best, highest = gamma, rate
		}
	}
	return best
}

// Lengths returns what draft lengths from 0 on should bring, by measured times even if there are nominal
// costs. The unit of Cost is a plain round. Reading missed tokens is left out, as in Speedup. Lengths between
// timed ones get an estimate, because a fixed γ times only rounds of its own length and plain ones. The list
// ends before the first length of unknown cost, and is nil until a plain round was timed.
func (c *Controller) Lengths() []Length {
	plain := c.PlainMS()
	if plain == 0 {
		return nil
	}
	list := c.clock.expect(c.options.Max, c.acceptance.at)
	for i := range list {
		if pass, ok := c.clock.line(i); ok && !list[i].Measured && i < len(c.clock.passes) {
			list[i].Cost = c.clock.steps(i) + pass
		}
		if list[i].Cost /= plain; math.IsInf(list[i].Cost, 0) {
			return list[:i]
		}
	}
	return list
}
