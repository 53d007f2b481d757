package gpu

import (
	"specula/gpu/driver"
)

// Most rows that are computed between two products are read by the second product only. The format of
// that product's weights decides in which form it reads them: the operand. joinOperands lets the kernel
// that computes such rows write the operand. This saves a launch, and writing and reading float32 rows.

// operand is the memory to which an operation of this file writes its rows, in the form that the next
// product reads.
type operand convert

// shape returns the launch shape of a kernel that writes an operand: blocks per row, threads per block.
func (o operand) shape(blocks, threads int) driver.Shape {
	return driver.Shape{Grid: [3]int{blocks, o.rows}, Block: [3]int{threads}}
}

// spread is the launch shape of a kernel that computes each number independently of the others.
func (o operand) spread() driver.Shape {
	l := o.format.Prepare(o.rows, o.cols)
	return o.shape(l.GridX, l.Threads)
}

func (o operand) slabs() driver.Argument { return whole(o.format.ActivationSlabs(o.cols)) }

// normOperand is a norm of rows, or an addNorm if y is not 0, that writes an operand.
type normOperand struct {
	to operand
	addNorm
}

func (o normOperand) launch() launch {
	// One block has the whole row, with as many threads as for a norm that writes float32.
	shape := o.to.shape(1, o.shape().Block[0])
	if o.y == 0 {
		return launchOf("rms_norm"+o.to.format.Operand(), shape, address(o.to.dst), address(o.x), address(o.w),
			whole(o.length), real(o.eps), o.to.slabs())
	}
	return launchOf("add_rms_norm"+o.to.format.Operand(), shape, address(o.to.dst), address(o.x), address(o.y), address(o.w),
		whole(o.length), real(o.eps), o.to.slabs())
}

// swiGLUOperand is a swiGLU that writes an operand and leaves gate unchanged.
type swiGLUOperand struct {
	to operand
	swiGLU
}

func (o swiGLUOperand) launch() launch {
	return launchOf("swiglu"+o.to.format.Operand(), o.to.spread(), address(o.to.dst), address(o.gate), address(o.up),
		whole(o.to.cols), o.to.slabs())
}

type combineOperand struct {
	to operand
	combine
}

func (o combineOperand) launch() launch {
	p := &o.part
	return launchOf("combine_splits"+o.to.format.Operand(), o.to.spread(), address(o.to.dst), address(p.sums), address(p.stats),
		address(o.position), whole(o.from), whole(p.heads), whole(p.headDim), whole(p.splits), whole(o.window), address(o.sinks), o.to.slabs())
}

// joinOperands joins each convert with the operation before it, if this operation computes the converted
// rows and nothing else reads them. scores are the scores of the pass that ends with these operations; 0: no
// pass ends with them. joinOperands works in place and returns the operations that remain.
func joinOperands(operations []operation, scores driver.Pointer) []operation {
	joined := operations[:0]
	for i, o := range operations {
		joined = append(joined, o)
		c, ok := o.(convert)
		if !ok || c.format.Operand() == "" || len(joined) < 2 {
			continue
		}
		if with := operandOf(joined[len(joined)-2], operand(c)); with != nil && !readLater(operations[i+1:], c, scores) {
			joined = append(joined[:len(joined)-2], with)
		}
	}
	return joined
}

// operandOf returns the operation that computes the rows of o and writes them as an operand; nil if o
// computes other rows or has no such kernel.
func operandOf(o operation, to operand) operation {
	switch o := o.(type) {
	case norm:
		return operandOf(addNorm{norm: o}, to)
	case addNorm:
		if o.dst == to.x && o.length == to.cols && o.groups == to.rows {
			return normOperand{to, o}
		}
	case swiGLU:
		if o.gate == to.x && o.n == to.rows*to.cols {
			return swiGLUOperand{to, o}
		}
	case combine:
		if o.dst == to.x && o.rows == to.rows && o.part.heads*o.part.headDim == to.cols {
			return combineOperand{to, o}
		}
	}
	return nil
}

// access says which memory of activations an operation reads and writes.
type access struct {
	reads  [3]driver.Pointer // where the rows begin that it reads; 0: none
	writes driver.Pointer    // where the float32 rows begin that it writes without reading them; 0: none
	bytes  int               // of what it writes
}

// accessing is an operation that says which memory it reads and writes. For any other operation,
// readLater assumes that it reads the rows.
type accessing interface{ access() access }

const floatBytes = 4

func (o norm) access() access {
	return access{reads: [3]driver.Pointer{o.x}, writes: o.dst, bytes: floatBytes * o.groups * o.length}
}
func (o addNorm) access() access {
	return access{reads: [3]driver.Pointer{o.x, o.y}, writes: o.dst, bytes: floatBytes * o.groups * o.length}
}
func (o add) access() access { return access{reads: [3]driver.Pointer{o.x, o.y}} }
func (o swiGLU) access() access {
	return access{reads: [3]driver.Pointer{o.gate, o.up}}
}
func (o convert) access() access { return access{reads: [3]driver.Pointer{o.x}} }
func (o product) access() access {
	return access{reads: [3]driver.Pointer{o.activations}, writes: o.dst, bytes: floatBytes * max(o.rows, o.by.slots) * o.weight.rows}
}
func (o addBias) access() access { return access{reads: [3]driver.Pointer{o.x}} }
func (o rotate) access() access  { return access{reads: [3]driver.Pointer{o.x}} }
func (o store) access() access   { return access{reads: [3]driver.Pointer{o.k, o.v}} }
func (o prepareHeads) access() access {
	return access{reads: [3]driver.Pointer{o.q.x, o.k, o.v}}
}
func (o copyBlock) access() access { return access{reads: [3]driver.Pointer{o.x}} }
func (o move) access() access      { return access{reads: [3]driver.Pointer{o.from}} }
func (o attend) access() access {
	return access{reads: [3]driver.Pointer{o.q, o.fresh.k, o.fresh.v}}
}
func (o combine) access() access {
	return access{writes: o.dst, bytes: floatBytes * o.rows * o.part.heads * o.part.headDim}
}

// readLater reports whether a later operation may read the float32 rows that c converted, before all of them are
// written again. By the contract of compute.Backend nothing reads them after the end of their pass, unless they
// are its scores. A pass ends when tokens are chosen or drawn (findPeaks), or with the tape if scores is not 0.
// If the later operations neither read the rows, nor write all of them, nor end a pass, the result is true.
func readLater(later []operation, c convert, scores driver.Pointer) bool {
	bytes := driver.Pointer(floatBytes * c.rows * c.cols)
	for _, o := range later {
		if end, ok := o.(findPeaks); ok {
			return end.scores == c.x
		}
		known, ok := o.(accessing)
		if !ok {
			return true
		}
		a := known.access()
		for _, p := range a.reads {
			if p >= c.x && p < c.x+bytes {
				return true
			}
		}
		if a.writes == c.x && driver.Pointer(a.bytes) >= bytes {
			return false
		}
	}
	return scores == 0 || scores == c.x
}
