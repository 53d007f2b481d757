//go:build !noasm

package cpu

// With many activation rows the arithmetic takes most of the time, if all operands come from the
// caches. There are two ways with the same bits. Near (this file) keeps 16-bit weights in the cache
// and converts them again for each group of activation rows. Wide (matmul_wide_amd64.go) converts
// them once for a batch of groups, and reads twice the bytes from the second-level cache. Near is
// faster if the processor converts and multiplies at the same time: measureWays finds out.

const (
	// manyRows is the least number of activation rows for which Near and Wide are faster than floats. So
	// many rows can always be divided into groups of 5 or 6.
	manyRows = 8 * mostDots
	// A batch has nearGroups groups of activation rows. While it is multiplied, nearRows weight rows
	// of nearCols columns stay in the second-level cache, and a group's activation rows in the
	// first-level cache.
	nearRows   = 64
	nearCols   = 1024
	nearGroups = 4
)

// sumsOfGroup is the number of float32 in the sums of four weight rows with the rows of a group.
const sumsOfGroup = mostDots * floatRows * lanes

// hasManyRows reports whether multiplyMany is faster than floats.
func (t *MatMulFloat) hasManyRows() bool { return t.M >= manyRows && level >= AVX512 }

// multiplyMany computes the columns first … last−1 of Dst, a multiple of four, for manyRows rows or
// more.
func (t *MatMulFloat) multiplyMany(first, last int) {
	switch {
	case t.WidenFirst:
		t.multiplyWidened(first, last)
	case t.Cols <= nearCols:
		t.multiplyNear(nil, first, last)
	default:
		var sums [nearGroups*nearRows/floatRows*sumsOfGroup + lineFloats]float32
		t.multiplyNear(aligned(sums[:]), first, last)
	}
}

// multiplyNear has three loops: over blocks of nearRows weight rows, over batches of nearGroups groups
// of activation rows, and over parts of nearCols columns. With more than one part, sums keeps the
// sums from part to part; otherwise it is nil.
func (t *MatMulFloat) multiplyNear(sums []float32, first, last int) {
	groups := (t.M + mostDots - 1) / mostDots
	for ; first < last; first += nearRows {
		end := min(first+nearRows, last)
		for g := 0; g < groups; g += nearGroups {
			for k := 0; k < t.Cols; k += nearCols {
				t.nearBatch(sums, first, end, k, g, min(g+nearGroups, groups), groups)
			}
		}
	}
}

// nearBatch multiplies the columns k … k+nearCols−1 of the weight rows first … last−1 with the groups
// fromGroup … toGroup−1 of activation rows.
func (t *MatMulFloat) nearBatch(sums []float32, first, last, k, fromGroup, toGroup, groups int) {
	p := piece{k: k, cols: min(nearCols, t.Cols-k)}
	size := t.Cols * t.Type.bytes
	for g := fromGroup; g < toGroup; g++ {
		p.i = g * t.M / groups
		p.m = (g+1)*t.M/groups - p.i
		p.prefetch = t.prefetchRows(p.m)
		p.ahead = floatRows * size // the next four rows
		for r := first; r < last; r += floatRows {
			if sums != nil {
				p.sums = &sums[((g-fromGroup)*nearRows+r-first)/floatRows*sumsOfGroup]
			}
			if r+floatRows >= last {
				p.ahead = t.aheadOfBlock(&p, r, first, g+1 == toGroup)
			}
			dotMany(t.Type, &p, &t.Dst[p.i*t.Rows+r], &t.W[r*size+k*t.Type.bytes], &t.X[p.i*t.Cols+k],
				t.Cols, 4*t.Rows)
		}
	}
}

// aheadOfBlock returns which weights to prefetch while the block's last four rows, r … r+3, are multiplied: the
// distance in bytes from row r to them. They are the block's first rows again, for the next group; after the
// last group of a batch the first rows of the next part of the columns; and after the last part those of the
// next block.
func (t *MatMulFloat) aheadOfBlock(p *piece, r, first int, lastGroup bool) int {
	switch {
	case !lastGroup:
		return (first - r) * t.Cols * t.Type.bytes
	case p.k+p.cols < t.Cols:
		return ((first-r)*t.Cols + p.cols) * t.Type.bytes
	}
	return (floatRows*t.Cols - p.k) * t.Type.bytes
}

func dotMany(n Number, p *piece, dst *float32, w *byte, x *float32, rowCols, dstBytes int) {
	begun, more := p.k > 0, p.k+p.cols < rowCols
	switch {
	case n == F32 && p.m == 5:
		dotManyF32x5AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case n == F32:
		dotManyF32x6AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case n == F16 && p.m == 5:
		dotManyF16x5AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case n == F16:
		dotManyF16x6AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case n == BF16 && p.m == 5:
		dotManyBF16x5AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	case n == BF16:
		dotManyBF16x6AVX512(dst, p.sums, w, x, p.cols, rowCols, dstBytes, begun, more, p.ahead, p.apart,
			p.pace, p.back)
	}
}
