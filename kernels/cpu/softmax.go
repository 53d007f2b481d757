package cpu

import "math"

// doubleLanes is the number of partial sums of a row of float64: number i belongs to lane i mod 8.
const doubleLanes = 8

// Weights writes exp((scores[i] − peak)·factor) to dst, which has the length of scores, and returns
// the sum. With the highest score as peak and 1/temperature as factor, these are the probabilities
// of a softmax before their division by the sum. The relative error is below 10⁻¹⁴. Weights below
// 10⁻³⁰⁷ and the weights of −Inf become 0. For NaN, and for scores above the peak by more than
// 700/factor, the result is undefined.
func Weights(dst []float64, scores []float32, peak float32, factor float64) (sum float64) {
	dst = dst[:len(scores)]
	var sums [doubleLanes]float64
	n := expRow(&sums, dst, scores, float64(peak), factor)
	expRowGeneric(&sums, dst[n:], scores[n:], float64(peak), factor)
	return foldDoubles(&sums)
}

// Multiply multiplies every number of a row by factor.
func Multiply(x []float64, factor float64) {
	for i := multiplyRow(x, factor); i < len(x); i++ {
		x[i] *= factor
	}
}

func expRowGeneric(sums *[doubleLanes]float64, dst []float64, x []float32, peak, factor float64) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = exp64((float64(v) - peak) * factor)
		sums[i%doubleLanes] += dst[i]
	}
}

// foldDoubles adds the lanes by halves.
func foldDoubles(s *[doubleLanes]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// exp64 is eˣ with a relative error below 10⁻¹⁴ for −707 ≤ x ≤ 700, and 0 for smaller x. With
// x = n·ln2 + r and |r| ≤ ln2/2, it computes eʳ by a Taylor polynomial of degree 11, whose remainder
// is below 7·10⁻¹⁵, and multiplies it by 2ⁿ.
func exp64(x float64) float64 {
	const (
		smallest = -707 // down to here eʳ·2ⁿ is a normal number
		ln2High  = 6.93147180369123816490e-01
		ln2Low   = 1.90821492927058770002e-10
	)
	if !(x >= smallest) {
		return 0
	}
	shifted := float64(x*math.Log2E) + doubleRoundingBias
	n := shifted - doubleRoundingBias
	r := float64(x-float64(n*ln2High)) - float64(n*ln2Low)
	p := float64(1.0/39916800*r) + 1.0/3628800
	p = float64(p*r) + 1.0/362880
	p = float64(p*r) + 1.0/40320
	p = float64(p*r) + 1.0/5040
	p = float64(p*r) + 1.0/720
	p = float64(p*r) + 1.0/120
	p = float64(p*r) + 1.0/24
	p = float64(p*r) + 1.0/6
	p = float64(p*r) + 0.5
	p = float64(p*r) + 1
	p = float64(p*r) + 1
	// The low bits of shifted are n. Shift them into the exponent.
	return math.Float64frombits(math.Float64bits(p) + math.Float64bits(shifted)<<52)
}

// doubleRoundingBias rounds a float64 to an integer when it is added: see roundingBias.
const doubleRoundingBias = 0x1.8p52
