// Package graph draws numbers with characters. [Stack] draws a column of parts, [Bar] and [Columns]
// draw bars, all in eighths of a cell. Bars also exist in ASCII, for terminals without Unicode.
//
// Invariant: functions are pure; they take values and return text or cells without colour, of exactly
// the height asked for.
package graph

import "math"

// NiceMax returns the least round number that is not below v (1, 1.5, 2, 3, 4, 5, 6 or 8 times a power of
// ten), so that an axis seldom changes. It returns 1 if v is infinite or not above 0.
func NiceMax(v float64) float64 {
	if !(v > 0) || math.IsInf(v, 0) {
		return 1
	}
	unit := math.Pow(10, math.Floor(math.Log10(v)))
	for _, step := range []float64{1, 1.5, 2, 3, 4, 5, 6, 8, 10} {
		if v <= step*unit*(1+1e-9) {
			return step * unit
		}
	}
	return 10 * unit
}
