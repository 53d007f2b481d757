//go:build !noasm

package cpu

const (
	// mostFew is the largest number of activation rows that one AVX-512 kernel multiplies.
	mostFew = 9
	// mostDots is the largest number of activation rows whose sums with four weight rows fit into
	// the registers. With more rows, a kernel takes two weight rows and then the other two. With
	// more than mostFew, rows are divided into groups of at most mostDots, and all groups except
	// the first read the weights from the second-level cache.
	mostDots = 6
	// partBytes is the size of the activations in a part of the columns. They stay in the
	// first-level cache while a block of weights is read.
	partBytes = 40 << 10
	// partItems is the number of items in a block of weights that is multiplied part by part. The sums of
	// more items would need too much cache; with fewer, the activations would be read from the second-level
	// cache too often.
	partItems = 8
	// leastParts is the least number of activation rows for which columns are divided into parts.
	// With fewer rows, reading the weights takes longer than reading the activations.
	leastParts = 4
	// lineBytes is the size of a cache line.
	lineBytes = 64
)

// piece is the work of one kernel call, for four weight rows.
type piece struct {
	i, m    int      // activation rows i … i+m−1
	k, cols int      // columns k … k+cols−1
	sums    *float32 // where the sums are kept between parts of the columns
	prefetch
}

// prefetch says which cache lines a kernel prefetches in each step of 16 columns: several, with apart
// bytes from one to the next. In the first step, the first line lies ahead bytes after the weights in
// use. After odd steps all lines move by pace bytes, after even steps by back bytes.
type prefetch struct{ ahead, apart, pace, back int }

// floats computes the columns first … last−1 of Dst.
func (t *MatMulFloat) floats(first, last int) {
	groups, parts := 1, (4*t.M*t.Cols+partBytes-1)/partBytes
	switch {
	case level == AVX2:
		groups, parts = t.M, 1
	case t.M > mostFew:
		groups, parts = (t.M+mostDots-1)/mostDots, 1
	case t.M < leastParts:
		parts = 1
	}
	if parts > 1 {
		t.byParts(first, last, (t.Cols/lanes+parts-1)/parts*lanes)
		return
	}
	rows := t.blockRows()
	for ; first < last; first += rows {
		t.byGroups(first, min(first+rows, last), groups)
	}
}

// byGroups computes the columns first … last−1 of Dst, one group of activation rows after the
// other.
func (t *MatMulFloat) byGroups(first, last, groups int) {
	for g := range groups {
		i := g * t.M / groups // equal sizes: a small group would do little work with the weights it reads
		p := piece{i: i, m: (g+1)*t.M/groups - i, cols: t.Cols}
		switch {
		case groups > 1:
			p.prefetch = t.prefetchNextBlock(last-first, g, groups)
		case p.m > mostDots:
			p.prefetch = t.prefetchRows(p.m)
		default:
			p.prefetch = t.prefetchInOrder(min(p.m, 2) * floatRows * t.Cols * t.Type.bytes)
		}
		for r := first; r < last; r += floatRows {
			t.item(r, last, p)
		}
	}
}

// prefetchInOrder returns a prefetch of weights in the order of their addresses, which memory serves faster
// than four places in turn.
func (t *MatMulFloat) prefetchInOrder(ahead int) prefetch {
	pace := floatRows * lanes * t.Type.bytes
	return prefetch{ahead, lineBytes, pace, pace}
}

// prefetchNextBlock returns the prefetch of group g's part of the next block of weights. Every group
// prefetches an equal part, so memory is busy for as long as the block is multiplied.
func (t *MatMulFloat) prefetchNextBlock(rows, g, groups int) prefetch {
	size := t.Cols * t.Type.bytes
	p := t.prefetchInOrder(rows*size + g*floatRows*size/groups)
	p.pace, p.back = p.pace/groups, p.back/groups
	return p
}

// prefetchRows prefetches the columns in use two items further on: one line for each weight row that
// the kernel for m rows multiplies together. If a line has 32 columns, and so lasts for two steps, a
// kernel with four weight rows prefetches the lines of two rows in each step. A kernel with two weight
// rows prefetches each line twice, which helps: the processor drops requests when memory is too busy.
func (t *MatMulFloat) prefetchRows(m int) prefetch {
	size := t.Cols * t.Type.bytes
	p := prefetch{ahead: 2 * floatRows * size, apart: size, pace: lanes * t.Type.bytes,
		back: lanes * t.Type.bytes}
	if m <= mostDots && p.pace < lineBytes {
		p.pace, p.back = 2*size, lineBytes-2*size
	}
	return p
}

// itemSums is the number of sums that an item keeps between parts of the columns.
const itemSums = floatRows * mostFew * lanes

