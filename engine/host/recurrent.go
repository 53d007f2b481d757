package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

var _ compute.Recurrent = (*Backend)(nil)

// DeltaNet computes rows of a layer with states, and then keeps their inputs.
func (b *Backend) DeltaNet(dst, x, alpha, beta compute.Buffer, m int, c compute.Cache, d compute.DeltaNet) error {
	kept, partial := inside(c)
	require(d.Position == kept.length && kept.layers != nil, "DeltaNet at another position than the cache's length")
	if d.Position+m > kept.shape.Tokens {
		return fmt.Errorf("computing %d tokens: the cache has room for %d", d.Position+m, kept.shape.Tokens)
	}
	shape := cpu.DeltaShape(kept.shape.Layer(d.Layer).State)
	out, db := queuedRows(dst, d.Row, m)
	in, xb := queuedRows(x, d.Row, m)
	alphas, ab := queuedRows(alpha, d.Row, m)
	betas, bb := queuedRows(beta, d.Row, m)
	require(db.cols == shape.Heads*shape.ValueDim && xb.cols == shape.Width() && ab.cols == shape.Heads && bb.cols == shape.Heads, "DeltaNet of widths that do not fit")
	require(d.Convolution.Len() == shape.Kernel*shape.Width() && d.Rate.Len() == shape.Heads && d.Shift.Len() == shape.Heads, "DeltaNet with weights that do not fit")
	if need := shape.StateNumbers(); len(b.deltaRoom) < need {
		b.flush()
		b.deltaRoom = make([]float32, need)
	}
	partial.begin(d.Layer, m)
	b.makeRoom()
	b.queue.deltas = append(b.queue.deltas, cpu.DeltaNet{
		Dst: out, X: in, Alpha: alphas, Beta: betas, Conv: d.Convolution.(vector), Rate: d.Rate.(vector), Shift: d.Shift.(vector), Eps: d.Eps,
		State: kept.states[d.Layer], M: m, Position: d.Position, Room: b.deltaRoom,
	})
	task := &b.queue.deltas[len(b.queue.deltas)-1]
	task.Begin()
	b.queue.add(task, task.Items(), task.Work())
	store := &task.Store
	b.queue.add(store, store.Items(), 4*m*shape.Width())
	return nil
}
