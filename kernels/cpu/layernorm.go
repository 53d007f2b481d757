package cpu

import "math"

// LayerNorm writes (x−mean)·w/√(variance+eps) for each group of numbers; dst may be x. x and w have
// whole groups. If w has fewer groups than x, the groups of w are used again from the first on. Sums are taken
// in the lanes of ref.Dot. The mean is subtracted before the squares are summed.
func LayerNorm(dst, x, w []float32, group int, eps float32) {
	for at := 0; at < len(x); at += group {
		row, out := x[at:at+group], dst[at:at+group]
		mean := float32(float64(sum(row)) / float64(group))
		for i, v := range row {
			out[i] = v - mean
		}
		variance := float64(squares(out)) / float64(group)
		scale(out, out, w[at%len(w):][:group], float32(1/math.Sqrt(variance+float64(eps))))
	}
}

// sum adds in the lanes of ref.Dot.
func sum(x []float32) float32 {
	var sums [lanes]float32
	for ; len(x) >= lanes; x = x[lanes:] {
		for i, v := range x[:lanes] {
			sums[i] += v
		}
	}
	for i, v := range x {
		sums[i] += v
	}
	return fold(&sums)
}