// byParts computes the columns first … last−1 of Dst for one group of activation rows. It goes
// block by block, and within a block one part of the columns after the other.
func (t *MatMulFloat) byParts(first, last, part int) {
	var memory [partItems*itemSums + lineFloats]float32
	sums := aligned(memory[:])
	p := piece{m: t.M, prefetch: t.prefetchRows(t.M)}
	for ; first < last; first += partItems * floatRows {
		end := min(first+partItems*floatRows, last)
		for p.k = 0; p.k < t.Cols; p.k += part {
			p.cols = min(part, t.Cols-p.k)
			for r := first; r < end; r += floatRows {
				p.sums = &sums[(r-first)/floatRows*itemSums]
				t.item(r, end, p)
			}
		}
	}
}

// item multiplies the weight rows r … r+3, or fewer up to last.
func (t *MatMulFloat) item(r, last int, p piece) {
	x := &t.X[p.i*t.Cols+p.k]
	if r+floatRows <= last {
		dotGroup(t.Type, p, &t.Dst[p.i*t.Rows+r], &t.W[(r*t.Cols+p.k)*t.Type.bytes], x, t.Cols, 4*t.Rows)
		return
	}
	// Fewer than four rows are left. Compute the last four rows of W, and drop the results that were
	// computed before. If W has fewer rows, zeros follow them (PadRows).
	var results [mostFew * floatRows]float32
	start := max(0, t.Rows-floatRows)
	p.prefetch = prefetch{}
	dotGroup(t.Type, p, &results[0], &t.W[(start*t.Cols+p.k)*t.Type.bytes], x, t.Cols, 4*floatRows)
	for j := range p.m {
		copy(t.Dst[(p.i+j)*t.Rows+r:(p.i+j)*t.Rows+last], results[j*floatRows+r-start:(j+1)*floatRows])
	}
}

// dotGroup chooses the kernel with a switch over all cases. If it called a function value, the results
// would escape to the heap.
func dotGroup(n Number, p piece, dst *float32, w *byte, x *float32, rowCols, dstBytes int) {
	switch {
	case level == AVX2:
		dotOneAVX2(n, p, dst, w, x)
	case p.m == 1:
		dotOneAVX512(n, p, dst, w, x)
	default:
		begun, more := p.k > 0, p.k+p.cols < rowCols
		switch n {
		case F32:
			dotF32AVX512(p, dst, w, x, rowCols, dstBytes, begun, more)
		case F16:
			dotF16AVX512(p, dst, w, x, rowCols, dstBytes, begun, more)
		case BF16:
			dotBF16AVX512(p, dst, w, x, rowCols, dstBytes, begun, more)
		}
	}
}

func dotOneAVX2(n Number, p piece, dst *float32, w *byte, x *float32) {
	switch n {
	case F32:
		dotF32x1AVX2(dst, w, x, p.cols, p.ahead, p.pace)
	case F16:
		dotF16x1AVX2(dst, w, x, p.cols, p.ahead, p.pace)
	case BF16:
		dotBF16x1AVX2(dst, w, x, p.cols, p.ahead, p.pace)
	}
}

func dotOneAVX512(n Number, p piece, dst *float32, w *byte, x *float32) {
	switch n {
	case F32:
		dotF32x1AVX512(dst, w, x, p.cols, p.ahead, p.pace)
	case F16:
		dotF16x1AVX512(dst, w, x, p.cols, p.ahead, p.pace)
	case BF16:
		dotBF16x1AVX512(dst, w, x, p.cols, p.ahead, p.pace)
	}
}

func dotF32AVX512(p piece, dst *float32, w *byte, x *float32, rowCols, dstBytes int, begun, more bool) {
	switch p.m {
	case 2:
		dotF32x2AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 3:
		dotF32x3AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 4:
		dotF32x4AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 5:
		dotF32x5AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 6:
		dotF32x6AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 7:
		dotF32x7AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 8:
		dotF32x8AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 9:
		dotF32x9AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	}
}

func dotF16AVX512(p piece, dst *float32, w *byte, x *float32, rowCols, dstBytes int, begun, more bool) {
	switch p.m {
	case 2:
		dotF16x2AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 3:
		dotF16x3AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 4:
		dotF16x4AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 5:
		dotF16x5AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 6:
		dotF16x6AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 7:
		dotF16x7AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 8:
		dotF16x8AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 9:
		dotF16x9AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	}
}

func dotBF16AVX512(p piece, dst *float32, w *byte, x *float32, rowCols, dstBytes int, begun, more bool) {
	switch p.m {
	case 2:
		dotBF16x2AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 3:
		dotBF16x3AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 4:
		dotBF16x4AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 5:
		dotBF16x5AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 6:
		dotBF16x6AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 7:
		dotBF16x7AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 8:
		dotBF16x8AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case 9:
		dotBF16x9AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	}
}
