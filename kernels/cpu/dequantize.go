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

// DequantizeF16 widens little-endian half-precision numbers, exactly.
func DequantizeF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = half(binary.LittleEndian.Uint16(src[2*i:]))
	}
}

// DequantizeBF16 widens little-endian bfloat16 numbers, exactly.
func DequantizeBF16(dst []float32, src []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(uint32(binary.LittleEndian.Uint16(src[2*i:])) << 16)
	}
}

// half widens an IEEE 754 half-precision number, exactly. Shifted into place, exponent and mantissa are those of a float32
// that is 2¹¹² too small, also when subnormal; the multiplication puts that right.
func half(h uint16) float32 {
	const exponentMask = 0x7c00
	sign := uint32(h&0x8000) << 16
	magnitude := uint32(h&0x7fff) << 13
	if h&exponentMask == exponentMask { // infinity or NaN
		return math.Float32frombits(sign | magnitude | 0xff<<23)
	}
	return math.Float32frombits(sign | math.Float32bits(math.Float32frombits(magnitude)*0x1p112))
}
