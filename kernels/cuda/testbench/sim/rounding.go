package sim

import "math"

// The NaN that hardware returns for arithmetic without a defined result.
const (
	nan32 = 0x7fffffff
	// In double precision, hardware returns the NaN of an operand. The simulator always returns this one.
	nan64 = 0x7fffffffffffffff
	nan16 = 0x7fff
)

func number32(u uint64) float32 { return math.Float32frombits(uint32(u)) }
func number64(u uint64) float64 { return math.Float64frombits(u) }

func bits32(f float32) uint64 {
	if f != f {
		return nan32
	}
	return uint64(math.Float32bits(f))
}

func bits64(f float64) uint64 {
	if f != f {
		return nan64
	}
	return math.Float64bits(f)
}

// fuse is a·b + c rounded once. The product is exact in double precision. The sum is rounded to double
// precision, and then to float. This is wrong only if the double lies exactly between two floats and
// the exact sum does not, or if the result may be subnormal. In these cases the sum is rounded to odd
// instead. Source: Boldo and Melquiond, Emulation of a FMA and correctly rounded sums: proved
// algorithms using rounding to odd, 2008.
func fuse(a, b, c float32) float32 {
	product := float64(a) * float64(b)
	sum := product + float64(c)
	u := math.Float64bits(sum)
	const half = 1 << 28 // a float has 29 bits less; this is half a unit of its last place
	if u&(2*half-1) != half && math.Abs(sum) >= 0x1p-125 {
		return float32(sum)
	}
	if sum == 0 || math.IsInf(sum, 0) || sum != sum {
		return float32(sum)
	}
	return float32(toOdd(product, float64(c), sum))
}

// toOdd takes the rounded sum of a and b. Of the two numbers next to the exact sum, it returns the one
// whose last bit is odd.
func toOdd(a, b, sum float64) float64 {
	back := sum - a
	lost := (a - (sum - back)) + (b - back)
	u := math.Float64bits(sum)
	if lost == 0 || u&1 == 1 {
		return sum
	}
	if (lost > 0) == (sum > 0) {
		return math.Float64frombits(u + 1)
	}
	return math.Float64frombits(u - 1)
}

// widenHalf is the value of an IEEE binary16.
func widenHalf(h uint16) float32 {
	sign, exponent, fraction := uint32(h&0x8000)<<16, uint32(h>>10&31), uint32(h&0x3ff)
	switch exponent {
	case 0:
		f := float32(fraction) * 0x1p-24
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+112)<<23 | fraction<<13)
}

func widenBfloat(h uint16) float32 { return math.Float32frombits(uint32(h) << 16) }

// narrow rounds x to a float with the given numbers of exponent and fraction bits, to nearest, ties to
// even. It rounds only once.
func narrow(x float64, exponentBits, fractionBits int) uint64 {
	sign := uint64(0)
	if math.Signbit(x) {
		sign = 1 << (exponentBits + fractionBits)
	}
	x = math.Abs(x)
	bias := 1<<(exponentBits-1) - 1
	infinity := uint64(1<<exponentBits-1) << fractionBits
	if x == 0 {
		return sign
	}
	if math.IsInf(x, 0) {
		return sign | infinity
	}
	_, exponent := math.Frexp(x) // x = [0.5,1)·2^exponent
	exponent = max(exponent-1, 1-bias)
	steps := math.RoundToEven(math.Ldexp(x, fractionBits-exponent)) // exact before rounding: a power of two
	u := uint64(steps)
	if u>>fractionBits != 0 { // normal: the leading one counts as part of the exponent
		u += uint64(exponent+bias-1) << fractionBits
	}
	return sign | min(u, infinity)
}

func narrowHalf(x float64) uint64 {
	if x != x {
		return nan16
	}
	return narrow(x, 5, 10)
}

func narrowBfloat(x float64) uint64 {
	if x != x {
		return nan16
	}
	return narrow(x, 8, 7)
}
