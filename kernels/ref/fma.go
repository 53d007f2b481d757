package ref

import "math"

// FMA is a·b + c, rounded once to nearest, ties to even. In float64 the product is exact. If the sum is
// not exact and its last bit is 0, the next float64 on the side of the exact sum takes its place. Rounding
// this to float32 gives the same as a single rounding. Source: Boldo and Melquiond, Emulation of a FMA and
// correctly rounded sums, 2008.
func FMA(a, b, c float32) float32 {
	product := float64(a) * float64(b)
	sum := product + float64(c)
	back := sum - product
	lost := (product - (sum - back)) + (float64(c) - back)
	if u := math.Float64bits(sum); lost != 0 && u&1 == 0 && !math.IsInf(sum, 0) && !math.IsNaN(sum) {
		if (lost > 0) == (sum > 0) {
			sum = math.Float64frombits(u + 1)
		} else {
			sum = math.Float64frombits(u - 1)
		}
	}
	return float32(sum)
}
