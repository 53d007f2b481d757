package cpu

// MatMulQuantized computes dst (m, rows) = x (m, cols) · wᵀ to the bits of ref.MatMulQuantized; its items are the panels of W.
//
// The 32 products of a tile are summed as integers, which is exact on every level, and the tiles are added in ascending
// order. A tile is read from memory once and used for all rows of a batch.
type MatMulQuantized struct {
	Dst []float32  // (X.m, W.Rows)
	X   *Quantized // (m, W.Cols)
	W   *Panels
}

// batchRows is the number of activation rows that a panel is multiplied with while their sums lie in the nearest cache, a multiple
// of wordRows.
const batchRows = 48

// Items is the number of panels.
func (t *MatMulQuantized) Items() int { return t.W.Items() }

// Work is about the time, in multiplications of the portable level.
func (t *MatMulQuantized) Work() int { return t.X.m * t.W.Rows * t.W.Cols }

// Do computes the columns of Dst that belong to panels from … to−1.
func (t *MatMulQuantized) Do(from, to int) {
	var sums [batchRows * panelRows]float32
	for p := from; p < to; p++ {
		for first := 0; first < t.X.m; first += batchRows {
			batch := sums[:min(batchRows, t.X.m-first)*panelRows]
			clear(batch)
			multiplyPanel(batch, t.W.Format, t.W.panel(p), t.X, first)
			for i := 0; len(batch) > 0; i, batch = i+1, batch[panelRows:] {
				copy(t.Dst[(first+i)*t.W.Rows : (first+i+1)*t.W.Rows][p*panelRows:], batch[:panelRows])
			}
		}
	}
}
