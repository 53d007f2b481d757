package ref

// MatMul writes dst (m, rows) = x (m, cols) · wᵀ in float64.
func MatMul(dst []float64, x []float32, m int, w []float32, rows, cols int) {
	for i := range m {
		for r := range rows {
			sum := 0.0
			for k := range cols {
				sum += float64(w[r*cols+k]) * float64(x[i*cols+k])
			}
			dst[i*rows+r] = sum
		}
	}
}

// MatMulF32 writes dst (m, rows) = x (m, cols) · wᵀ to the bit, each element by Dot.
// F16 and BF16 weights are widened to float32, which is exact, and then multiplied like this.
func MatMulF32(dst, x []float32, m int, w []float32, rows, cols int) {
	for i := range m {
		for r := range rows {
			dst[i*rows+r] = Dot(w[r*cols:(r+1)*cols], x[i*cols:(i+1)*cols])
		}
	}
}

// MatMulQ8_0 writes dst (m, rows) = x (m, cols) · wᵀ to the bit, for w in Q8_0 and cols a multiple of 32.
// Each row of x is quantised by QuantizeRow; the 32 products of a block are summed as integers, which is exact;
// and the blocks are added in ascending order, starting from zero, as float32(dot) · (weight scale · activation scale).
func MatMulQ8_0(dst, x []float32, m int, w []byte, rows, cols int) {
	rowBytes := cols / Block * BlockBytesQ8_0
	quants := make([]int8, cols)
	scales := make([]float32, cols/Block)
	for i := range m {
		QuantizeRow(quants, scales, x[i*cols:(i+1)*cols])
		for r := range rows {
			dst[i*rows+r] = dotQ8_0(w[r*rowBytes:(r+1)*rowBytes], quants, scales)
		}
	}
}

func dotQ8_0(w []byte, quants []int8, scales []float32) float32 {
	var sum float32
	for b := range scales {
		block := w[b*BlockBytesQ8_0 : (b+1)*BlockBytesQ8_0]
		var dot int32
		for k := range Block {
			dot += int32(int8(block[2+k])) * int32(quants[b*Block+k])
		}
		scale := float32(half(block[0], block[1]) * scales[b])
		sum += float32(float32(dot) * scale)
	}
	return sum
}
