package cpu

// MatMulF32 computes dst (m, rows) = x (m, cols) · wᵀ to the bits of ref.MatMulF32; its items are the rows of w.
// A row of w is used for every row of x while it is in the nearest cache.
type MatMulF32 struct {
	Dst  []float32 // (M, Rows)
	X    []float32 // (M, Cols)
	M    int
	W    []float32 // (Rows, Cols)
	Rows int
	Cols int
}

// Do computes columns from … to−1 of Dst.
func (t *MatMulF32) Do(from, to int) {
	for r := from; r < to; r++ {
		w := t.W[r*t.Cols : (r+1)*t.Cols]
		for i := range t.M {
			t.Dst[i*t.Rows+r] = dot(w, t.X[i*t.Cols:(i+1)*t.Cols])
		}
	}
}

// Work is the number of multiplications.
func (t *MatMulF32) Work() int { return t.M * t.Rows * t.Cols }
