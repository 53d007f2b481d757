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
func dotPacked(w []byte, words []int64, scales [][group]float32) [group]float32 {
	var sum0, sum1, sum2 float32
	for b := range scales {
		block := (*[BlockBytesQ8_0]byte)(w[b*BlockBytesQ8_0:])
		scale := half(uint16(block[0]) | uint16(block[1])<<8)
		dot0, dot1, dot2 := fields(dotBlock((*[Block]byte)(block[2:]), (*[Block]int64)(words[b*Block:])))
		sum0 += float32(float32(dot0) * float32(scale*scales[b][0]))
		sum1 += float32(float32(dot1) * float32(scale*scales[b][1]))
		sum2 += float32(float32(dot2) * float32(scale*scales[b][2]))
	}
	return [group]float32{sum0, sum1, sum2}
}

// fields unpacks three sums. The lowest is sign extended; taking it away clears its borrow from the one above.
func fields(packed int64) (a, b, c int32) {
	const above = 64 - fieldBits
	low := packed << above >> above
	packed = (packed - low) >> fieldBits
	middle := packed << above >> above
	high := (packed - middle) >> fieldBits
	return int32(low), int32(middle), int32(high)
}

// dotBlock sums quant·word over a block. It is written out because constant indices cost neither a check nor an address.
func dotBlock(q *[Block]byte, w *[Block]int64) int64 {
	a := int64(int8(q[0]))*w[0] + int64(int8(q[1]))*w[1] + int64(int8(q[2]))*w[2] + int64(int8(q[3]))*w[3]
	b := int64(int8(q[4]))*w[4] + int64(int8(q[5]))*w[5] + int64(int8(q[6]))*w[6] + int64(int8(q[7]))*w[7]
	c := int64(int8(q[8]))*w[8] + int64(int8(q[9]))*w[9] + int64(int8(q[10]))*w[10] + int64(int8(q[11]))*w[11]
	d := int64(int8(q[12]))*w[12] + int64(int8(q[13]))*w[13] + int64(int8(q[14]))*w[14] + int64(int8(q[15]))*w[15]
	a += int64(int8(q[16]))*w[16] + int64(int8(q[17]))*w[17] + int64(int8(q[18]))*w[18] + int64(int8(q[19]))*w[19]
	b += int64(int8(q[20]))*w[20] + int64(int8(q[21]))*w[21] + int64(int8(q[22]))*w[22] + int64(int8(q[23]))*w[23]
	c += int64(int8(q[24]))*w[24] + int64(int8(q[25]))*w[25] + int64(int8(q[26]))*w[26] + int64(int8(q[27]))*w[27]
	d += int64(int8(q[28]))*w[28] + int64(int8(q[29]))*w[29] + int64(int8(q[30]))*w[30] + int64(int8(q[31]))*w[31]
	return (a + b) + (c + d)
}
