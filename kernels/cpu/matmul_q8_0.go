package cpu

// MatMulQ8_0 computes dst (m, rows) = x (m, cols) · wᵀ to the bits of ref.MatMulQ8_0; its items are the rows of w.
type MatMulQ8_0 struct {
	Dst  []float32 // (X.m, Rows)
	X    *Packed   // (m, cols)
	W    []byte    // (Rows, cols/32) blocks as in the file
	Rows int
}

// Do computes columns from … to−1 of Dst.
func (t *MatMulQ8_0) Do(from, to int) {
	m, cols := t.X.m, t.X.cols
	blocks := cols / Block
	rowBytes := blocks * BlockBytesQ8_0
	for r := from; r < to; r++ {
		w := t.W[r*rowBytes : (r+1)*rowBytes]
		for i := 0; i < m; i += group {
			g := i / group
			sums := dotPacked(w, t.X.words[g*cols:(g+1)*cols], t.X.scales[g*blocks:(g+1)*blocks])
			for j := range min(group, m-i) {
				t.Dst[(i+j)*t.Rows+r] = sums[j]
			}
		}
	}
}

// Work is the number of multiplications.
func (t *MatMulQ8_0) Work() int { return (t.X.m + group - 1) / group * t.Rows * t.X.cols }

// dotPacked is the inner product of one weight row and three activation rows, block after block.
func dotPacked(w []byte, words []int64, scales [][group]float32) (sums [group]float32) {
	for b := range scales {
		if len(w) < BlockBytesQ8_0 || len(words) < Block {
			break // never taken; it spares the checks below
		}
		scale := half(uint16(w[0]) | uint16(w[1])<<8)
		packed := dotBlock((*[Block]byte)(w[2:]), (*[Block]int64)(words))
		for j := range sums {
			// The lowest field, sign extended; taking it away clears its borrow from the field above.
			field := packed << (64 - fieldBits) >> (64 - fieldBits)
			packed = (packed - field) >> fieldBits
			sums[j] += float32(float32(field) * float32(scale*scales[b][j]))
		}
		w, words = w[BlockBytesQ8_0:], words[Block:]
	}
	return sums
}

// dotBlock sums quant·word over a block, in four chains because a single one would wait for each addition.
func dotBlock(quants *[Block]byte, words *[Block]int64) int64 {
	var a, b, c, d int64
	for k := 0; k < Block; k += 4 {
		a += int64(int8(quants[k])) * words[k]
		b += int64(int8(quants[k+1])) * words[k+1]
		c += int64(int8(quants[k+2])) * words[k+2]
		d += int64(int8(quants[k+3])) * words[k+3]
	}
	return (a + b) + (c + d)
}
