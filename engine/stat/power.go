package stat

import "math"

// UpperTail is the probability that a standard normal deviate exceeds z.
func UpperTail(z float64) float64 { return math.Erfc(z/math.Sqrt2) / 2 }

// Limit is the deviate that correct code exceeds with the given probability.
func Limit(probability float64) float64 { return math.Sqrt2 * math.Erfinv(1-2*probability) }

// A fault of size ε moves a share ε of all outcomes from cells where they belong to others: ε is the total variation distance
// of the two distributions over the cells. Whatever cells it moves between, it shifts the expectation of Pearson's statistic
// over n outcomes by at least 4nε²: Σ δ²/p ≥ (Σ |δ|)² / Σ p = (2ε)², by Cauchy and Schwarz. So the power below is that against
// the fault that is hardest to see.

// Power is the probability with which a test of n outcomes and so many degrees of freedom, which fails above the deviate limit,
// notices a fault of size epsilon, be it the best hidden one. 0 without freedom: then nothing is tested.
func Power(n, freedom int, limit, epsilon float64) float64 {
	if freedom == 0 {
		return 0
	}
	// The noncentral χ² as a scaled central one of the same mean and variance (Patnaik 1949).
	df, shift := float64(freedom), 4*float64(n)*epsilon*epsilon
	scale := (df + 2*shift) / (df + shift)
	matched := (df + shift) * (df + shift) / (df + 2*shift)
	return UpperTail(deviate(critical(df, limit)/scale, matched))
}

// critical is the χ² with so many degrees of freedom whose deviate is z.
func critical(freedom, z float64) float64 {
	spread := 2 / (9 * freedom)
	root := 1 - spread + z*math.Sqrt(spread)
	return freedom * root * root * root
}

// Noticed is the smallest fault that the test notices with the given probability, and 1 if it notices none.
func Noticed(n, freedom int, limit, probability float64) float64 {
	if Power(n, freedom, limit, 1) < probability {
		return 1
	}
	low, high := 0.0, 1.0
	for range 50 {
		if middle := (low + high) / 2; Power(n, freedom, limit, middle) < probability {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// Distance is the total variation distance of what was seen from what was expected, and a bound that the distance of the true
// distribution exceeds with probability doubt at most: the distance seen, and what chance may have hidden of it. Its mean is at
// most ½√((k−1)/n) over k cells, and one outcome changes it by 1/n at most, which bounds the rest (McDiarmid 1989).
func Distance(counts []int, probabilities []float64, doubt float64) (seen, bound float64) {
	n := float64(sum(counts))
	if n == 0 {
		return 0, 1
	}
	cells := 0
	for i, count := range counts {
		seen += math.Abs(float64(count)/n-probabilities[i]) / 2
		if probabilities[i] > 0 || count > 0 {
			cells++
		}
	}
	chance := math.Sqrt(float64(max(0, cells-1))/n)/2 + math.Sqrt(math.Log(1/doubt)/(2*n))
	return seen, min(1, seen+chance)
}
