package cpu

import "math"

// fusable is w·x + sum in float64. Rounded to float32 it has the bits of ref.FMA, unless
// mayRoundTwice says otherwise. The product is exact in float64, so the bits are the same whether or
// not the compiler fuses this expression.
func fusable(w, x, sum float32) float64 { return float64(w)*float64(x) + float64(sum) }

// mayRoundTwice reports whether a sum, rounded to float64, may lie halfway between two float32
// numbers although the exact sum does not. A float64 has 29 more fraction bits than a float32; halfway
// between two float32 numbers, these bits are a one and then zeros. The result is true for every sum
// that is subnormal in float32, where a float32 has fewer bits.
func mayRoundTwice(sum float64) bool {
	const excessBits = 29
	u := math.Float64bits(sum)
	return u<<(64-excessBits) == 1<<63 || u<<1 < math.Float64bits(0x1p-126)<<1
}

// fma has the bits of ref.FMA. If the sum is inexact in float64 and its last bit is 0, fma takes the next
// float64 on the side of the exact sum, so that the rounding to float32 goes to the right side. Source:
// Boldo and Melquiond, Emulation of a FMA and correctly rounded sums, 2008.
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
