package stat

import "math"

// UpperTail is the probability that a standard normal deviate exceeds z.
func UpperTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// Limit is the deviate that correct code exceeds with the given probability.
func Limit(probability float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*probability) }

// Power is the probability that a χ² test, which fails above the deviate limit, notices a fault.
// The fault raises the expected statistic by shift. If the fault changes the cells' probabilities p by δ,
// shift is n·Σ δ²/p for n outcomes.
func Power(shift float64, freedom int, limit float64) float64 {
	// Approximates the noncentral χ² by a scaled central one with the same mean and variance
	// (Patnaik 1949).
	df := float64(freedom)
	scale := (df + 2*shift) / (df + shift)
	matched := (df + shift) * (df + shift) / (df + 2*shift)
	return UpperTail(deviate(critical(df, limit)/scale, matched))
}

// critical is the χ² value, with freedom degrees of freedom, whose deviate is z.
func critical(freedom, z float64) float64 {
	spread := 2 / (9 * freedom)
	root := 1 - spread + z*math.Sqrt(spread)
	return freedom * root * root * root
}

// Noticed is the smallest shift that the test notices with the given probability.
func Noticed(freedom int, limit, probability float64) float64 {
	low, high := 0.0, 1.0
	for Power(high, freedom, limit) < probability {
		high *= 2
	}
	for range 50 {
		if middle := (low + high) / 2; Power(middle, freedom, limit) < probability {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}
