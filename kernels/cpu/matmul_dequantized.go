package cpu

import (
	"encoding/binary"
	"math"
	"sync"
)

// MatMulDequantized computes dst (m, rows) = x (m, cols) · wᵀ with quantised weights and
// activations that are not: with the bits of ref.MatMulF32 on weights that ref.Dequantize wrote.
// Each weight becomes a float32 number when it is needed, so the weights take no more memory than
// for MatMulQuantized. That makes it slow.
type MatMulDequantized struct {
	Dst  []float32 // (M, W.Rows)
	X    []float32 // (M, W.Cols)
	M    int
	W    *Panels
	Room *Room
}

// Room keeps what threads need while they compute a MatMulDequantized, for the next one.
type Room struct{ pool sync.Pool }

// room is what one thread needs.
type room struct {
	row     []float32 // (cols)
	weights []byte    // (floatRows, cols) float32
	sums    []float32 // (m, floatRows)
}

// take returns a room of this size. Give it back by give.
func (r *Room) take(cols, m int) *room {
	one, ok := r.pool.Get().(*room)
	if !ok {
		one = &room{}
	}
	if len(one.row) < cols {
		one.row, one.weights = make([]float32, cols), make([]byte, 4*floatRows*cols)
	}
	if len(one.sums) < m*floatRows {
		one.sums = make([]float32, m*floatRows)
	}
	return one
}

func (r *Room) give(one *room) { r.pool.Put(one) }

// Items returns the number of panels.
func (t *MatMulDequantized) Items() int { return (t.W.Rows + panelRows - 1) / panelRows }

// Work returns the number of multiplications. To decode a weight takes as long as several.
func (t *MatMulDequantized) Work() int { return (t.M + decodeWork) * t.W.Rows * t.W.Cols }

const decodeWork = 16

// Do computes the columns of Dst that belong to the items from … to−1.
func (t *MatMulDequantized) Do(from, to int) {
	r := t.Room.take(t.W.Cols, t.M)
	defer t.Room.give(r)
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
