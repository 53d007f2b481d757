package cpu

import "unsafe"

// MatMulQuantized computes dst (m, rows) = x (m, cols) · wᵀ with the bits of ref.MatMulQuantized.
// Its items are the panels of W.
//
// The 32 products of a tile are summed as integers, which is exact on every level. The tiles are
// added in ascending order. A tile is read from memory once and used for all rows of a batch.
type MatMulQuantized struct {
	Dst []float32  // (X.m, W.Rows)
	X   *Quantized // (m, W.Cols)
	W   *Panels

	Prefetching
}

// batchRows is the largest number of activation rows whose sums with a panel stay in the first-level
// cache. It is a multiple of wordRows and of the rows of an AMX tile.
const batchRows = 96

// Items returns the number of panels.
func (t *MatMulQuantized) Items() int { return t.W.Items() }

// ColumnParts returns the number of items if all compute equally many columns of Dst, else 1.
func (t *MatMulQuantized) ColumnParts() int {
	if t.W.Rows%panelRows != 0 {
		return 1
	}
	return t.Items()
}

// Work returns the number of multiplications.
func (t *MatMulQuantized) Work() int { return t.X.m * t.W.Rows * t.W.Cols }

// Do computes the columns of Dst that belong to the panels from … to−1.
func (t *MatMulQuantized) Do(from, to int) {
	// Use the smallest array that suffices: Go clears it at every call, which slows small products
	// down.
	switch {
	case t.X.m == 1:
		var sums [panelRows + lineFloats]float32
		t.multiply(aligned(sums[:]), from, to)
	case t.X.m <= fewRows:
		var sums [fewRows*panelRows + lineFloats]float32
		t.multiply(aligned(sums[:]), from, to)
	default:
		var sums [batchRows*panelRows + lineFloats]float32
		t.multiply(aligned(sums[:]), from, to)
	}
}

// lineFloats is the number of float32 in a cache line.
const lineFloats = 16

// aligned returns the part of sums that begins at a cache line, one line shorter than sums. To load or
// store a vector that lies in two lines takes twice the time.
func aligned(sums []float32) []float32 {
	first := -uintptr(unsafe.Pointer(&sums[0])) / 4 % lineFloats
	return sums[first:][:len(sums)-lineFloats]
}

// With at most fewRows rows, about as many as a verification has, the memory of the results is not
// prefetched, and Do uses a smaller array.
const fewRows = 9

// groupBytes is the size of a group of panels, which is multiplied with all batches of rows before
// the next group is read. A group of this size stays in the second-level cache.
const groupBytes = 512 << 10

// multiply computes panels group by group. All sums must be zero (see multiplyPanel).
func (t *MatMulQuantized) multiply(sums []float32, from, to int) {
	most := len(sums) / panelRows
	group := max(1, groupBytes/t.W.each)
	for ; from < to; from += group {
		last := min(from+group, to)
		for first := 0; first < t.X.m; first += most {
			batch := sums[:min(most, t.X.m-first)*panelRows]
			for p := from; p < last; p++ {
				t.panel(batch, p, first)
			}
		}
	}
}

// panel multiplies panel p with a batch of rows that starts at row first. sums has room for the batch.
func (t *MatMulQuantized) panel(sums []float32, p, first int) {
	dst := t.Dst[first*t.W.Rows+p*panelRows:]
	if m := len(sums) / panelRows; m > fewRows {
		askForRows(dst, m, t.W.Rows)
	}
	if n := t.W.Rows - p*panelRows; n < panelRows {
		t.lastPanel(dst, sums, p, first, n)
		return
	}
	multiplyPanel(dst, t.W.Rows, sums, t.W.Format, t.W.panel(p), t.X, first, t.Prefetching)
}

// lastPanel multiplies the last panel, of which only n rows are weights and the rest are zeros.
func (t *MatMulQuantized) lastPanel(dst, sums []float32, p, first, n int) {
	var all [batchRows * panelRows]float32
	multiplyPanel(all[:], panelRows, sums, t.W.Format, t.W.panel(p), t.X, first, t.Prefetching)
	for i := range len(sums) / panelRows {
		copy(dst[i*t.W.Rows:][:n], all[i*panelRows:])
	}
}

// moveSumsGeneric copies sums (m, 32) to rows of dst that are stride numbers apart, and then clears
// them.
func moveSumsGeneric(dst, sums []float32, stride int) {
	for i := range len(sums) / panelRows {
		copy(dst[i*stride:][:panelRows], sums[i*panelRows:])
	}
	clear(sums)
}
