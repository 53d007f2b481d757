package ref

import (
	"encoding/binary"
	"math"
)

// DequantizeF32 decodes little-endian float32 numbers.
func DequantizeF32(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(src[4*i:]))
	}
}

// DequantizeF16 converts little-endian IEEE 754 half-precision numbers to float32, which is exact.
func DequantizeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = half(src[2*i], src[2*i+1])
	}
}

// DequantizeBF16 converts little-endian bfloat16 numbers, which are the upper halves of float32
// numbers. This is exact.
func DequantizeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

// half decodes a half-precision number from two little-endian bytes: sign (1 bit), exponent (5
// bits, bias 15) and mantissa (10 bits).
func half(low, high byte) float32 {
	sign := 1.0
	if high&0x80 != 0 {
		sign = -1
	}
	exponent := int(high>>2) & 0x1f
	mantissa := float64(int(high&3)<<8|int(low)) / 1024
	switch exponent {
	case 0:
		return float32(sign * math.Ldexp(mantissa, -14))
	case 31:
		if mantissa != 0 {
			return float32(math.NaN())
		}
		return float32(math.Inf(int(sign)))
	}
	return float32(sign * math.Ldexp(1+mantissa, exponent-15))
}
