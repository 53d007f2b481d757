package ref

import "specula/kernels/format"

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

// MatMulF32 writes dst (m, rows) = x (m, cols) · wᵀ. Dot defines the bits of each element. For F16 and BF16
// weights, the caller first converts w to float32, which is exact.
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
// quants). Two kinds of formats differ (dot). With HalfScales, the two halves of a block are added one
// after the other. With factors in nibbles, the products of the minima are first summed as integers.
func MatMulQuantized(dst, x []float32, m int, f Format, w []byte, rows, cols int) {
	quants, blocks := make([]int8, m*cols), cols/Block
	scales := make([]float32, m*blocks)
	for i := range m {
		QuantizeRow(quants[i*cols:(i+1)*cols], scales[i*blocks:(i+1)*blocks], x[i*cols:(i+1)*cols])
	}
	rowBytes := cols / f.BlockElements * f.BlockBytes
	for r := range rows {
		weights := f.unpackRow(w[r*rowBytes:(r+1)*rowBytes], blocks)
		for i := range m {
			dst[i*rows+r] = f.dot(weights, quants[i*cols:(i+1)*cols], scales[i*blocks:(i+1)*blocks])
		}
	}
}

// dot is the product of a row of weights and a row of activations, given as quants and scales.
func (f Format) dot(weights []part, quants []int8, scales []float32) float32 {
	var sum float32
	for b, scale := range scales {
		p := &weights[b]
		var dots, totals [2]int32
		for k, q := range quants[b*Block : (b+1)*Block] {
			dots[k/16] += p.quants[k] * int32(q)
			totals[k/16] += int32(q)
		}
		switch f.Factors {
		case format.HalfScales:
			sum += float32(float32(dots[0]) * float32(p.scales[0]*scale))
			sum += float32(float32(dots[1]) * float32(p.scales[1]*scale))
		case format.Nibbles:
			sum += float32(float32(dots[0]+dots[1]) * float32(p.scales[0]*scale))
			sum += float32(float32(p.mins[0]*totals[0]+p.mins[1]*totals[1]) * float32(p.min*scale))
		default:
			sum += float32(float32(dots[0]+dots[1]) * float32(p.scales[0]*scale))
			if f.Mins() {
				sum += float32(p.min * float32(scale*float32(totals[0]+totals[1])))
			}
		}
	}
	return sum
}
