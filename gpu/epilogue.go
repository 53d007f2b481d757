package gpu

import (
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// In decoding, the small work between two products need not be a launch: each launch of a graph costs a gap,
// 0.8 µs on an H200. joinEpilogues gives this work to the first of the two products. The block that finishes
// last computes a norm. For a SwiGLU, each block computes 32 columns of both products. See
// kernels/cuda/src/epilogue.h and matmul.h.

// epilogue is what a product does with its result: the last parameters of its kernel.
type epilogue struct {
	kind    int
	arrived driver.Pointer // a counter of finished blocks, 0 between launches
	to      driver.Pointer // the operand that is written
	slabs   int
	stream  driver.Pointer // rows that the product is added to; this and the fields below are for a norm
	weights driver.Pointer
	eps     float32
	threads int // of the separate norm: they decide the order of its sum
}

// productsThen are products with an epilogue.
type productsThen struct {
	products
	after epilogue
}

func (o productsThen) launch() launch { return o.then(o.after) }

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
	// mostNormed is the most numbers, rows times columns, of a norm in an epilogue: one block computes
	// them all. For more, a launch with a block for each row should be faster. The limit is a guess.
	mostNormed = 4096
	// mostArrivals is the number of counters of finished blocks. A launch needs one; only attention needs one for
	// each key head. If a layer has more key heads, combining its splits is a launch of its own.
	mostArrivals = 256
)

// epilogueMemory is the device memory that epilogues use.
type epilogueMemory struct {
	arrived driver.Pointer // mostArrivals counters
	// The two places for operands. A product reads one and its epilogue writes the other.
	usual, other driver.Pointer
}

func (b *Backend) epilogueMemory() epilogueMemory {
	return epilogueMemory{b.arrived, b.scratch.rounded.memory, b.scratch.after.memory}
}

// openArrivals reserves the counters of finished blocks.
func (b *Backend) openArrivals() (err error) {
	const bytes = 4 * mostArrivals
	if b.arrived, err = b.alloc("counters of blocks", bytes); err != nil {
		return err
	}
	return b.device.Do(func() error { return b.device.Fill(b.stream, b.arrived, 0, bytes) })
}

// joinEpilogues joins products with the operation after them. It works in place and returns the operations
// that remain.
func joinEpilogues(operations []operation, m epilogueMemory) []operation {
	joined := operations[:0]
	place := m.usual // the operand that operations expect at m.usual now lies here
	for _, o := range operations {
		switch p := o.(type) {
		case product:
			o = products{p}.reading(m.usual, place)
		case products:
			o = p.reading(m.usual, place)
		case convert, normOperand, swiGLUOperand, combineOperand:
			last := len(joined) - 1
			if last >= 0 {
				if a, ok := joined[last].(attend); ok && combines(a, o) {
					place = m.usual
					joined[last] = attendThen{a, o.(combineOperand), m.arrived}
					continue
				}
				if before, ok := joined[last].(products); ok {
					if after, ok := epilogueOf(o, before); ok {
						place = m.other
						if before[0].activations == m.other {
							place = m.usual
						}
						after.arrived, after.to = m.arrived, place
						joined[last] = productsThen{before, after}
						continue
					}
				}
			}
			place = m.usual
		}
		joined = append(joined, o)
	}
	return joined
}

// combines reports whether the launch of a can also do the work of o, which is then to combine the splits of a.
func combines(a attend, o operation) bool {
	c, ok := o.(combineOperand)
	if !ok || a.part.heads == 0 {
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

// epilogueOf returns o as an epilogue of the products before it, if o can be one.
func epilogueOf(o operation, before products) (epilogue, bool) {
	rows, cols, form := before[0].rows, before[0].weight.rows, before[0].weight.format.Operand()
	if before[0].by != (choices{}) {
		return epilogue{}, false // products of experts have no epilogue
	}
	switch o := o.(type) {
	case swiGLUOperand:
		fits := len(before) == 2 && o.gate == before[0].dst && o.up == before[1].dst && o.n == rows*cols &&
			before[1].weight.rows == cols
		return epilogue{kind: cuda.SwiGLUEpilogue, slabs: o.to.format.ActivationSlabs(o.to.cols)},
			fits && rows <= cuda.MostGated && o.to.format.Operand() == form
	case normOperand:
		fits := len(before) == 1 && o.y != 0 && o.y == before[0].dst && o.length == cols && o.groups == rows
		return epilogue{kind: cuda.NormEpilogue, slabs: o.to.format.ActivationSlabs(o.to.cols),
				stream: o.x, weights: o.w, eps: o.eps, threads: o.shape().Block[0]},
			fits && cols%4 == 0 && rows*cols <= mostNormed && o.to.format.Operand() == form
	}
	return epilogue{}, false
}
