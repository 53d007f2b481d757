package gguf

import (
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
)

// q8Block is the number of elements that share a scale in Q8_0. A block is the scale as F16, then
// 32 int8.
const q8Block = 32

// HasCodec reports whether Encode and Decode support the type. Weights of other types can only be
// given to a backend as they are.
func HasCodec(t compute.DType) bool {
	return t == compute.F32 || t == compute.F16 || t == compute.BF16 || t == compute.Q8_0
}

// Encode packs values as tensor data of a type that has a codec. It rounds to nearest, ties to
// even; Q8_0 rounds its quants half away from zero, as ggml does. It panics if the type has no
// codec or len(values) is not a multiple of the type's block.
func Encode(t compute.DType, values []float32) []byte {
	info, ok := Type(t)
	if !ok || !HasCodec(t) || uint64(len(values))%info.BlockElements != 0 {
		panic(fmt.Sprintf("gguf: cannot encode %d numbers as %s", len(values), TypeName(t)))
	}
	out := make([]byte, 0, uint64(len(values))/info.BlockElements*info.BlockBytes)
	if t == compute.Q8_0 {
		for i := 0; i < len(values); i += q8Block {
			out = appendQ8Block(out, values[i:i+q8Block])
		}
		return out
	}
	for _, v := range values {
		switch t {
		case compute.F32:
			out = binary.LittleEndian.AppendUint32(out, math.Float32bits(v))
		case compute.F16:
			out = binary.LittleEndian.AppendUint16(out, float16(v))
		case compute.BF16:
			out = binary.LittleEndian.AppendUint16(out, bfloat16(v))
		}
	}
	return out
}

// appendQ8Block quantises as ggml does: scale = max|v|/127 in float32, quotients rounded half away
// from zero. Then it stores the scale as F16.
func appendQ8Block(out []byte, block []float32) []byte {
	var largest float32
	for _, v := range block {
		largest = max(largest, float32(math.Abs(float64(v))))
	}
	scale := largest / 127
	var inverse float32
	if scale != 0 {
		inverse = 1 / scale
	}
	out = binary.LittleEndian.AppendUint16(out, float16(scale))
	for _, v := range block {
		out = append(out, byte(int8(math.Round(float64(v*inverse)))))
	}
	return out
}

// Decode unpacks tensor data into float32, for a type that has a codec. This is exact for F32, F16
// and BF16; for Q8_0 it gives scale·quant. It fails if the type has no codec or the data end inside
// a block.
func Decode(t compute.DType, data []byte) ([]float32, error) {
	info, ok := Type(t)
	if !ok || !HasCodec(t) {
		return nil, fmt.Errorf("unpacking a tensor: %s is not supported, allowed are F32, F16, BF16 and Q8_0", TypeName(t))
	}
	if uint64(len(data))%info.BlockBytes != 0 {
		return nil, fmt.Errorf("unpacking a tensor: got %d bytes of %s, allowed are multiples of %d", len(data), info.Name, info.BlockBytes)
	}
	out := make([]float32, 0, uint64(len(data))/info.BlockBytes*info.BlockElements)
	for ; len(data) > 0; data = data[info.BlockBytes:] {
		switch t {
		case compute.F32:
			out = append(out, math.Float32frombits(binary.LittleEndian.Uint32(data)))
		case compute.F16:
			out = append(out, fromFloat16(binary.LittleEndian.Uint16(data)))
		case compute.BF16:
			out = append(out, math.Float32frombits(uint32(binary.LittleEndian.Uint16(data))<<16))
		case compute.Q8_0:
			scale := fromFloat16(binary.LittleEndian.Uint16(data))
			for _, q := range data[2 : 2+q8Block] {
				out = append(out, scale*float32(int8(q)))
			}
		}
	}
	return out, nil
}

// bfloat16 rounds a float32 to its 16 most significant bits, to nearest even. NaN stays NaN.
func bfloat16(v float32) uint16 {
	b := math.Float32bits(v)
	if b&0x7fffffff > 0x7f800000 {
		return uint16(b>>16) | 0x40
	}
	return uint16((b + 0x7fff + b>>16&1) >> 16)
}

// float16 rounds to IEEE 754 binary16, to nearest even: 1 sign, 5 exponent (bias 15) and 10
// fraction bits.
func float16(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	magnitude := b & 0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // rounds to more than 65504, the largest number
		return sign | 0x7c00
	case magnitude < 0x38800000: // subnormal: count units of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(magnitude))*(1<<24)))
	}
	rounded := magnitude + 0xfff + magnitude>>13&1
	return sign | uint16((rounded-(127-15)<<23)>>13)
}

func fromFloat16(h uint16) float32 {
	sign := uint32(h&0x8000) << 16
	exponent, fraction := uint32(h>>10&0x1f), uint32(h&0x3ff)
	switch exponent {
	case 0: // zero and subnormals: fraction · 2⁻²⁴
		return math.Float32frombits(sign | math.Float32bits(float32(fraction)/(1<<24)))
	case 31:
		return math.Float32frombits(sign | 0x7f800000 | fraction<<13)
	}
	return math.Float32frombits(sign | (exponent+127-15)<<23 | fraction<<13)
}
