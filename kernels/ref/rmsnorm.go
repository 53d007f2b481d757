package ref

import "math"

// RMSNorm writes x·w/√(mean(x²)+eps) for each group of len(w) numbers.
// Source: Zhang and Sennrich, Root Mean Square Layer Normalization, 2019.
func RMSNorm(dst []float64, x, w []float32, eps float64) {
	n := len(w)
	for start := 0; start < len(x); start += n {
		sum := 0.0
		for _, v := range x[start : start+n] {
			sum += float64(v) * float64(v)
		}
		for k := range n {
			dst[start+k] = float64(x[start+k]) * float64(w[k]) / math.Sqrt(sum/float64(n)+eps)
		}
	}
}
