package ref

import "math"

// SlabColumns is the number of columns that a tensor-core product takes at a time. The last slab is
// filled up with zeros.
const SlabColumns = 128

// stepColumns is the number of columns that one tensor-core instruction sums.
const stepColumns = 16

// RangeBegin returns the first slab of range r, if the slabs are divided into ranges as evenly as possible.
func RangeBegin(r, slabs, ranges int) int { return slabs * r / ranges }

// Rounding rounds a row x of activations to 16-bit numbers, as float32, for a tensor-core product.
// Multiplied by factor they are close to x.
type Rounding func(x []float32) (rounded []float32, factor float32)

// MatMulTiles writes dst (m, rows) = x (m, cols) · wᵀ as the GPU kernels compute it for 16-bit
// weights, which are given as float32.
//
// Columns are divided into slabs of 128, and slabs into ranges. A range is summed from zero in
// steps of 16 columns: the products in ascending order, each fused into the sum. The sums of the
// ranges are added in ascending order, and the total is multiplied by the factor of the Rounding. Real
// tensor cores may add the 16 products of a step in another order.
func MatMulTiles(dst, x []float32, m int, w []float32, rows, cols, ranges int, round Rounding) {
	slabs := (cols + SlabColumns - 1) / SlabColumns
	for i := range m {
		rounded, factor := round(x[i*cols : (i+1)*cols])
		for r := range rows {
			row := w[r*cols : (r+1)*cols]
			total := float32(0)
			for a := range ranges {
				sum := float32(0)
				for step := RangeBegin(a, slabs, ranges) * SlabColumns; step < RangeBegin(a+1, slabs,
					ranges)*SlabColumns; step += stepColumns {
					for k := step; k < step+stepColumns; k++ {
						sum = FMA(at(row, k), at(rounded, k), sum)
					}
				}
				if a == 0 {
					total = sum
				} else {
					total += sum
				}
			}
			if factor != 1 {
				total *= factor
			}
			dst[i*rows+r] = total
		}
	}
}

func at(list []float32, i int) float32 {
	if i < len(list) {
		return list[i]
	}
	return 0
}

// ToBFloat16s is the Rounding to bfloat16. It does not scale, so the factor that it returns is 1.
func ToBFloat16s(x []float32) ([]float32, float32) {
	rounded := make([]float32, len(x))
	for k, v := range x {
		rounded[k] = RoundBFloat16(v)
	}
	return rounded, 1
}

// ToHalves rounds to half precision, after scaling the row by a power of two that brings its
// largest magnitude to 2¹⁴ … 2¹⁵. The power is at most 2¹²⁶. A row whose largest magnitude is below
// 2⁻¹³³, and a row with NaN or an infinity, is not scaled.
func ToHalves(x []float32) ([]float32, float32) {
	var largest uint32
	for _, v := range x {
		largest = max(largest, math.Float32bits(v)&0x7fffffff)
	}
	shift := 0
	if upper := largest >> 16; upper != 0 && upper < 0x7f80 {
		shift = min(14-(int(upper>>7)-127), 126)
	}
	rounded := make([]float32, len(x))
	for k, v := range x {
		rounded[k] = RoundHalf(float32(math.Ldexp(float64(v), shift)))
	}
	return rounded, float32(math.Ldexp(1, -shift))
}

// RoundBFloat16 rounds to the nearest bfloat16, ties to even.
func RoundBFloat16(v float32) float32 {
	u := math.Float32bits(v)
	if v != v {
		return v
	}
	return math.Float32frombits((u + 0x7fff + u>>16&1) &^ 0xffff)
}

// RoundHalf rounds to the nearest half-precision number, ties to even. Magnitudes from 65520 on
// become infinite.
func RoundHalf(v float32) float32 {
	f := float64(v)
	if v == 0 || v != v || math.IsInf(f, 0) {
		return v
	}
	_, exponent := math.Frexp(f)
	ulp := math.Ldexp(1, max(exponent-11, -24))
	f = math.RoundToEven(f/ulp) * ulp
	if math.Abs(f) > 65504 {
		return float32(math.Inf(int(math.Copysign(1, f))))
	}
	return float32(f)
}

// MatMulQuantizedRanges is MatMulQuantized with the blocks divided into ranges, which begin at multiples
// of slabColumns columns. Each range is summed from zero, and the sums of the ranges are added in
// ascending order. With one range the bits are those of MatMulQuantized.
func MatMulQuantizedRanges(dst, x []float32, m int, f Format, w []byte, rows, cols, slabColumns, ranges int) {
	rowBytes := cols / f.BlockElements * f.BlockBytes
	slabs := (cols + slabColumns - 1) / slabColumns
	quants := make([]int8, cols)
	scales := make([]float32, cols/Block)
	for i := range m {
		QuantizeRow(quants, scales, x[i*cols:(i+1)*cols])
		for r := range rows {
			weights := f.unpackRow(w[r*rowBytes:(r+1)*rowBytes], cols/Block)
			total := float32(0)
			for a := range ranges {
				from, to := RangeBegin(a, slabs, ranges)*slabColumns, min(RangeBegin(a+1, slabs,
					ranges)*slabColumns, cols)
				sum := f.dot(weights[from/Block:], quants[from:to], scales[from/Block:to/Block])
				if a == 0 {
					total = sum
				} else {
					total += sum
				}
			}
			dst[i*rows+r] = total
		}
	}
}
