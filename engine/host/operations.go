package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// rows returns the first m rows of a buffer for immediate use. It runs the queue first.
func rows(x compute.Buffer, m int) ([]float32, *buffer) {
	x.(*buffer).owner.flush()
	return queuedRows(x, 0, m)
}

// queuedRows returns m rows of a buffer, from row first on, for an operation that is queued.
func queuedRows(x compute.Buffer, first, m int) ([]float32, *buffer) {
	b := x.(*buffer)
	require(first >= 0 && 1 <= m && first+m <= b.rows, "rows outside of the buffer, or none")
	return b.data[first*b.cols : (first+m)*b.cols], b
}

// Embed writes rows of the table as float32.
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
	in, xb := queuedRows(x, 0, m)
	out, db := queuedRows(dst, 0, m)
	require(xb.cols == db.cols && xb.cols%w.Len() == 0, "RMSNorm of widths that do not fit")
	b.perRow(rowOperation{run: normRow, parts: db.cols / w.Len(), count: m, x: out, cols: db.cols, y: in, yCols: xb.cols, w: w.(vector), eps: eps}, 4*len(in))
	return nil
}

// MatMul multiplies m rows with a weight. The product is added to the open phase of the queue if that
// has products of the same input, with weights of the same kind, and room. Otherwise MatMul opens a
// phase.
func (b *Backend) MatMul(dst, x compute.Buffer, m int, w compute.Matrix) error {
	in, xb := queuedRows(x, 0, m)
	out, db := queuedRows(dst, 0, m)
	weight := w.(*matrix)
	require(xb.cols == weight.cols && db.cols == weight.rows, "MatMul of widths that do not fit")
	phase := &b.queue.prod
	if phase.n == 0 || phase.x != &in[0] || phase.m != m || phase.n == len(phase.products) || b.quantises(weight) != (phase.products[0].quantised.W != nil) {
		b.openProductPhase(in, m, weight)
	}
	t := &phase.products[phase.n]
	phase.n++
	work := 0
	switch {
	case weight.panels == nil:
		t.float = cpu.MatMulFloat{Dst: out, X: in, M: m, Type: weight.number, W: weight.data, Rows: weight.rows, Cols: weight.cols,
			WidenFirst: b.pool.Ways().WidenFirst}
		t.items, work = t.float.Items(), t.float.Work()
	case b.quantises(weight):
		t.quantised = cpu.MatMulQuantized{Dst: out, X: b.queue.quantised(), W: weight.panels, Prefetching: b.prefetching()}
		t.items, work = t.quantised.Items(), t.quantised.Work()
	default:
		t.dequantised = cpu.MatMulDequantized{Dst: out, X: in, M: m, W: weight.panels, Room: &b.room}
		t.items, work = t.dequantised.Items(), t.dequantised.Work()
	}
	phase.items += t.items
	b.queue.addWork(work)
	return nil
}

// quantises reports whether products with this weight need quantised input.
func (b *Backend) quantises(w *matrix) bool { return w.panels != nil && !b.exact }

// quantised returns the place of the open phase's quantised input: in the element of products that close
// will use for this phase.
func (q *queue) quantised() *cpu.Quantized {
	return &q.products[:len(q.products)+1][len(q.products)].quantised
}

// openProductPhase opens a phase to which products can be added. If the weight needs quantised input, it
// first queues an operation that quantises the input.
func (b *Backend) openProductPhase(in []float32, m int, w *matrix) {
	q := &b.queue
	if q.prod.n > 0 {
		q.close()
	}
	b.makeRoom()
	var quantised cpu.Quantized
	if b.quantises(w) {
		room := &b.quantised[0]
		if b.near() { // earlier products may still be reading their input (joinedPhase)
			room = &b.quantised[len(q.products)%len(b.quantised)]
		}
		room.Begin(in, m, w.cols)
		quantised = *room
		cpu.Keep(q.quantised(), room)
		q.addRow(rowOperation{run: quantiseRow, parts: w.cols / cpu.Block, count: m, quantised: q.quantised()}, 4*len(in))
		if packs := room.Packs(); packs > 0 {
			q.add(q.quantised().Pack(), packs, 4*len(in))
		}
	}
	q.close()
	q.prod = productPhase{x: &in[0], m: m, quantised: quantised}
}

// AddBias adds a vector to each row.
func (b *Backend) AddBias(x compute.Buffer, m int, bias compute.Vector) error {
	data, xb := queuedRows(x, 0, m)
	require(bias.Len() == xb.cols, "AddBias of another width")
	b.perRow(rowOperation{run: biasRow, parts: xb.cols, count: m, x: data, cols: xb.cols, w: bias.(vector)}, len(data))
	return nil
}

// RoPE rotates each head of each row by the angles of its position.
func (b *Backend) RoPE(x compute.Buffer, m int, r compute.Rope) error {
	data, xb := queuedRows(x, r.Row, m)
	half := r.Dim / 2
	require(xb.cols == r.Heads*r.HeadDim && 2*half == r.Dim && r.Dim <= r.HeadDim, "RoPE of heads that do not fit")
	require((r.Position+m)*half <= len(r.Cos) && len(r.Cos) == len(r.Sin), "RoPE beyond its tables")
	b.perRow(rowOperation{run: rotateRow, parts: r.Heads, first: r.Row, count: m, x: data, cols: xb.cols, rope: r}, 4*len(data))
	return nil
}

