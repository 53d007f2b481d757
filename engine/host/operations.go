package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// rows returns the first m rows of a buffer of this backend's.
func rows(x compute.Buffer, m int) ([]float32, *buffer) {
	b := x.(*buffer)
	require(1 <= m && m <= b.rows, "more rows than the buffer has, or none")
	return b.data[:m*b.cols], b
}

// rowsFrom returns m rows of a buffer of this backend's, first and those behind it.
func rowsFrom(x compute.Buffer, first, m int) ([]float32, *buffer) {
	require(first >= 0, "rows from before the buffer's first")
	data, b := rows(x, first+m)
	return data[first*b.cols:], b
}

// Embed writes rows of the table, widened to float32.
func (b *Backend) Embed(dst compute.Buffer, table compute.Matrix, ids []int32) error {
	out, d := rows(dst, len(ids))
	t := table.(*matrix)
	require(d.cols == t.cols, "Embed between different widths")
	for i, id := range ids {
		if id < 0 || int(id) >= t.rows {
			return fmt.Errorf("token %d is outside the vocabulary of %d", id, t.rows)
		}
		row := out[i*t.cols : (i+1)*t.cols]
		if t.panels == nil {
			t.number.Dequantize(row, t.data[int(id)*t.cols*t.number.Bytes():])
			continue
		}
		t.panels.Row(row, int(id))
	}
	return nil
}

// RMSNorm normalises each group of w.Len() numbers.
func (b *Backend) RMSNorm(dst, x compute.Buffer, m int, w compute.Vector, eps float32) error {
	in, xb := rows(x, m)
	out, db := rows(dst, m)
	require(xb.cols == db.cols && xb.cols%w.Len() == 0, "RMSNorm of widths that do not fit")
	b.norm = normRows{out, in, w.(vector), eps}
	b.pool.Run(&b.norm, len(in)/w.Len(), 4*len(in))
	return nil
}

// MatMul multiplies m rows with a weight.
func (b *Backend) MatMul(dst, x compute.Buffer, m int, w compute.Matrix) error {
	in, xb := rows(x, m)
	out, db := rows(dst, m)
	weight := w.(*matrix)
	require(xb.cols == weight.cols && db.cols == weight.rows, "MatMul of widths that do not fit")
	if weight.panels == nil {
		b.productF = cpu.MatMulFloat{Dst: out, X: in, M: m, Type: weight.number, W: weight.data, Rows: weight.rows, Cols: weight.cols}
		b.pool.Run(&b.productF, b.productF.Items(), b.productF.Work())
		return nil
	}
	b.quantised.Begin(in, m, weight.cols)
	b.pool.Run(&b.quantised, m, b.quantised.Work())
	b.quantised.End()
	b.productQ = cpu.MatMulQuantized{Dst: out, X: &b.quantised, W: weight.panels}
	b.pool.Run(&b.productQ, b.productQ.Items(), b.productQ.Work())
	return nil
}

// AddBias adds a vector to each row.
func (b *Backend) AddBias(x compute.Buffer, m int, bias compute.Vector) error {
	data, xb := rows(x, m)
	require(bias.Len() == xb.cols, "AddBias of another width")
	for i := range m {
		cpu.Add(data[i*xb.cols:(i+1)*xb.cols], bias.(vector))
	}
	return nil
}

// RoPE rotates each head of each row by its position's angles.
func (b *Backend) RoPE(x compute.Buffer, m int, r compute.Rope) error {
	data, xb := rowsFrom(x, r.Row, m)
	half := r.Dim / 2
	require(xb.cols == r.Heads*r.HeadDim && 2*half == r.Dim && r.Dim <= r.HeadDim, "RoPE of heads that do not fit")
	require((r.Position+m)*half <= len(r.Cos) && len(r.Cos) == len(r.Sin), "RoPE beyond its tables")
	b.rotation = rotateRows{data, r}
	b.pool.Run(&b.rotation, m*r.Heads, 4*len(data))
	return nil
}

// Attend stores k and v behind the cache's length and attends to them and all before.
func (b *Backend) Attend(dst, q, k, v compute.Buffer, m int, c compute.Cache, a compute.Attention) error {
	kv := c.(*cache)
	size := kv.rowSize()
	queries, qb := rowsFrom(q, a.Row, m)
	out, db := rowsFrom(dst, a.Row, m)
	newKeys, kb := rowsFrom(k, a.Row, m)
	newValues, vb := rowsFrom(v, a.Row, m)
	require(a.Position == kv.length && kv.layers != nil, "Attend at another position than the cache's length")
	require(qb.cols == a.Heads*a.HeadDim && db.cols == qb.cols && kb.cols == size && vb.cols == size, "Attend of widths that do not fit")
	require(a.HeadDim == kv.shape.HeadDim && a.HeadDim <= cpu.MaxHeadDim && a.Heads%kv.shape.KVHeads == 0, "Attend of heads that do not fit")
	if a.Position+m > kv.shape.Tokens {
		return fmt.Errorf("attending to %d tokens: the cache has room for %d", a.Position+m, kv.shape.Tokens)
	}
	layer := kv.layers[a.Layer]
	b.storing = storeRows{layer, a.Position, m, size, newKeys, newValues}
	b.pool.Run(&b.storing, kv.shape.KVHeads, 4*len(newKeys))
	b.attention = cpu.Attention{
		Dst: out, Q: queries, KV: layer, M: m, Position: a.Position, Heads: a.Heads, Scale: a.Scale,
	}
	b.pool.Run(&b.attention, b.attention.Items(), b.attention.Work())
	return nil
}

// SwiGLU writes silu(gate)·up to gate.
func (b *Backend) SwiGLU(gate, up compute.Buffer, m int) error {
	g, gb := rows(gate, m)
	u, ub := rows(up, m)
	require(gb.cols == ub.cols, "SwiGLU of different widths")
	b.gating = gateRows{g, u}
	b.pool.Run(&b.gating, (len(g)+pieceNumbers-1)/pieceNumbers, 40*len(g))
	return nil
}

// Add adds y to x.
func (b *Backend) Add(x, y compute.Buffer, m int) error {
	dst, xb := rows(x, m)
	src, yb := rows(y, m)
	require(xb.cols == yb.cols, "Add of different widths")
	b.adding = addRows{dst, src}
	b.pool.Run(&b.adding, (len(dst)+pieceNumbers-1)/pieceNumbers, len(dst))
	return nil
}

// Select copies one row.
func (b *Backend) Select(dst, x compute.Buffer, from int) error {
	src, xb := rows(x, from+1)
	out, db := rows(dst, 1)
	require(xb.cols == db.cols, "Select between different widths")
	copy(out, src[from*xb.cols:])
	return nil
}
