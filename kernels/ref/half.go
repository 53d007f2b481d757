package ref

import "math"

// FromHalf widens an IEEE binary16 number, exactly.
func FromHalf(bits uint16) float32 { return half(byte(bits), byte(bits>>8)) }

// ToHalf rounds to IEEE binary16, to nearest and ties to even, as cvt.rn.f16.f32 does: magnitudes from 65520 on become infinite, and
// NaN becomes 0x7fff.
func ToHalf(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	magnitude := math.Abs(float64(v))
	switch {
	case math.IsNaN(magnitude):
		return 0x7fff
	case magnitude >= 65520:
		return sign | 0x7c00
	}
	// A unit in the last place of the result; subnormal numbers all have that of the smallest normal one.
	_, exponent := math.Frexp(max(magnitude, 0x1p-14))
	units := math.RoundToEven(math.Ldexp(magnitude, 11-exponent)) // 0 … 2048
	return sign | uint16((exponent+13)<<10+int(units))
}
