package host

import (
	"specula/engine/compute"
	"specula/kernels/cpu"
)

// queue collects operations until their results are needed. Then the threads run a whole pass without
// being called for each operation. Two rules keep the number of phases small: successive operations on
// single rows share a phase, and so do products of the same input.
//
// A phase starts when the previous one has finished, so operations keep their order.
//
// Most passes have the same phases as the pass before. Fields that stay the same are not written again
// (cpu.Keep): other cores have read them, and a write would take the cache line away from these cores, so
// that they would have to fetch it again. In passes of the demo pair such writes took 15 µs of 140, on two
// virtual cores of AMD EPYC Zen 5 (family 26, model 2) that share no cache.
type queue struct {
	phases []cpu.Phase  // the closed ones; the open one is in row or prod
	work   int          // multiplications of all phases in the queue, with the open one
	row    rowPhase     // the open phase, if it has operations on rows
	prod   productPhase // the open phase, if it has products
	open   int          // multiplications of the open phase

	// The tasks of the phases: a list for each type, in the order of the phases.
	rows         []rowPhase
	products     []productPhase
	attends      []cpu.Attention
	recurrences  []cpu.Recurrence
	convolutions []cpu.ShortConvolution
	experts      []cpu.ExpertProducts
	joined       []joinedPhase
	program      []cpu.Phase // what join makes of phases
}

// flushWork limits the work in the queue, in multiplications, so that a pass over a large model can be
// cancelled before its end.
const flushWork = 1 << 26

func newQueue() queue {
	const n = cpu.MostPhases
	return queue{
		phases: make([]cpu.Phase, 0, n), program: make([]cpu.Phase, 0, n), joined: make([]joinedPhase, 0, n),
		rows: make([]rowPhase, 0, n), products: make([]productPhase, 0, n), attends: make([]cpu.Attention, 0, n),
		experts: make([]cpu.ExpertProducts, 0, n), recurrences: make([]cpu.Recurrence, 0, n), convolutions: make([]cpu.ShortConvolution, 0, n),
	}
}

// next makes s one element longer and returns a pointer to the new element, which still has its
// values from an earlier pass.
func next[T any](s *[]T) *T {
	*s = (*s)[:len(*s)+1]
	return &(*s)[len(*s)-1]
}

// add closes the open phase and appends one for a task.
func (q *queue) add(t cpu.Task, items, work int) {
	q.close()
	q.phases = append(q.phases, cpu.Phase{Task: t, Items: items, Work: work})
	q.work += work
}

// isOpen reports whether a phase is open.
func (q *queue) isOpen() bool { return q.row.n > 0 || q.prod.n > 0 }

func (q *queue) empty() bool { return len(q.phases) == 0 && !q.isOpen() }

// last returns the task of the last phase, or nil if a phase is open.
func (q *queue) last() cpu.Task {
	if len(q.phases) == 0 || q.isOpen() {
		return nil
	}
	return q.phases[len(q.phases)-1].Task
}

// enlarge sets the number of items of the last phase and adds to its work. No phase may be open.
func (q *queue) enlarge(items, work int) {
	last := &q.phases[len(q.phases)-1]
	last.Items = items
	last.Work += work
	q.work += work
}

// addWork adds to the work of the open phase.
func (q *queue) addWork(work int) {
	q.open += work
	q.work += work
}

// close appends the open phase, if there is one.
func (q *queue) close() {
	p := cpu.Phase{Work: q.open}
	switch {
	case q.row.n > 0:
		rows := next(&q.rows)
		for i := range q.row.operations[:q.row.n] {
			cpu.Keep(&rows.operations[i], &q.row.operations[i])
		}
		cpu.Keep(&rows.rowShape, &q.row.rowShape)
		p.Task = rows
	case q.prod.n > 0:
		products := next(&q.products)
		cpu.Keep(products, &q.prod)
		p.Task, p.Items = products, products.items
	default:
		return
	}
	q.phases = append(q.phases, p)
	q.row.n, q.prod.n, q.open = 0, 0, 0
}

// perRow queues an operation on rows first … first+count−1. If the open phase works on rows, too, perRow
// adds the operation to that phase.
func (b *Backend) perRow(op rowOperation, work int) {
	if n := b.queue.row.n; n == 0 || n == len(b.queue.row.operations) {
		b.makeRoom()
	}
	b.queue.addRow(op, work)
}

func (q *queue) addRow(op rowOperation, work int) {
	phase := &q.row
	if phase.n == 0 || phase.n == len(phase.operations) {
		q.close()
		phase.rowShape = rowShape{}
	}
	phase.operations[phase.n] = op
	phase.n++
	phase.end = max(phase.end, op.first+op.count)
	phase.most = commonDivisor(phase.most, op.parts)
	q.addWork(work)
}

// makeRoom runs the queue if it is nearly full or holds enough work.
func (b *Backend) makeRoom() {
	if len(b.queue.phases)+mostPhasesAtOnce > cpu.MostPhases || b.queue.work > flushWork {
		b.flush()
	}
}

// mostPhasesAtOnce is the largest number of phases that are added between two calls of makeRoom. These
// are the open phase, and three for a product: quantise the input, pack it, multiply.
const mostPhasesAtOnce = 4

// flush runs everything in the queue.
func (b *Backend) flush() {
	q := &b.queue
	q.close()
	if len(q.phases) == 0 {
		return
	}
	program := q.join(b.pool.Threads(), b.near())
	q.phases, q.rows, q.products, q.attends, q.work = q.phases[:0], q.rows[:0], q.products[:0], q.attends[:0], 0
	q.experts, q.recurrences, q.convolutions = q.experts[:0], q.recurrences[:0], q.convolutions[:0]
	b.pool.RunAll(program)
}

