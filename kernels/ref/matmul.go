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

// MatMulF32 writes dst (m, rows) = x (m, cols) · wᵀ to the bit, each element by Dot. F16 and BF16
// weights are first converted to float32, which is exact.
func MatMulF32(dst, x []float32, m int, w []float32, rows, cols int) {
	for i := range m {
		for r := range rows {
			dst[i*rows+r] = Dot(w[r*cols:(r+1)*cols], x[i*cols:(i+1)*cols])
		}
	}
}

// MatMulQuantized writes dst (m, rows) = x (m, cols) · wᵀ to the bit, for w in a quantised format
// and cols a multiple of its BlockElements. Each row of x is quantised by QuantizeRow. The 32
// products of a block of activations are summed as integers, which is exact. The blocks are added
// in ascending order, starting from zero. Each adds float32(dot) · (weight scale · activation
// scale), and then, in formats with minima, min · (activation scale · sum of the activations'
// quants).
func MatMulQuantized(dst, x []float32, m int, f Format, w []byte, rows, cols int) {
	rowBytes := cols / f.BlockElements * f.BlockBytes
	quants := make([]int8, cols)
	scales := make([]float32, cols/Block)
	for i := range m {
		QuantizeRow(quants, scales, x[i*cols:(i+1)*cols])
		for r := range rows {
			dst[i*rows+r] = f.dot(w[r*rowBytes:(r+1)*rowBytes], quants, scales)
		}
	}
}

func (f Format) dot(w []byte, quants []int8, scales []float32) float32 {
	var sum float32
	parts := f.BlockElements / Block
	for b := range scales {
		scale, min, weights := f.unpack(w[b/parts*f.BlockBytes:], b%parts)
		var dot, total int32
		for k, q := range quants[b*Block : (b+1)*Block] {
			dot += weights[k] * int32(q)
			total += int32(q)
		}
		sum += float32(float32(dot) * float32(scale*scales[b]))
		if f.Mins() {
			sum += float32(min * float32(scales[b]*float32(total)))
		}
	}
	return sum
}
