package cpu

import "math"

// fusable is w·x + sum in double precision, where the product is exact. Rounded to single precision it is ref.FMA to the bit, unless
// mayRoundTwice. (Whether a compiler fuses this very expression makes no difference, for the same reason.)
func fusable(w, x, sum float32) float64 { return float64(w)*float64(x) + float64(sum) }

// mayRoundTwice tells the sums that rounding to double precision may have moved onto a tie of single precision: those whose 29 excess
// bits are a one and zeros, and all whose single-precision form would be subnormal and has fewer bits.
func mayRoundTwice(sum float64) bool {
	const excessBits = 29
	u := math.Float64bits(sum)
	return u<<(64-excessBits) == 1<<63 || u<<1 < math.Float64bits(0x1p-126)<<1
}

// fma is ref.FMA to the bit. What the rounding to double precision lost decides ties: it is kept by making the last bit odd.
// Source: Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008.
func fma(w, x, sum float32) float32 {
	product, addend := float64(w)*float64(x), float64(sum)
	rounded := product + addend
	back := rounded - product
	lost := (product - (rounded - back)) + (addend - back)
	if u := math.Float64bits(rounded); lost != 0 && lost == lost && u&1 == 0 {
		if (lost > 0) == (rounded > 0) {
			u++
		} else {
			u--
		}
		rounded = math.Float64frombits(u)
	}
	return float32(rounded)
}
