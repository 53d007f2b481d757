package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

var _ compute.Recurrent = (*Backend)(nil)

// stateShape converts the size of a state for the kernels. The kinds have the same numbers in both packages.
func stateShape(s compute.CacheState) cpu.StateShape {
	return cpu.StateShape{
		Kind: cpu.StateKind(s.Kind), KeyHeads: s.KeyHeads, Heads: s.Heads, KeyDim: s.KeyDim, ValueDim: s.ValueDim, Kernel: s.Kernel, Grouped: s.Grouped,
	}
}

// DeltaNet computes rows of a gated delta net, and then stores their inputs in the cache.
func (b *Backend) DeltaNet(dst, x, alpha, beta compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	return b.recur(dst, x, alpha, beta, m, c, d)
}

// Mamba2 computes rows of a Mamba-2 layer, and then stores their inputs in the cache.
func (b *Backend) Mamba2(dst, x, steps compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	return b.recur(dst, x, steps, nil, m, c, d)
}

// recur computes rows of a delta net or, if beta is nil, of a Mamba-2 layer.
func (b *Backend) recur(dst, x, alpha, beta compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	shape, state, err := b.beginState(m, c, d)
	if err != nil {
		return err
	}
	out, db := queuedRows(dst, d.Row, m)
	in, xb := queuedRows(x, d.Row, m)
	alphas, ab := queuedRows(alpha, d.Row, m)
	require(db.cols == shape.Heads*shape.ValueDim && xb.cols == shape.Width() && ab.cols == shape.Heads, "a layer with states of widths that do not fit")
	require(d.Rate.Len() == shape.Heads && d.Shift.Len() == shape.Heads, "a layer with states with weights that do not fit")
	if need := shape.StateNumbers(); len(b.stateRoom) < need {
		b.flush()
		b.stateRoom = make([]float32, need)
	}
	b.makeRoom()
	b.queue.recurrences = append(b.queue.recurrences, cpu.Recurrence{
		Dst: out, X: in, Alpha: alphas, Conv: d.Convolution.(vector), Bias: numbersOf(d.Bias), Rate: d.Rate.(vector), Shift: d.Shift.(vector),
		Skip: numbersOf(d.Skip), Eps: d.Eps, State: state, M: m, Position: d.Position, Room: b.stateRoom,
	})
	task := &b.queue.recurrences[len(b.queue.recurrences)-1]
	if beta != nil {
		betas, bb := queuedRows(beta, d.Row, m)
		require(bb.cols == shape.Heads, "a layer with states of widths that do not fit")
		task.Beta = betas
	}
	task.Begin()
	b.queue.add(task, task.Items(), task.Work())
	store := &task.Store
	b.queue.add(store, store.Items(), 4*m*shape.Width())
	return nil
}

// beginState returns the state of a layer and its shape for a pass of m rows. Before that, it checks the call and
// tells the cache's history that the pass begins (rollback.History.Begin).
func (b *Backend) beginState(m int, c compute.Cache, d compute.Recurrence) (cpu.StateShape, *cpu.State, error) {
	kept, partial := inside(c)
	require(d.Position == kept.length && kept.layers != nil, "a layer with states at another position than the cache's length")
	if d.Position+m > kept.shape.Tokens {
		return cpu.StateShape{}, nil, fmt.Errorf("computing %d tokens: the cache has room for %d", d.Position+m, kept.shape.Tokens)
	}
	shape := stateShape(kept.shape.Layer(d.Layer).State)
	require(d.Convolution.Len() == shape.Kernel*shape.Width() && (d.Bias == nil || d.Bias.Len() == shape.Width()), "a convolution with weights that do not fit")
	partial.history.Begin(d.Layer, m, kept.length)
	return shape, kept.states[d.Layer], nil
}

// numbersOf returns the numbers of a vector that may be nil.
func numbersOf(v compute.Vector) vector {
	if v == nil {
		return nil
	}
	return v.(vector)
}

// ShortConvolution computes rows of a gated short convolution, and stores their inputs in the cache.
func (b *Backend) ShortConvolution(dst, x compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	shape, state, err := b.beginState(m, c, d)
	if err != nil {
		return err
	}
	out, db := queuedRows(dst, d.Row, m)
	in, xb := queuedRows(x, d.Row, m)
	require(db.cols == shape.Width() && xb.cols == 3*shape.Width(), "a short convolution of widths that do not fit")
	b.makeRoom()
	task := next(&b.queue.convolutions)
	*task = cpu.ShortConvolution{Dst: out, X: in, Conv: d.Convolution.(vector), State: state, M: m, Position: d.Position}
	task.Begin()
	b.queue.add(task, task.Items(), task.Work())
	return nil
}

// NormGroups normalises each group of columns.
func (b *Backend) NormGroups(dst, x compute.Buffer, m int, w compute.Vector, group int, eps float32) error {
	in, xb := queuedRows(x, 0, m)
	out, db := queuedRows(dst, 0, m)
	require(group > 0 && xb.cols == db.cols && xb.cols == w.Len() && xb.cols%group == 0, "NormGroups of widths that do not fit")
	b.perRow(rowOperation{run: normGroupsRow, parts: 1, count: m, x: out, cols: db.cols, y: in, yCols: xb.cols, w: w.(vector), group: group, eps: eps}, 4*len(in))
	return nil
}

func normGroupsRow(op *rowOperation, i int, c columns) {
	cpu.RMSNormGroups(op.rowX(i, c), op.rowY(i, c), op.w, op.group, op.eps)
}
