package ref

import "math"

// LayerNorm writes (x−mean)·w/√(variance+eps); mean and variance are those of a group of neighbouring
// numbers, as many as group says. If w is shorter than x, w is used again from its first number on.
// Source: Ba et al., Layer Normalization, 2016.
func LayerNorm(dst []float64, x, w []float32, group int, eps float64) {
	for start := 0; start < len(x); start += group {
		mean, variance := 0.0, 0.0
		for _, v := range x[start : start+group] {
			mean += float64(v) / float64(group)
		}
		for _, v := range x[start : start+group] {
			variance += (float64(v) - mean) * (float64(v) - mean) / float64(group)
		}
		for i := start; i < start+group; i++ {
			dst[i] = (float64(x[i]) - mean) / math.Sqrt(variance+eps) * float64(w[i%len(w)])
		}
	}
}
