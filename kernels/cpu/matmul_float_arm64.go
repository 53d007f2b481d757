//go:build !noasm

package cpu

// mostDots is the largest number of activation rows that a kernel multiplies at once.
const mostDots = 3

// floats computes the columns first … last−1 of Dst, one block of weights after the other.
func (t *MatMulFloat) floats(first, last int) {
	rows := t.blockRows()
	for ; first < last; first += rows {
		t.block(first, min(first+rows, last))
	}
}

// block computes the columns first … last−1 of Dst, four weight rows at a time, for one group of
// activation rows after the other.
func (t *MatMulFloat) block(first, last int) {
	groups := (t.M + mostDots - 1) / mostDots
	for g := range groups {
		i := g * t.M / groups // equal sizes: a small group would do little work with the weights it reads
		m := (g+1)*t.M/groups - i
		for r := first; r < last; r += floatRows {
			t.group(r, last, i, m)
		}
	}
}

// group multiplies the weight rows r … min(r+3, last−1) with the activation rows i … i+m−1.
func (t *MatMulFloat) group(r, last, i, m int) {
	if r+floatRows <= last {
		dotGroup(t.Type, m, &t.Dst[i*t.Rows+r], &t.W[r*t.Cols*t.Type.bytes], &t.X[i*t.Cols], t.Cols, 4*t.Rows)
		return
	}
	// Fewer than four rows are left. Compute the last four rows of W, and drop the results that were
	// computed before. If W has fewer rows, zeros follow them (PadRows).
	var results [mostDots * floatRows]float32
	start := max(0, t.Rows-floatRows)
	dotGroup(t.Type, m, &results[0], &t.W[start*t.Cols*t.Type.bytes], &t.X[i*t.Cols], t.Cols, 4*floatRows)
	for j := range m {
		copy(t.Dst[(i+j)*t.Rows+r:(i+j)*t.Rows+last], results[j*floatRows+r-start:(j+1)*floatRows])
	}
}

// hasManyRows returns false: there is no kernel for many activation rows.
func (t *MatMulFloat) hasManyRows() bool            { return false }
func (t *MatMulFloat) multiplyMany(first, last int) {}

// dotGroup chooses the kernel with a switch over all cases. If it called a function value, the results
// would escape to the heap.
func dotGroup(n Number, m int, dst *float32, w *byte, x *float32, cols, stride int) {
	switch n {
	case F32:
		dotF32NEON(m, dst, w, x, cols, stride)
	case F16:
		dotF16NEON(m, dst, w, x, cols, stride)
	case BF16:
		dotBF16NEON(m, dst, w, x, cols, stride)
	}
}

func dotF32NEON(m int, dst *float32, w *byte, x *float32, cols, stride int) {
	switch m {
	case 1:
		dotF32x1NEON(dst, w, x, cols, stride)
	case 2:
		dotF32x2NEON(dst, w, x, cols, stride)
	case 3:
		dotF32x3NEON(dst, w, x, cols, stride)
	}
}

func dotF16NEON(m int, dst *float32, w *byte, x *float32, cols, stride int) {
	switch m {
	case 1:
		dotF16x1NEON(dst, w, x, cols, stride)
	case 2:
		dotF16x2NEON(dst, w, x, cols, stride)
	case 3:
		dotF16x3NEON(dst, w, x, cols, stride)
	}
}

func dotBF16NEON(m int, dst *float32, w *byte, x *float32, cols, stride int) {
	switch m {
	case 1:
		dotBF16x1NEON(dst, w, x, cols, stride)
	case 2:
		dotBF16x2NEON(dst, w, x, cols, stride)
	case 3:
		dotBF16x3NEON(dst, w, x, cols, stride)
	}
}
