// Package stat tests whether tokens have the distribution that they should have.
//
// [Cells] compares counts with exact probabilities (χ²). [Power] and [Noticed] say how small a
// fault this test would have noticed. [Farthest] and [Even] test whether values are uniform in
// [0,1).
//
// Invariant: a test without a finding is worth only as much as its power. So state the power with
// every result.
package stat

import "math"

// leastExpected is the expected count below which cells are merged into one, because the χ² approximation
// does not hold for them. If the merged cell expects less, too, it is left out.
const leastExpected = 5

// Cells sums up Pearson's statistic over the cells of one or more multinomial samples. The zero value
// is empty.
type Cells struct {
	Chi2       float64 // Σ (seen − expected)² / expected
	Freedom    int     // degrees of freedom
	Impossible bool    // an outcome of probability 0 was seen
}

// Add compares the counts of one sample with their probabilities, which must sum to 1.
func (c *Cells) Add(counts []int, probabilities []float64) {
	total := sum(counts)
	if total == 0 {
		return
	}
	used, rareSeen, rareExpected := 0, 0.0, 0.0
	cell := func(seen, expected float64) {
		c.Chi2 += (seen - expected) * (seen - expected) / expected
		used++
	}
	for i, n := range counts {
		switch expected := float64(total) * probabilities[i]; {
		case probabilities[i] == 0:
			c.Impossible = c.Impossible || n > 0
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
	c.Freedom += max(0, used-1)
}

func sum(counts []int) int {
	total := 0
	for _, n := range counts {
		total += n
	}
	return total
}

// Z is Pearson's statistic as a standard normal deviate. It is 0 if there are no degrees of
// freedom, since there is nothing to test, and infinite if something impossible was seen.
func (c *Cells) Z() float64 {
	switch {
	case c.Impossible:
		return math.Inf(1)
	case c.Freedom == 0:
		return 0
	}
	return deviate(c.Chi2, float64(c.Freedom))
}

// deviate turns a χ² variable into a standard normal one (Wilson and Hilferty 1931).
func deviate(chi2, freedom float64) float64 {
	spread := 2 / (9 * freedom)
	return (math.Cbrt(chi2/freedom) - (1 - spread)) / math.Sqrt(spread)
}
