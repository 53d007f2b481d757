//go:build !noasm

package cpu

// mostDots is the number of activation rows that a kernel of AVX-512 multiplies with a weight row at once.
const mostDots = 6

// block computes columns first … last−1 of Dst, four weight rows at a time. While a block is new, the rows one or two groups ahead are asked for;
// the last group of activation rows asks for the block behind this one, so that memory is read while it computes.
func (t *MatMulFloat) block(first, last int) {
	together := 1
	if level >= AVX512 {
		together = mostDots
	}
	groups := (t.M + together - 1) / together
	for g := range groups {
		i := g * t.M / groups // groups of equal size: a small one has little to do with the weights it reads
		m := (g+1)*t.M/groups - i
		ahead := floatRows * t.Cols * t.Type.bytes
		if m > 1 {
			ahead *= 2
		}
		if i > 0 && i+m == t.M {
			ahead = (last - first) * t.Cols * t.Type.bytes
		}
		for r := first; r < last; r += floatRows {
			t.group(r, last, i, m, ahead)
		}
	}
}

// group multiplies weight rows r … r+3, or those up to last, with activation rows i … i+m−1.
func (t *MatMulFloat) group(r, last, i, m, ahead int) {
	if r+floatRows <= last {
		dotGroup(t.Type, m, &t.Dst[i*t.Rows+r], &t.W[r*t.Cols*t.Type.bytes], &t.X[i*t.Cols], t.Cols, 4*t.Rows, ahead)
		return
	}
	// The last rows are too few: with those before they make four, whose results are dropped.
	var results [mostDots * floatRows]float32
	start := t.Rows - floatRows
	dotGroup(t.Type, m, &results[0], &t.W[start*t.Cols*t.Type.bytes], &t.X[i*t.Cols], t.Cols, 4*floatRows, 0)
	for j := range m {
		copy(t.Dst[(i+j)*t.Rows+r:(i+j)*t.Rows+last], results[j*floatRows+r-start:(j+1)*floatRows])
	}
}

// dotGroup is written out case by case: through a function value the results would escape to the heap.
func dotGroup(n Number, m int, dst *float32, w *byte, x *float32, cols, stride, ahead int) {
	if level == AVX2 {
		switch n {
		case F32:
			dotF32x1AVX2(dst, w, x, cols, stride, ahead)
		case F16:
			dotF16x1AVX2(dst, w, x, cols, stride, ahead)
		case BF16:
			dotBF16x1AVX2(dst, w, x, cols, stride, ahead)
		}
		return
	}
	switch n {
	case F32:
		dotF32AVX512(m, dst, w, x, cols, stride, ahead)
	case F16:
		dotF16AVX512(m, dst, w, x, cols, stride, ahead)
	case BF16:
		dotBF16AVX512(m, dst, w, x, cols, stride, ahead)
	}
}

func dotF32AVX512(m int, dst *float32, w *byte, x *float32, cols, stride, ahead int) {
	switch m {
	case 1:
		dotF32x1AVX512(dst, w, x, cols, stride, ahead)
	case 2:
		dotF32x2AVX512(dst, w, x, cols, stride, ahead)
	case 3:
		dotF32x3AVX512(dst, w, x, cols, stride, ahead)
	case 4:
		dotF32x4AVX512(dst, w, x, cols, stride, ahead)
	case 5:
		dotF32x5AVX512(dst, w, x, cols, stride, ahead)
	case 6:
		dotF32x6AVX512(dst, w, x, cols, stride, ahead)
	}
}

func dotF16AVX512(m int, dst *float32, w *byte, x *float32, cols, stride, ahead int) {
	switch m {
	case 1:
		dotF16x1AVX512(dst, w, x, cols, stride, ahead)
	case 2:
		dotF16x2AVX512(dst, w, x, cols, stride, ahead)
	case 3:
		dotF16x3AVX512(dst, w, x, cols, stride, ahead)
	case 4:
		dotF16x4AVX512(dst, w, x, cols, stride, ahead)
	case 5:
		dotF16x5AVX512(dst, w, x, cols, stride, ahead)
	case 6:
		dotF16x6AVX512(dst, w, x, cols, stride, ahead)
	}
}

func dotBF16AVX512(m int, dst *float32, w *byte, x *float32, cols, stride, ahead int) {
	switch m {
	case 1:
		dotBF16x1AVX512(dst, w, x, cols, stride, ahead)
	case 2:
		dotBF16x2AVX512(dst, w, x, cols, stride, ahead)
	case 3:
		dotBF16x3AVX512(dst, w, x, cols, stride, ahead)
	case 4:
		dotBF16x4AVX512(dst, w, x, cols, stride, ahead)
	case 5:
		dotBF16x5AVX512(dst, w, x, cols, stride, ahead)
	case 6:
		dotBF16x6AVX512(dst, w, x, cols, stride, ahead)
	}
}
