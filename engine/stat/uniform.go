package stat

import (
	"math"
	"slices"
)

// Farthest is the test of Kolmogorov and Smirnov: it finds the largest distance between a value x
// and the fraction of values below x, or up to x. It returns an upper bound on the probability that
// independent uniform values have at least this distance. The bound holds for any number of values
// (Massart 1990). Farthest sorts values.
func Farthest(values []float64) (p float64) {
	slices.Sort(values)
	n, far := float64(len(values)), 0.0
	for i, x := range values {
		far = max(far, float64(i+1)/n-x, x-float64(i)/n)
	}
	return min(1, 2*math.Exp(-2*n*far*far))
}

// Even is Pearson's test of values in [0,1) over cells of equal size. It returns the probability
// that uniform values give a statistic at least as large.
func Even(values []float64, cells int) (p float64) {
	return Tail(Pearson(Counts(values, cells)), cells-1)
}

// Counts counts the values in [0,1) that are in each of the cells of equal size.
func Counts(values []float64, cells int) []int {
	counts := make([]int, cells)
	for _, x := range values {
		counts[Cell(x, cells)]++
	}
	return counts
}

// Cell is the index of the cell that a value in [0,1) lies in.
func Cell(x float64, cells int) int { return min(max(int(x*float64(cells)), 0), cells-1) }

// Pearson is Σ (seen − expected)²/expected over cells of equal probability, or 0 if nothing was
// seen.
func Pearson(counts []int) (chi2 float64) {
	expected := float64(sum(counts)) / float64(len(counts))
	if expected == 0 {
		return 0
	}
	for _, n := range counts {
		chi2 += (float64(n) - expected) * (float64(n) - expected) / expected
	}
	return chi2
}

// Tail is the probability that a χ² variable with freedom degrees of freedom is at least chi2; it is 1 if
// one of the two is not above 0. It is the regularised incomplete gamma function Q(freedom/2, chi2/2). For
// small chi2 Q is 1 − P, with the series of P (Abramowitz and Stegun 6.5.29), otherwise the even part of
// the continued fraction of Q (6.5.31).
func Tail(chi2 float64, freedom int) float64 {
	if chi2 <= 0 || freedom <= 0 {
		return 1
	}
	a, x := float64(freedom)/2, chi2/2
	gamma, _ := math.Lgamma(a)
	scale := math.Exp(a*math.Log(x) - x - gamma)
	if x < a+1 {
		term := 1 / a
		total := term
		for n := 1.0; term > total*1e-15; n++ {
			term *= x / (a + n)
			total += term
		}
		return 1 - scale*total
	}
	// The continued fraction by Lentz's algorithm.
	const tiny = 1e-300
	b := x + 1 - a
	c, d := 1/tiny, 1/b
	h := d
	for i := 1.0; i < 1000; i++ {
		step := -i * (i - a)
		b += 2
		d = 1 / nonzero(step*d+b, tiny)
		c = nonzero(b+step/c, tiny)
		h *= d * c
		if math.Abs(d*c-1) < 1e-14 {
			break
		}
	}
	return scale * h
}

// nonzero keeps Lentz's algorithm from dividing by 0.
func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
