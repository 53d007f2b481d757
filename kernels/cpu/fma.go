package cpu

import "math"

// fusable is w·x + sum in float64, where the product is exact. Rounded to float32 it has the bits
// of ref.FMA, unless mayRoundTwice. Because the product is exact, it does not matter whether the
// compiler fuses this expression.
func fusable(w, x, sum float32) float64 { return float64(w)*float64(x) + float64(sum) }

// mayRoundTwice reports whether the rounding to float64 may have moved a sum onto a tie of float32.
// A float64 has 29 more fraction bits than a float32; at a tie they are a one and then zeros. A sum
// that is subnormal in float32 has fewer bits there, so every such sum counts.
func mayRoundTwice(sum float64) bool {
	const excessBits = 29
	u := math.Float64bits(sum)
	return u<<(64-excessBits) == 1<<63 || u<<1 < math.Float64bits(0x1p-126)<<1
}

// fma has the bits of ref.FMA. A tie must be decided by what the rounding to float64 lost; making
// the last bit odd keeps that information. Source: Boldo and Melquiond, Emulation of a FMA and
// correctly rounded sums, 2008.
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
