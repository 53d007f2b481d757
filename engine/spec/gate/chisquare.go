package gate

import "math"

// leastExpected is the expectation under which cells are merged: below it the χ² approximation does not hold.
const leastExpected = 5

// cells accumulates Pearson's statistic over the cells of one or more multinomial samples.
type cells struct {
	chi2       float64
	freedom    int
	impossible bool // something was seen that has probability 0
}

// add compares one sample's counts with its probabilities.
func (c *cells) add(counts []int, probabilities []float64) {
	total := 0
	for _, n := range counts {
		total += n
	}
	if total == 0 {
		return
	}
	used, rareSeen, rareExpected := 0, 0.0, 0.0
	cell := func(seen, expected float64) {
		c.chi2 += (seen - expected) * (seen - expected) / expected
		used++
	}
	for i, n := range counts {
		switch expected := float64(total) * probabilities[i]; {
		case probabilities[i] == 0:
			c.impossible = c.impossible || n > 0
		case expected < leastExpected:
			rareSeen += float64(n)
			rareExpected += expected
		default:
			cell(float64(n), expected)
		}
	}
	if rareExpected >= leastExpected {
		cell(rareSeen, rareExpected)
	}
	c.freedom += max(0, used-1)
}

// z turns the statistic into a standard normal deviate (Wilson and Hilferty 1931). With no freedom left there is nothing to
// test and z is 0; something impossible makes it infinite.
func (c *cells) z() float64 {
	switch {
	case c.impossible:
		return math.Inf(1)
	case c.freedom == 0:
		return 0
	}
	df := float64(c.freedom)
	spread := 2 / (9 * df)
	return (math.Cbrt(c.chi2/df) - (1 - spread)) / math.Sqrt(spread)
}
