package cpu

import "math"

// RMSNorm writes x·w/√(mean(x²)+eps) for each group of len(w) numbers; dst may be x. The squares
// are rounded and summed in the lanes of ref.Dot.
func RMSNorm(dst, x, w []float32, eps float32) {
	n := len(w)
	done := normGroups(dst, x, w, min(len(x), len(dst))/n, float64(eps)) * n
	for dst, x = dst[done:], x[done:]; len(x) >= n && len(dst) >= n; dst, x = dst[n:], x[n:] {
		mean := float64(squares(x[:n])) / float64(n)
		scale(dst[:n], x[:n], w, float32(1/math.Sqrt(mean+float64(eps))))
	}
}
