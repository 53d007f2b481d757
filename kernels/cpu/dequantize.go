package cpu

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

// DequantizeF16 converts little-endian half-precision numbers to float32, which is exact.
func DequantizeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = half(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// DequantizeBF16 converts little-endian bfloat16 numbers to float32, which is exact.
func DequantizeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

// half converts an IEEE 754 half-precision number to float32, which is exact. It shifts exponent and
// mantissa to their places in a float32, which then is too small by the factor 2¹¹², also for subnormal
// numbers. The multiplication corrects this.
func half(h uint16) float32 {
	const exponentMask = 0x7c00
	sign := uint32(h&0x8000) << 16
	magnitude := uint32(h&0x7fff) << 13
	if h&exponentMask == exponentMask { // infinity or NaN
		return math.Float32frombits(sign | magnitude | 0xff<<23)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(magnitude)*0x1p112))
}