// rowPhase applies its operations to each row. If all operations can work on parts of the columns, such
// as heads, the columns are divided into equal parts. Items are the rows of the first part, then the
// rows of the next part. So a thread usually reads columns that it computed itself.
type rowPhase struct {
	operations [8]rowOperation
	rowShape
	parts int // number of parts of the columns; join sets it
}

type rowShape struct {
	n    int // number of operations
	end  int // index after the last row
	most int // most parts into which the columns can be divided; divisors of this number work, too
}

func (p *rowPhase) items() int { return p.end * p.parts }

func (p *rowPhase) Do(from, to int) {
	for item := from; item < to; item++ {
		row, part := item%p.end, columns{item / p.end, p.parts}
		for i := range p.operations[:p.n] {
			if op := &p.operations[i]; op.first <= row && row < op.first+op.count {
				op.run(op, row-op.first, part)
			}
		}
	}
}

// columns names one of several equal parts of a row's columns: the field part is its index, and the
// field of is the number of parts.
type columns struct{ part, of int }

// in returns the range of n columns that belongs to the part.
func (c columns) in(n int) (from, to int) { return c.part * n / c.of, (c.part + 1) * n / c.of }

// rowOperation is an operation on single rows. Which of the other fields are used depends on run.
type rowOperation struct {
	run          func(op *rowOperation, row int, c columns)
	parts        int // most parts into which the columns can be divided; divisors of this number work, too
	first, count int
	// x and y hold the numbers of count rows, of which the first has index first. A row of x has cols numbers,
	// and a row of y has yCols. For mixRow, y has a row for each slot; for weighRow, each row of y has one number.
	x, y        []float32
	cols, yCols int
	w           vector
	eps, factor float32
	group       int
	activation  cpu.Activation
	rope        compute.Rope
	kv          *cpu.KV
	position    int
	quantised   *cpu.Quantized
	routing     *routing
}

func (op *rowOperation) rowX(i int, c columns) []float32 {
	from, to := c.in(op.cols)
	return op.x[i*op.cols:][from:to]
}

func (op *rowOperation) rowY(i int, c columns) []float32 {
	from, to := c.in(op.yCols)
	return op.y[i*op.yCols:][from:to]
}

func normRow(op *rowOperation, i int, c columns) {
	cpu.RMSNorm(op.rowX(i, c), op.rowY(i, c), op.w, op.eps)
}

func addRow(op *rowOperation, i int, c columns) { cpu.Add(op.rowX(i, c), op.rowY(i, c)) }

// copyRow copies a row of y to the first columns of a row of x.
func copyRow(op *rowOperation, i int, c columns) {
	from, to := c.in(op.yCols)
	copy(op.x[i*op.cols:][from:to], op.y[i*op.yCols:][from:to])
}

func biasRow(op *rowOperation, i int, c columns) {
	from, to := c.in(op.cols)
	cpu.Add(op.rowX(i, c), op.w[from:to])
}

func gateRow(op *rowOperation, i int, c columns) { cpu.SwiGLU(op.rowX(i, c), op.rowY(i, c)) }

func quantiseRow(op *rowOperation, i int, c columns) {
	from, to := c.in(op.parts)
	op.quantised.Tiles(i, from, to)
}

// rotateRow rotates each head by the angles of the row's position.
func rotateRow(op *rowOperation, i int, c columns) {
	r := &op.rope
	half := r.Dim / 2
	angles := (r.Position + i) * half
	cos, sin := r.Cos[angles:][:half], r.Sin[angles:][:half]
	for row := op.rowX(i, c); len(row) > 0; row = row[r.HeadDim:] {
		cpu.RoPE(row[:r.HeadDim], cos, sin, r.NeoX)
	}
}

// storeRow writes a key and a value into a layer of the cache.
func storeRow(op *rowOperation, i int, c columns) {
	head, _ := c.in(op.parts)
	op.kv.Store(op.position+i, head, op.rowX(i, c), op.rowY(i, c))
}

// productPhase multiplies one input with several matrices. Its items come in turns. A product has the
// same number of items in every turn. So one thread computes queries, keys and values of the same
// heads, or gate and up of the same columns.
type productPhase struct {
	x         *float32 // the input; products of the same input share a phase
	m         int
	quantised cpu.Quantized // the quantised input, if the matrices need it
	products  [4]product
	n         int
	items     int
}

// product is one product of a phase. One of three fields is in use: quantised for quantised weights and
// activations, dequantised for quantised weights and float activations, float for float weights.
type product struct {
	items       int
	float       cpu.MatMulFloat
	quantised   cpu.MatMulQuantized
	dequantised cpu.MatMulDequantized
}

func (p *productPhase) Do(from, to int) {
	turns := p.products[0].items
	for _, t := range p.products[1:p.n] {
		turns = commonDivisor(turns, t.items)
	}
	perTurn := p.items / turns
	before := 0 // items of earlier products in a turn
	for i := range p.products[:p.n] {
		t := &p.products[i]
		share := t.items / turns
		of := func(items int) int { return items/perTurn*share + min(max(items%perTurn-before, 0), share) }
		if a, b := of(from), of(to); a < b {
			t.Do(a, b)
		}
		before += share
	}
}

func (t *product) Do(from, to int) {
	switch {
	case t.quantised.W != nil:
		t.quantised.Do(from, to)
	case t.dequantised.W != nil:
		t.dequantised.Do(from, to)
	default:
		t.float.Do(from, to)
	}
}

func commonDivisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
