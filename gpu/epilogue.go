package gpu

import (
	"slices"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// In decoding, the small work between two products need not be a launch: each launch of a graph costs a gap,
// 0.8 µs on an H200. joinEpilogues gives this work to the products. For a SwiGLU, each block computes 32 columns
// of both products. Before a norm, the product adds its result to the residual stream. The norm itself is made
// by the next product if it has one row: each of its blocks normalises the row. No block waits for another.
// See kernels/cuda/src/epilogue.h, norm.h and matmul_rows.h.

// epilogue is what a product does with its result.
type epilogue struct {
	kind  int
	to    driver.Pointer // the operand that a SwiGLU writes
	slabs int            // of the operand
}

// stream is the residual stream beside a product.
type stream struct {
	rows    driver.Pointer
	squares driver.Pointer // the sum of squares of each tile of its rows
	norm    driver.Pointer // weights of the norm that the product reads in place of activations; 0: no norm
	cols    int
	eps     float32
}

// productsThen are products that do more: they read a norm of the stream, or have an epilogue, or both.
type productsThen struct {
	products
	after epilogue
	stream
}

func (o productsThen) launch() launch { return o.then(o.after, o.stream) }

// normSummed writes the norm of rows whose squares a product has summed as an operand.
type normSummed struct {
	to     operand
	stream stream
}

func (o normSummed) launch() launch {
	s, l := o.stream, o.to.format.NormSummed(o.to.rows, o.to.cols)
	return launchOf(l.Kernel, shapeOf(l), address(o.to.dst), address(s.rows), address(s.squares), address(s.norm),
		whole(s.cols), real(s.eps), o.to.slabs())
}

// attendThen is attention that combines its splits: for each key head, the block that finishes last does
// this for all rows.
type attendThen struct {
	attend
	combined combineOperand
	arrived  driver.Pointer // counters of finished blocks, all 0
}

func (o attendThen) launch() launch { return o.then(o.combined, o.arrived) }

const (
	// mostCombined is the most numbers that one block combines: rows, times the query heads that read one
	// key head, times the width of a head. It is what the threads of a block do in one turn. With
	// several turns, passes of 4 to 8 rows of 8B in BF16 took 0.1 to 0.3 ms more on an H200 than with a
	// launch for this step. Other kernels had changed too, so the limit is still a guess.
	mostCombined = 1024
	// mostNorming is the most blocks, counted without turns, of a product whose blocks normalise the row. A larger
	// product, as that of the scores of a vocabulary, reads a norm that a launch of its own made. The limit is a guess.
	mostNorming = 1024
	// mostNormShared is the most shared memory for which a launch with such blocks may ask. The kernels have up to
	// 17 KiB of their own, and 48 KiB are free on every GPU.
	mostNormShared = freeShared - 17<<10
	// mostArrivals is the number of counters of finished blocks. A launch needs one; only attention needs one for
	// each key head. If a layer has more key heads, combining its splits is a launch of its own.
	mostArrivals = 256
)

// epilogueMemory is the device memory that epilogues use.
type epilogueMemory struct {
	arrived driver.Pointer // mostArrivals counters
	// The two places for operands. A product reads one and its epilogue writes the other.
	usual, other driver.Pointer
	squares      driver.Pointer // of the residual stream
}

func (b *Backend) epilogueMemory() epilogueMemory {
	return epilogueMemory{b.arrived, b.scratch.rounded.memory, b.scratch.after.memory, b.scratch.squares.memory}
}

// openArrivals reserves the counters of finished blocks.
func (b *Backend) openArrivals() (err error) {
	const bytes = 4 * mostArrivals
	if b.arrived, err = b.alloc("counters of blocks", bytes); err != nil {
		return err
	}
	return b.device.Do(func() error { return b.device.Fill(b.stream, b.arrived, 0, bytes) })
}

// joinEpilogues joins products with the small operations before and after them. It works in place and returns
// the operations that remain.
func joinEpilogues(operations []operation, m epilogueMemory) []operation {
	joined := operations[:0]
	place := m.usual  // the operand that operations expect at m.usual now lies here
	var normed stream // the next products read its norm, unless its norm is 0
	for i, o := range operations {
		switch p := o.(type) {
		case product:
			o = productsThen{products{p}.reading(m.usual, place), epilogue{}, normed}.simplest()
			normed = stream{}
		case products:
			o = productsThen{p.reading(m.usual, place), epilogue{}, normed}.simplest()
			normed = stream{}
		case convert:
			place = m.usual
		case combineOperand:
			place = m.usual
			if a, ok := before[attend](joined, 0); ok && combines(a, p) {
				joined[len(joined)-1] = attendThen{a, p, m.arrived}
				continue
			}
		case swiGLUOperand:
			place = m.usual
			if of, ok := lastProducts(joined); ok && gatedBy(of.products, p) {
				place = of.otherPlace(m)
				of.after = epilogue{cuda.SwiGLUEpilogue, place, p.to.format.ActivationSlabs(p.to.cols)}
				joined[len(joined)-1] = of
				continue
			}
		case normOperand:
			place = m.usual
			if of, ok := lastProducts(joined); ok && of.norm == 0 && sums(of.products, p) {
				s := stream{rows: p.x, squares: m.squares, cols: p.length}
				joined[len(joined)-1] = productsThen{of.products, epilogue{kind: cuda.SumEpilogue}, s}
				s.norm, s.eps = p.w, p.eps
				if normalises(operations[i+1:], p) {
					normed = s
					continue
				}
				o = normSummed{p.to, s}
			}
		}
		joined = append(joined, o)
	}
	return joined
}

// simplest returns o, or its products if they do nothing more.
func (o productsThen) simplest() operation {
	if o.norm == 0 {
		return o.products
	}
	return o
}

// lastProducts returns the products that come last, if they have no epilogue.
func lastProducts(operations []operation) (productsThen, bool) {
	if p, ok := before[products](operations, 0); ok {
		return productsThen{products: p}, true
	}
	o, ok := before[productsThen](operations, 0)
	return o, ok && o.after.kind == cuda.NoEpilogue
}

// otherPlace returns a place for an operand that the products do not read.
func (o productsThen) otherPlace(m epilogueMemory) driver.Pointer {
	if o.products[0].activations == m.other {
		return m.usual
	}
	return m.other
}

// combines reports whether attention can do the work of c.
func combines(a attend, c combineOperand) bool {
	if a.part.heads == 0 {
		return false
	}
	numbers := a.rows * a.part.heads / a.cache.kvHeads * a.part.headDim
	return a.cache.half && a.part.headDim%32 == 0 && numbers <= mostCombined && a.cache.kvHeads <= mostArrivals && c.part == a.part &&
		c.position == a.position && c.from == a.from && c.rows == a.rows && c.window == a.window
}

// reading returns the products with their activations at place, if they had them at usual.
func (o products) reading(usual, place driver.Pointer) products {
	if place == usual {
		return o
	}
	moved := append(products(nil), o...)
	for i := range moved {
		if moved[i].activations == usual {
			moved[i].activations = place
		}
	}
	return moved
}

// gatedBy reports whether the products can do the work of g.
func gatedBy(of products, g swiGLUOperand) bool {
	gate := of[0]
	return len(of) == 2 && gate.by == (choices{}) && g.gate == gate.dst && g.up == of[1].dst && g.n == gate.rows*gate.weight.rows &&
		of[1].weight.rows == gate.weight.rows && gate.rows <= cuda.MostGated && g.to.format.Operand() == gate.weight.format.Operand()
}

// sums reports whether the products can add their result to the stream that n normalises.
func sums(of products, n normOperand) bool {
	p := of[0]
	return len(of) == 1 && p.by == (choices{}) && n.y != 0 && n.y == p.dst && n.y != n.x && n.length == p.weight.rows && n.groups == p.rows &&
		n.length%4 == 0 && p.rows <= cuda.MostWithEpilogue
}

// normalises reports whether the first of the later operations are products that can do the work of n, and nothing
// else reads the norm. None of them may write to the stream, which other blocks still read.
func normalises(later []operation, n normOperand) bool {
	of, ok := firstProducts(later)
	if !ok || n.groups != 1 || of[0].activations != n.to.dst || of[0].by != (choices{}) || of[0].weight.cols != n.length ||
		of[0].weight.format.Operand() != n.to.format.Operand() || slices.ContainsFunc(of, func(p product) bool { return p.dst == n.x }) {
		return false
	}
	kind := cuda.NoEpilogue
	if len(later) > 1 {
		if g, ok := later[1].(swiGLUOperand); ok && gatedBy(of, g) {
			kind = cuda.SwiGLUEpilogue
		}
	}
	matrices, _ := of.matrices()
	l := of[0].weight.format.NormedProduct(kind, n.length, matrices...)
	return l.GridX <= mostNorming && l.SharedBytes <= mostNormShared && !readAgain(later[1:], n.to.dst)
}

// firstProducts returns the products that come first.
func firstProducts(operations []operation) (products, bool) {
	if len(operations) == 0 {
		return nil, false
	}
	switch o := operations[0].(type) {
	case product:
		return products{o}, true
	case products:
		return o, true
	}
	return nil, false
}

// readAgain reports whether products read the operand at a place before another operand is written there.
func readAgain(later []operation, place driver.Pointer) bool {
	for i, o := range later {
		if p, ok := firstProducts(later[i:]); ok && p[0].activations == place {
			return true
		}
		switch o.(type) {
		case convert, normOperand, swiGLUOperand, combineOperand:
			return false
		}
	}
	return false
}
