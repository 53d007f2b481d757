//go:build !noasm

package cpu

// Each function of this file processes the first numbers of a row and returns how many: the largest multiple
// of 8, or 0 on the portable level (whole). Portable code processes the rest.

func expRow(sums *[doubleLanes]float64, dst []float64, x []float32, peak, factor float64) int {
	n := whole(len(x), doubleLanes)
	switch {
	case n == 0:
	case level >= AVX512:
		expRowAVX512(sums, &dst[0], &x[0], n, peak, factor)
	default:
		expRowAVX2(sums, &dst[0], &x[0], n, peak, factor)
	}
	return n
}

func multiplyRow(x []float64, factor float64) int {
	n := whole(len(x), doubleLanes)
	switch {
	case n == 0:
	case level >= AVX512:
		multiplyRowAVX512(&x[0], n, factor)
	default:
		multiplyRowAVX2(&x[0], n, factor)
	}
	return n
}
