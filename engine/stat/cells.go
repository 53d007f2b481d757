// Package stat holds the statistics that say whether tokens have the distribution they should have: a test of counts against
// exact probabilities, how small a fault such a test would have noticed, and how large a fault can be at most after it.
//
// "Nothing was found" is worth as much as the power of the search, so the second figure belongs beside every first one.
package stat

import "math"

// leastExpected is the expectation under which cells are merged: below it the χ² approximation does not hold.
const leastExpected = 5

// Cells accumulates Pearson's statistic and that of the likelihood ratio over the cells of one or more multinomial samples.
// The zero Cells is empty.
type Cells struct {
	Chi2       float64 // Σ (seen − expected)² / expected
	G          float64 // 2 Σ seen · ln(seen / expected)
	Freedom    int     // degrees of it
	Impossible bool    // something was seen that has probability 0
}

// Add compares one sample's counts with their probabilities, which sum to 1.
func (c *Cells) Add(counts []int, probabilities []float64) {
	total := sum(counts)
	if total == 0 {
		return
	}
	used, rareSeen, rareExpected := 0, 0.0, 0.0
	cell := func(seen, expected float64) {
		c.Chi2 += (seen - expected) * (seen - expected) / expected
		if seen > 0 {
			c.G += 2 * seen * math.Log(seen/expected)
		}
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

// Z is Pearson's statistic as a standard normal deviate. With no freedom left there is nothing to test and it is 0;
// something impossible makes it infinite.
func (c *Cells) Z() float64 { return c.deviate(c.Chi2) }

// ZOfG is the same of the likelihood ratio.
func (c *Cells) ZOfG() float64 { return c.deviate(c.G) }

func (c *Cells) deviate(statistic float64) float64 {
	switch {
	case c.Impossible:
		return math.Inf(1)
	case c.Freedom == 0:
		return 0
	}
	return deviate(statistic, float64(c.Freedom))
}

// deviate turns a χ² variable into a standard normal one (Wilson and Hilferty 1931).
func deviate(chi2, freedom float64) float64 {
	spread := 2 / (9 * freedom)
	return (math.Cbrt(chi2/freedom) - (1 - spread)) / math.Sqrt(spread)
}
