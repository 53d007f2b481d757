package ref

import (
	"encoding/binary"
	"math"
)

// Block is the number of activations that share a scale, and of weights that are unpacked together.
const Block = 32

// A block of activations whose largest magnitude is below SmallestMagnitude is quantised to zeros. Below
// 127·2⁻¹²⁶ ≈ 2⁻¹¹⁹ the scale would not be a normal float32.
const SmallestMagnitude = 0x1p-118

// QuantizeRow quantises activations x, a multiple of 32 numbers, to signed bytes and one float32
// scale per block of 32, so that x ≈ scale·quant. With a the largest magnitude of the block, scale
// = a/127 and quant = x·(127/a), rounded to nearest, ties to even, all in float32. A block with NaN
// or an infinity gets the scale NaN, so that the fault stays visible in every sum that uses it.
func QuantizeRow(quants []int8, scales []float32, x []float32) {
	for b := range scales {
		block := x[b*Block : (b+1)*Block]
		largest := 0.0
		for _, v := range block {
			largest = math.Max(largest, math.Abs(float64(v))) // NaN if a number is NaN
		}
		scale, inverse := float32(largest)/127, 127/float32(largest)
		switch {
		case math.IsNaN(largest) || math.IsInf(largest, 0):
			scale, inverse = float32(math.NaN()), 0
		case largest < SmallestMagnitude:
			scale, inverse = 0, 0
		}
		scales[b] = scale
		for k, v := range block {
			quants[b*Block+k] = 0
			if inverse != 0 {
				quants[b*Block+k] = int8(math.RoundToEven(float64(v * inverse)))
			}
		}
	}
}

// QuantizeQ8_0 packs x, a multiple of 32 numbers, into blocks of Q8_0: the scale of QuantizeRow,
// rounded to half precision, and then the quants. Q8_0.Dequantize unpacks them. A block whose largest
// magnitude is at most 127·2⁻²⁵ stands for zeros, because its scale is rounded to 0.
func QuantizeQ8_0(dst []byte, x []float32) {
	quants, scales := make([]int8, len(x)), make([]float32, len(x)/Block)
	QuantizeRow(quants, scales, x)
	for b, scale := range scales {
		block := dst[b*Q8_0.BlockBytes:]
		binary.LittleEndian.PutUint16(block, ToHalf(scale))
		for k, quant := range quants[b*Block : (b+1)*Block] {
			block[2+k] = byte(quant)
		}
	}
}
