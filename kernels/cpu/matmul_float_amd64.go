//go:build !noasm

package cpu

// mostDots is the number of activation rows that a kernel of AVX-512 multiplies with a weight row at once.
const mostDots = 6

// block computes columns first … last−1 of Dst, four weight rows at a time, and asks for the weights one or two times four rows further on. Where
// several groups of activation rows read a block, each asks for its share of the block behind instead, so that memory is read as long as they compute.
func (t *MatMulFloat) block(first, last int) {
	together := 1
	if level >= AVX512 {
		together = mostDots
	}
	groups := (t.M + together - 1) / together
	rowBytes := t.Cols * t.Type.bytes
	step := floatRows * lanes * t.Type.bytes / groups
	for g := range groups {
		i := g * t.M / groups // groups of equal size: a small one has little to do with the weights it reads
		m := (g+1)*t.M/groups - i
		ahead := floatRows * rowBytes
		switch {
		case groups > 1:
			ahead = (last-first)*rowBytes + g*floatRows*rowBytes/groups
		case m > 1:
			ahead *= 2
		}
		for r := first; r < last; r += floatRows {
			t.group(r, last, i, m, ahead, step)
		}
	}
}

// group multiplies weight rows r … r+3, or those up to last, with activation rows i … i+m−1.
func (t *MatMulFloat) group(r, last, i, m, ahead, step int) {
	if r+floatRows <= last {
		dotGroup(t.Type, m, &t.Dst[i*t.Rows+r], &t.W[r*t.Cols*t.Type.bytes], &t.X[i*t.Cols], t.Cols, 4*t.Rows, ahead, step)
		return
	}
	// The last rows are too few: with those before they make four, whose results are dropped.
	var results [mostDots * floatRows]float32
	start := t.Rows - floatRows
	dotGroup(t.Type, m, &results[0], &t.W[start*t.Cols*t.Type.bytes], &t.X[i*t.Cols], t.Cols, 4*floatRows, 0, 0)
	for j := range m {
		copy(t.Dst[(i+j)*t.Rows+r:(i+j)*t.Rows+last], results[j*floatRows+r-start:(j+1)*floatRows])
	}
}

// dotGroup is written out case by case: through a function value the results would escape to the heap.
func dotGroup(n Number, m int, dst *float32, w *byte, x *float32, cols, stride, ahead, step int) {
	if level == AVX2 {
		switch n {
		case F32:
			dotF32x1AVX2(dst, w, x, cols, stride, ahead, step)
		case F16:
			dotF16x1AVX2(dst, w, x, cols, stride, ahead, step)
		case BF16:
			dotBF16x1AVX2(dst, w, x, cols, stride, ahead, step)
		}
		return
	}
	switch n {
	case F32:
		dotF32AVX512(m, dst, w, x, cols, stride, ahead, step)
	case F16:
		dotF16AVX512(m, dst, w, x, cols, stride, ahead, step)
	case BF16:
		dotBF16AVX512(m, dst, w, x, cols, stride, ahead, step)
	}
}

func dotF32AVX512(m int, dst *float32, w *byte, x *float32, cols, stride, ahead, step int) {
	switch m {
	case 1:
		dotF32x1AVX512(dst, w, x, cols, stride, ahead, step)
	case 2:
		dotF32x2AVX512(dst, w, x, cols, stride, ahead, step)
	case 3:
		dotF32x3AVX512(dst, w, x, cols, stride, ahead, step)
	case 4:
		dotF32x4AVX512(dst, w, x, cols, stride, ahead, step)
	case 5:
		dotF32x5AVX512(dst, w, x, cols, stride, ahead, step)
	case 6:
		dotF32x6AVX512(dst, w, x, cols, stride, ahead, step)
	}
}

func dotF16AVX512(m int, dst *float32, w *byte, x *float32, cols, stride, ahead, step int) {
	switch m {
	case 1:
		dotF16x1AVX512(dst, w, x, cols, stride, ahead, step)
	case 2:
		dotF16x2AVX512(dst, w, x, cols, stride, ahead, step)
	case 3:
		dotF16x3AVX512(dst, w, x, cols, stride, ahead, step)
	case 4:
		dotF16x4AVX512(dst, w, x, cols, stride, ahead, step)
	case 5:
		dotF16x5AVX512(dst, w, x, cols, stride, ahead, step)
	case 6:
		dotF16x6AVX512(dst, w, x, cols, stride, ahead, step)
	}
}

func dotBF16AVX512(m int, dst *float32, w *byte, x *float32, cols, stride, ahead, step int) {
	switch m {
	case 1:
		dotBF16x1AVX512(dst, w, x, cols, stride, ahead, step)
	case 2:
		dotBF16x2AVX512(dst, w, x, cols, stride, ahead, step)
	case 3:
		dotBF16x3AVX512(dst, w, x, cols, stride, ahead, step)
	case 4:
		dotBF16x4AVX512(dst, w, x, cols, stride, ahead, step)
	case 5:
		dotBF16x5AVX512(dst, w, x, cols, stride, ahead, step)
	case 6:
		dotBF16x6AVX512(dst, w, x, cols, stride, ahead, step)
	}
}
