package cpu

import (
	"encoding/binary"
	"math"
	"sync"
)

// MatMulDequantized computes dst (m, rows) = x (m, cols) · wᵀ with quantised weights and float32
// activations. Its bits are those of ref.MatMulF32 on weights that ref.Format.Dequantize wrote. Weights
// are converted to float32 when they are used, so they take no more memory than for
// MatMulQuantized.
//
// Some tiles of a panel are decoded to a buffer that stays in the cache, and multiplied from there
// with many activation rows. A vector lane is an output row, as in MatMulQuantized.
type MatMulDequantized struct {
	Dst  []float32 // (M, W.Rows)
	X    []float32 // (M, W.Cols)
	M    int
	W    *Panels
	Room *Room
}

// Room keeps the buffers of the threads of a MatMulDequantized for the next such task.
type Room struct{ pool sync.Pool }

// room is what one thread needs.
type room struct {
	decoded []float32 // (decodedTiles·Block, panelRows)
	sums    []float32 // (m, lanes, panelRows); on the portable level (m, floatRows)
	row     []float32 // (cols); this and weights are for the portable level
	weights []byte    // (floatRows, cols) float32
}

const (
	// decodedTiles is the number of tiles that are decoded at once, a divisor of tilesPerSuper. They
	// stay in the first-level cache, even if two threads share it.
	decodedTiles = 4
	// decodedRows is how many activation rows the decoded tiles are multiplied with. The sums of so
	// many rows stay in the second-level cache.
	decodedRows = 64
	// rowSums is the number of sums of an activation row with a panel.
	rowSums = lanes * panelRows
)

func (r *Room) take() *room {
	if one, ok := r.pool.Get().(*room); ok {
		return one
	}
	return &room{decoded: aligned(make([]float32, decodedTiles*Block*panelRows+lineFloats))}
}

func (r *Room) give(one *room) { r.pool.Put(one) }

// Items returns the number of panels.
func (t *MatMulDequantized) Items() int { return t.W.Items() }

// Work estimates the time, in multiplications. It includes the time to decode the weights.
func (t *MatMulDequantized) Work() int { return (t.M + decodeWork) * t.W.Rows * t.W.Cols }

// decodeWork is the time to decode a weight, in multiplications, on the portable level. The estimate
// matters most there.
const decodeWork = 16

// Do computes the columns of Dst that belong to the items from … to−1.
func (t *MatMulDequantized) Do(from, to int) {
	r := t.Room.take()
	defer t.Room.give(r)
	if !decodes() {
		t.portable(r, from, to)
		return
	}
	if need := min(t.M, decodedRows)*rowSums + lineFloats; len(r.sums) < need-lineFloats {
		r.sums = aligned(make([]float32, need))
	}
	for p := from; p < to; p++ {
		for first := 0; first < t.M; first += decodedRows {
			t.panel(r, p, first, min(decodedRows, t.M-first))
		}
	}
}

// panel multiplies a panel with the activation rows first … first+m−1.
func (t *MatMulDequantized) panel(r *room, p, first, m int) {
	f, cols, panel, sums := t.W.Format, t.W.Cols, t.W.panel(p), r.sums[:m*rowSums]
	clear(sums)
	for tile := 0; tile < cols/Block; tile += decodedTiles {
		n := min(decodedTiles, cols/Block-tile)
		decode(f, r.decoded, panel, tile, n)
		multiplyColumns(sums, r.decoded[:n*Block*panelRows], t.X[first*cols+tile*Block:], m, cols)
	}
	rows := min(panelRows, t.W.Rows-p*panelRows)
	for i := range m {
		s := sums[i*rowSums:][:rowSums]
		for n := rowSums / 2; n >= panelRows; n /= 2 { // by halves, as ref.Dot does
			Add(s[:n], s[n:2*n])
		}
		copy(t.Dst[(first+i)*t.W.Rows+p*panelRows:], s[:rows])
	}
}

// portable decodes a few weight rows at a time and multiplies them as MatMulFloat does.
func (t *MatMulDequantized) portable(r *room, from, to int) {
	if cols := t.W.Cols; len(r.row) < cols {
		r.row, r.weights = make([]float32, cols), make([]byte, 4*floatRows*cols)
	}
	if need := t.M * floatRows; len(r.sums) < need {
		r.sums = make([]float32, need)
	}
	last := min(to*panelRows, t.W.Rows)
	for first := from * panelRows; first < last; first += floatRows {
		t.group(r, first, min(floatRows, last-first))
	}
}

// group computes a few columns of Dst, at most floatRows.
func (t *MatMulDequantized) group(r *room, first, rows int) {
	cols := t.W.Cols
	for i := range rows {
		row := r.row[:cols]
		t.W.Row(row, first+i)
		out := r.weights[4*i*cols : 4*(i+1)*cols]
		for k, w := range row {
			binary.LittleEndian.PutUint32(out[4*k:], math.Float32bits(w))
		}
	}
	product := MatMulFloat{Dst: r.sums[:t.M*rows], X: t.X, M: t.M, Type: F32, W: r.weights[:4*rows*cols],
		Rows: rows, Cols: cols}
	product.Do(0, 1)
	for i := range t.M {
		copy(t.Dst[i*t.W.Rows+first:], product.Dst[i*rows:(i+1)*rows])
	}
}
