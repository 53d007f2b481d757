package ref

import "math"

// FromHalf converts an IEEE binary16 number to float32, which is exact.
func FromHalf(bits uint16) float32 { return half(byte(bits), byte(bits>>8)) }

// ToHalf rounds to IEEE binary16, to nearest, ties to even, as the PTX instruction cvt.rn.f16.f32 does.
// Magnitudes from 65520 on become infinite, and NaN becomes 0x7fff.
func ToHalf(v float32) uint16 {
	sign := uint16(math.Float32bits(v) >> 16 & 0x8000)
	magnitude := math.Abs(float64(v))
	switch {
	case math.IsNaN(magnitude):
		return 0x7fff
	case magnitude >= 65520:
		return sign | 0x7c00
	}
	// The result is counted in units of its last place. All subnormal numbers have the unit of the
	// smallest normal number.
	_, exponent := math.Frexp(max(magnitude, 0x1p-14))
	units := math.RoundToEven(math.Ldexp(magnitude, 11-exponent)) // 0 … 2048
	return sign | uint16((exponent+13)<<10+int(units))
}
