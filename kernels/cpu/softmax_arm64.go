//go:build !noasm

package cpu

// Each function of this file processes the leading numbers of a row, as many as a multiple of 8
// allows, and returns how many. Portable code processes the rest.

func expRow(sums *[doubleLanes]float64, dst []float64, x []float32, peak, factor float64) int {
	n := whole(len(x), doubleLanes)
	if n > 0 {
		expRowNEON(sums, &dst[0], &x[0], n, peak, factor)
	}
	return n
}

func multiplyRow(x []float64, factor float64) int {
	n := whole(len(x), doubleLanes)
	if n > 0 {
		multiplyRowNEON(&x[0], n, factor)
	}
	return n
}
