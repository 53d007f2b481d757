package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

var _ interface {
	compute.Mixer
	compute.ExpertScaler
} = (*Backend)(nil)

// routing has the experts that a pass chose for each row.
type routing struct {
	*cpu.Routing
	owner   *Backend
	touched compute.Touched
}

// Choices copies the experts of a row, the best first.
func (r *routing) Choices(row int, experts []int32) error {
	r.owner.flush()
	chosen, _ := r.Routing.Choices(row)
	copy(experts, chosen)
	return nil
}

// Touched returns the number of experts read in all calls of Route, and the number of calls.
func (r *routing) Touched() compute.Touched {
	r.owner.flush()
	return r.touched
}

// Do groups the choices by expert, and counts the experts. The work is one item, so one thread does it.
func (r *routing) Do(from, to int) {
	r.Routing.Do(from, to)
	if from < to {
		r.touched = r.touched.Plus(compute.Touched{Experts: r.Routing.Touched(), Calls: 1})
	}
}

// Routing makes room for the choices of maxRows rows.
func (b *Backend) Routing(maxRows int, r compute.Router) (compute.Routing, error) {
	if r.Used < 1 || r.Used > min(cpu.MostUsed, r.Experts) {
		return nil, fmt.Errorf("choosing %d of %d experts: allowed are 1 to %d", r.Used, r.Experts, min(cpu.MostUsed, r.Experts))
	}
	return &routing{Routing: cpu.NewRouting(cpu.Router(r), maxRows), owner: b}, nil
}

// Route chooses the experts of each row, and then groups the choices.
func (b *Backend) Route(r compute.Routing, scores compute.Buffer, m int, bias compute.Vector) error {
	in, xb := queuedRows(scores, 0, m)
	to := r.(*routing)
	require(xb.cols == to.Experts && (bias == nil || bias.Len() == to.Experts), "Route of another number of experts")
	if m != to.Slots()/to.Used {
		b.flush() // queued operations belong to a pass with another number of rows
		to.Begin(m)
	}
	op := rowOperation{run: routeRow, parts: 1, count: m, x: in, cols: xb.cols, routing: to}
	if bias != nil {
		op.w = bias.(vector)
	}
	b.perRow(op, 8*len(in))
	b.makeRoom()
	b.queue.add(to, 1, to.Slots())
	return nil
}

// MatMulExperts multiplies the inputs of slots with the matrices of their experts; for bySlot see
// compute.Mixer. The product joins the last phase in the queue if that has room and the same inputs in the
// same form, quantised or not.
func (b *Backend) MatMulExperts(dst, x compute.Buffer, r compute.Routing, w compute.Matrix, bySlot bool) error {
	of, weight := r.(*routing), w.(*matrix)
	m := of.Slots()
	out, db := queuedRows(dst, 0, m)
	if !bySlot {
		m /= of.Used
	}
	in, xb := queuedRows(x, 0, m)
	require(xb.cols == weight.cols && db.cols == weight.rows && len(weight.experts) == of.Experts, "MatMulExperts of widths that do not fit")
	phase, ok := b.queue.last().(*cpu.ExpertProducts)
	if !ok || phase.Full() || !phase.X.Of(in, b.quantises(weight)) {
		phase = b.openExpertPhase(in, of, weight, bySlot)
	}
	work := phase.Add(cpu.MatMulExperts{
		Dst: out, Experts: weight.experts, Rows: weight.rows, Cols: weight.cols, Prefetching: b.prefetching(), WidenFirst: b.pool.Ways().WidenFirst, Room: &b.room,
	})
	b.queue.enlarge(phase.Items(), work)
	return nil
}

// openExpertPhase queues the phases that bring the inputs into the order of the slots, and then a phase
// to which products can be added.
func (b *Backend) openExpertPhase(in []float32, r *routing, w *matrix, bySlot bool) *cpu.ExpertProducts {
	b.makeRoom()
	q := &b.queue
	phase := next(&q.experts)
	*phase = cpu.ExpertProducts{X: b.inputs.NewExpertRows(r.Routing, in, w.cols, bySlot, b.quantises(w))}
	if n := phase.X.Items(); n > 0 {
		q.add(&phase.X, n, phase.X.Work())
	}
	if n := phase.X.Packs(); n > 0 {
		q.add((*cpu.ExpertPacking)(&phase.X), n, phase.X.Work())
	}
	q.add(phase, 0, 0)
	return phase
}

// AddExpertBias adds to each slot the bias of its expert.
func (b *Backend) AddExpertBias(x compute.Buffer, r compute.Routing, bias compute.Vector) error {
	of := r.(*routing)
	data, xb := queuedRows(x, 0, of.Slots())
	require(bias.Len() == of.Experts*xb.cols, "AddExpertBias of another width")
	b.perRow(rowOperation{run: expertBiasRow, parts: xb.cols, count: of.Slots(), x: data, cols: xb.cols, w: bias.(vector), routing: of}, len(data))
	return nil
}

// ScaleExperts multiplies each slot by the factor of its expert.
func (b *Backend) ScaleExperts(x compute.Buffer, r compute.Routing, factors compute.Vector) error {
	of := r.(*routing)
	data, xb := queuedRows(x, 0, of.Slots())
	require(factors.Len() == of.Experts, "ScaleExperts with another number of factors")
	b.perRow(rowOperation{run: scaleExpertRow, parts: xb.cols, count: of.Slots(), x: data, cols: xb.cols, w: factors.(vector), routing: of}, len(data))
	return nil
}

// Mix adds up the slots of each row.
func (b *Backend) Mix(dst, x compute.Buffer, r compute.Routing) error {
	of := r.(*routing)
	in, xb := queuedRows(x, 0, of.Slots())
	out, db := queuedRows(dst, 0, of.Slots()/of.Used)
	require(xb.cols == db.cols, "Mix of different widths")
	b.queue.close() // a row needs slots from all threads, so the phase that computes them must end before
	b.perRow(rowOperation{run: mixRow, parts: db.cols, count: of.Slots() / of.Used, x: out, cols: db.cols, y: in, routing: of}, 2*len(in))
	return nil
}

// Weigh multiplies each row by the sigmoid of its gate.
func (b *Backend) Weigh(x compute.Buffer, m int, gate compute.Buffer) error {
	data, xb := queuedRows(x, 0, m)
	factors, gb := queuedRows(gate, 0, m)
	require(gb.cols == 1, "Weigh by more than one column")
	b.perRow(rowOperation{run: weighRow, parts: xb.cols, count: m, x: data, cols: xb.cols, y: factors}, len(data))
	return nil
}

func routeRow(op *rowOperation, i int, c columns) { op.routing.Choose(i, op.rowX(i, c), op.w) }

func expertBiasRow(op *rowOperation, i int, c columns) {
	from, to := c.in(op.cols)
	cpu.Add(op.rowX(i, c), op.w[op.routing.ExpertOf(i)*op.cols:][from:to])
}

func scaleExpertRow(op *rowOperation, i int, c columns) {
	cpu.TimesFactor(op.rowX(i, c), op.w[op.routing.ExpertOf(i)])
}

func mixRow(op *rowOperation, i int, c columns) {
	from, _ := c.in(op.cols)
	op.routing.Mix(op.rowX(i, c), op.y, i, from, op.cols)
}

func weighRow(op *rowOperation, i int, c columns) {
	gate := [1]float32{op.y[i]}
	cpu.Activate(gate[:], cpu.Sigmoid)
	cpu.TimesFactor(op.rowX(i, c), gate[0])
}