// Attend stores k and v, unless they are nil, after the tokens in the cache. Then each row attends to its own key
// and value and to the earlier ones in its window.
func (b *Backend) Attend(dst, q, k, v compute.Buffer, m int, c compute.Cache, a compute.Attention) error {
	kv, partial := inside(c)
	require(a.Position == kv.length && kv.layers != nil, "Attend at another position than the cache's length")
	if a.Position+m > kv.shape.Tokens {
		return fmt.Errorf("attending to %d tokens: the cache has room for %d", a.Position+m, kv.shape.Tokens)
	}
	queries, qb := queuedRows(q, a.Row, m)
	out, db := queuedRows(dst, a.Row, m)
	l := kv.shape.Layer(a.Layer)
	require(qb.cols == a.Heads*a.HeadDim && db.cols == a.Heads*l.ValueDim, "Attend of widths that do not fit")
	require(a.HeadDim == l.KeyDim && l.KVHeads > 0 && a.Heads%l.KVHeads == 0, "Attend of heads that do not fit")
	if k != nil {
		b.store(k, v, m, kv, a)
	}
	if partial != nil {
		require(ringOf(&kv.shape, a.Layer) == 0 || a.Window > 0 && a.Window <= kv.shape.Windows[a.Layer], "Attend to keys before the cache's window")
		require(m <= kv.shape.Spare, "Attend with more rows than the cache has to spare")
		partial.stored(a.Layer, a.Position+m)
	}
	task := b.attention(out, queries, kv, m, a)
	if a.Sinks != nil {
		require(a.Sinks.Len() == a.Heads, "Attend with another number of sinks than heads")
		task.Sinks = a.Sinks.(vector)
	}
	b.queueAttention(&task)
	return nil
}

// attention is the task of m rows, of which the first stands at a.Position.
func (b *Backend) attention(out, queries []float32, kv *cache, m int, a compute.Attention) cpu.Attention {
	return cpu.Attention{
		Dst: out, Q: queries, KV: kv.layers[a.Layer], M: m, Position: a.Position, Heads: a.Heads, Scale: a.Scale, Window: a.Window, SoftCap: a.SoftCap,
		Threads: b.pool.Threads(),
	}
}

func (b *Backend) queueAttention(task *cpu.Attention) {
	b.makeRoom()
	b.queue.close()
	queued := next(&b.queue.attends)
	cpu.Keep(queued, task)
	b.queue.add(queued, queued.Items(), queued.Work())
}

// store queues an operation that writes m rows of keys and values to the cache.
func (b *Backend) store(k, v compute.Buffer, m int, kv *cache, a compute.Attention) {
	keys, kb := queuedRows(k, a.Row, m)
	values, vb := queuedRows(v, a.Row, m)
	l := kv.shape.Layer(a.Layer)
	require(kb.cols == l.KeyNumbers() && vb.cols == l.ValueNumbers(), "Attend of keys and values that do not fit")
	b.perRow(rowOperation{
		run: storeRow, parts: l.KVHeads, first: a.Row, count: m, x: keys, cols: kb.cols, y: values, yCols: vb.cols,
		kv: kv.layers[a.Layer], position: a.Position,
	}, 4*len(keys))
}

// SwiGLU writes silu(gate)·up to gate.
func (b *Backend) SwiGLU(gate, up compute.Buffer, m int) error {
	g, gb := queuedRows(gate, 0, m)
	u, ub := queuedRows(up, 0, m)
	require(gb.cols == ub.cols, "SwiGLU of different widths")
	b.perRow(rowOperation{run: gateRow, parts: gb.cols, count: m, x: g, cols: gb.cols, y: u, yCols: ub.cols}, 40*len(g))
	return nil
}

// Add adds y to x.
func (b *Backend) Add(x, y compute.Buffer, m int) error {
	dst, xb := queuedRows(x, 0, m)
	src, yb := queuedRows(y, 0, m)
	require(xb.cols == yb.cols, "Add of different widths")
	b.perRow(rowOperation{run: addRow, parts: xb.cols, count: m, x: dst, cols: xb.cols, y: src, yCols: yb.cols}, len(dst))
	return nil
}

// Copy copies rows to a block of another buffer. If nothing is queued, it copies at once, because to run a
// program takes longer than to copy the few rows of a round. It also copies at once, after what is queued, if
// both buffers are the same or if one of them belongs to another backend. Otherwise the copy is queued. The
// operations of a phase work on each row by itself, so a copy to other rows gets a phase of its own.
func (b *Backend) Copy(dst, x compute.Buffer, m int, c compute.Block) error {
	src, xb := queuedRows(x, c.From, m)
	out, db := queuedRows(dst, c.Row, m)
	require(c.Col >= 0 && c.Col+xb.cols <= db.cols, "Copy to a block that does not fit")
	op := rowOperation{run: copyRow, parts: 1, count: m, x: out[c.Col:], cols: db.cols, y: src, yCols: xb.cols}
	if &xb.data[0] == &db.data[0] || xb.owner != b || db.owner != b || b.queue.empty() {
		xb.owner.flush()
		db.owner.flush()
		for i := range m {
			copyRow(&op, i, columns{of: 1})
		}
		return nil
	}
	if c.From == c.Row {
		op.first = c.Row
		b.perRow(op, len(src))
		return nil
	}
	b.queue.close()
	b.perRow(op, len(src))
	b.queue.close()
	return nil
}
