//go:build !noasm

package cpu

// Weights are converted to float32 once for a batch of activation rows, because converting a row takes
// about as long as multiplying it with six rows. The sizes below keep 4 weight rows and 6 activation
// rows of wideCols columns in the first-level cache, the block and the batch in the second-level cache.
const (
	wideRows   = 16   // weight rows in a block
	wideCols   = 1024 // columns in a part; between parts the sums are kept in memory
	wideGroups = 16   // groups of activation rows in a batch
)

// wide is the scratch memory of a thread.
type wide struct {
	weights []float32 // (wideRows/4, cols/16, 4, 16)
	sums    []float32 // (wideGroups, wideRows/floatRows), sumsOfGroup numbers each
}

// multiplyWidened computes the columns first … last−1 of Dst, a multiple of four, for manyRows rows
// or more.
func (t *MatMulFloat) multiplyWidened(first, last int) {
	var weights [wideRows*wideCols + lineFloats]float32
	var sums [wideGroups*wideRows/floatRows*sumsOfGroup + lineFloats]float32
	w := wide{aligned(weights[:]), aligned(sums[:])}
	groups := (t.M + mostDots - 1) / mostDots
	batches := (groups + wideGroups - 1) / wideGroups
	for b := range batches {
		for r := first; r < last; r += wideRows {
			t.batch(&w, r, min(r+wideRows, last), b*groups/batches, (b+1)*groups/batches, groups)
		}
	}
}

// batch multiplies the weight rows first … last−1 with the groups fromGroup … toGroup−1 of
// activation rows, one part of the columns after the other.
func (t *MatMulFloat) batch(w *wide, first, last, fromGroup, toGroup, groups int) {
	for k := 0; k < t.Cols; k += wideCols {
		cols := min(wideCols, t.Cols-k)
		for r := first; r < last; r++ {
			widenRow(t.Type, &w.weights[(r-first)/floatRows*floatRows*cols+(r-first)%floatRows*lanes],
				&t.W[(r*t.Cols+k)*t.Type.bytes], cols)
		}
		for g := fromGroup; g < toGroup; g++ {
			i, end := g*t.M/groups, (g+1)*t.M/groups
			for r := first; r < last; r += floatRows {
				sums := ((g-fromGroup)*wideRows + r - first) / floatRows * sumsOfGroup
				next, pace := t.after(r+(g-fromGroup)%floatRows, k, cols)
				dotWide(end-i, &t.Dst[i*t.Rows+r], &w.sums[sums], &w.weights[(r-first)*cols],
					&t.X[i*t.Cols+k],
					cols, 4*t.Cols, 4*t.Rows, k > 0, k+cols < t.Cols, next, pace)
			}
		}
	}
}

// after returns the weights that are converted after columns k … k+cols−1 of row r. pace is how many
// bytes of them to prefetch per 16 columns; 0 if nothing follows. The caller lets each of four successive
// groups prefetch another of the four rows.
func (t *MatMulFloat) after(r, k, cols int) (next *byte, pace int) {
	k += cols
	if k == t.Cols {
		r, k = r+wideRows, 0
	}
	if r >= t.Rows {
		return &t.W[0], 0
	}
	return &t.W[(r*t.Cols+k)*t.Type.bytes], lanes * t.Type.bytes
}

func widenRow(n Number, dst *float32, src *byte, cols int) {
	switch n {
	case F32:
		widenF32AVX512(dst, src, cols)
	case F16:
		widenF16AVX512(dst, src, cols)
	case BF16:
		widenBF16AVX512(dst, src, cols)
	}
}

func dotWide(m int, dst, sums, w, x *float32, cols, xBytes, dstBytes int, begun, more bool,
	next *byte, pace int) {
	switch m {
	case 5:
		dotWidex5AVX512(dst, sums, w, x, cols, xBytes, dstBytes, begun, more, next, pace)
	case 6:
		dotWidex6AVX512(dst, sums, w, x, cols, xBytes, dstBytes, begun, more, next, pace)
	}
}
