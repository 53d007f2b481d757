package gamma

import "math"

// Length is what rounds of one draft length are expected to bring, by what was measured so far.
type Length struct {
	Tokens   float64 // committed in a round
	Cost     float64 // of a round, in plain rounds
	Measured bool    // passes over so many rows were timed; else the cost is the least that it can be
}

// Lengths returns what each draft length is expected to bring, from 0 on, by the measured times, also
// with nominal costs. It ends before a length whose cost is not known; it is nil before a plain round
// was timed. The reading of tokens that the proposer missed is left out, as in Speedup.
func (c *Controller) Lengths() []Length {
	clock := c.costs
	clock.nominal = nil
	if !clock.measured(0) || !(clock.of(0) > 0) {
		return nil
	}
	plain := clock.of(0)
	lengths := make([]Length, 0, c.options.Max+1)
	tokens, reach := 1.0, 1.0
	for gamma := range c.options.Max + 1 {
		cost := clock.of(gamma) / plain
		if math.IsInf(cost, 0) {
			break
		}
		lengths = append(lengths, Length{Tokens: tokens, Cost: cost, Measured: clock.measured(gamma)})
		reach *= c.acceptance.at(gamma)
		tokens += reach
	}
	return lengths
}
