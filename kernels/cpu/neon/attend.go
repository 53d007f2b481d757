package main

import "fmt"

const (
	queryBytes    = 8       // of a pointer to a query
	scoresBytes   = 4 * 256 // the distance in bytes between the scores of two queries
	blockElements = 32      // of Q8_0
	blockBytes    = 2 + blockElements
)

// cached is a type of keys and values.
type cached struct {
	number
	kind string // of a pointer to its numbers
}

var (
	cachedNumbers = []cached{{numbers[0], "*float32"}, {numbers[1], "*uint16"}}
	cachedQ8_0    = cached{number{name: "Q8_0", bytes: 1}, "*byte"}
)

func attend() []*function {
	var list []*function
	for _, c := range append(cachedNumbers, cachedQ8_0) {
		list = append(list, scoreKeys(c))
	}
	for _, c := range cachedNumbers {
		list = append(list, sumValues(c))
	}
	return append(list, sumValuesQ8_0())
}

// attention is what the functions of this file have in common: sixteen sums for each of n queries.
// Each product and each sum is rounded.
type attention struct {
	*function
	n       int
	factors []r // for each query, the address of what the next row is multiplied by: a number of the query, or a weight
	sums    [][]v
	row     []v // sixteen numbers
	factor  v
	product []v
}

// forQueries writes body for four, two and one queries. At run time the register n chooses.
func (f *function) forQueries(n r, body func(a *attention)) {
	for _, queries := range []int{4, 2, 1} {
		f.label(fmt.Sprint("queries", queries))
		if queries > 1 {
			f.asm("CMP $%d, %v", queries, n)
			f.asm("BNE queries%d", queries/2)
		}
		before := f.general
		f.scratch(func() {
			a := &attention{function: f, n: queries, row: f.vs(4), factor: f.v(), product: f.vs(4)}
			for range queries {
				a.factors, a.sums = append(a.factors, f.r()), append(a.sums, f.vs(4))
			}
			body(a)
		})
		f.general = before
		f.asm("RET")
	}
}

// named returns a label with the number of queries at its end.
func (a *attention) named(label string) string { return fmt.Sprint(label, a.n) }

// add adds to the sums of each query the products of a row of sixteen numbers and the query's next factor.
func (a *attention) add() {
	for j, sums := range a.sums {
		a.do(ld1r(a.factor, a.factors[j]))
		for i, x := range a.row {
			a.do(fmul(a.product[i], x, a.factor))
		}
		for i, s := range sums {
			a.do(fadd(s, s, a.product[i]))
		}
	}
}

// widenBytes converts the sixteen signed bytes in the last register of to into float32.
func (f *function) widenBytes(to []v) {
	f.do(sshllByte(to[1], to[3], 0), sshll2Byte(to[3], to[3], 0))
	f.do(sshllShort(to[0], to[1], 0), sshll2Short(to[1], to[1], 0), sshllShort(to[2], to[3], 0),
		sshll2Short(to[3], to[3], 0))
	for _, x := range to {
		f.do(scvtf(x, x))
	}
}

// scoreKeys multiplies queries with blocks of sixteen keys, one number of the head after the other.
func scoreKeys(c cached) *function {
	f := open("scoreKeys"+c.name,
		"dst *float32, q *queries, keys "+c.kind+", n int, headDim int, blocks int, factor float32",
		fmt.Sprintf("writes factor times the products of n queries (1, 2 or 4) and blocks·16 keys in %s. The scores of a query begin 256 numbers after the scores of the query before.", c.name))
	dst, q, keys, n, headDim, blocks := f.load("dst"), f.load("q"), f.load("keys"), f.load("n"), f.load("headDim"), f.load("blocks")
	left, tiles, scale := f.load("factor"), f.r(), f.v()
	f.do(dupGeneral(scale, left))
	f.forQueries(n, func(a *attention) {
		a.times(a.named("block"), blocks, func() {
			for j, sums := range a.sums {
				a.asm("MOVD %d(%v), %v", queryBytes*j, q, a.factors[j])
				for _, s := range sums {
					a.do(movi(s, 0))
				}
			}
			if c.name == "Q8_0" {
				a.keysQ8_0(keys, headDim, tiles, left)
			} else {
				a.asm("MOVD %v, %v", headDim, left)
				a.times(a.named("column"), left, func() {
					a.loadNumbers(c.number, a.row, keys, 0)
					a.forward(keys, lanes*c.bytes)
					a.add()
				})
			}
			for j, sums := range a.sums {
				for i, s := range sums {
					a.do(fmul(s, s, scale), str(s, dst, scoresBytes*j+16*i))
				}
			}
			a.forward(dst, 4*lanes)
		})
	})
	return f
}

// keysQ8_0 adds the products of a block of keys in Q8_0: tiles of sixteen scales, then 32 numbers
// of sixteen keys.
func (a *attention) keysQ8_0(keys, headDim, tiles, left r) {
	a.asm("LSR $5, %v, %v", headDim, tiles)
	a.scratch(func() {
		scales := a.vs(4)
		a.times(a.named("tile"), tiles, func() {
			a.loadNumbers(numbers[1], scales, keys, 0)
			a.forward(keys, 2*lanes)
			a.asm("MOVD $%d, %v", blockElements, left)
			a.times(a.named("column"), left, func() {
				a.do(ldr(a.row[3], keys, 0))
				a.forward(keys, lanes)
				a.widenBytes(a.row)
				for i, x := range a.row {
					a.do(fmul(x, x, scales[i]))
				}
				a.add()
			})
		})
	})
}

// weighed is a function that adds weighted values to the rows of queries. It computes sixteen columns
// at a time, whose sums stay in registers.
type weighed struct {
	*attention
	dst, values, weights, keys r // arguments
	at, rowBytes               r // offset of the sixteen columns in a row of dst; bytes from one value vector to the next
	value, left, row           r // address of a value; number of values left; address in a row of dst
}

// columns adds sixteen columns of all values, times their weights, to the rows of all queries. load reads
// sixteen numbers at an address into the registers row of attention.
func (w *weighed) columns(label string, load func(value r)) {
	for j, sums := range w.sums {
		w.asm("MOVD %d(%v), %v", queryBytes*j, w.dst, w.row)
		w.asm("ADD %v, %v, %v", w.at, w.row, w.row)
		for i, s := range sums {
			w.do(ldr(s, w.row, 16*i))
		}
		w.asm("ADD $%d, %v, %v", scoresBytes*j, w.weights, w.factors[j])
	}
	w.asm("MOVD %v, %v", w.values, w.value)
	w.asm("MOVD %v, %v", w.keys, w.left)
	w.times(w.named(label), w.left, func() {
		load(w.value)
		w.asm("ADD %v, %v, %v", w.rowBytes, w.value, w.value)
		w.add()
	})
	for j, sums := range w.sums {
		w.asm("MOVD %d(%v), %v", queryBytes*j, w.dst, w.row)
		w.asm("ADD %v, %v, %v", w.at, w.row, w.row)
		for i, s := range sums {
			w.do(str(s, w.row, 16*i))
		}
	}
	w.forward(w.at, 4*lanes)
}

// begin loads the arguments and reserves registers for the rest.
func (w *weighed) begin(f *function) (n, headDim r) {
	w.dst, w.values, w.weights = f.load("dst"), f.load("values"), f.load("weights")
	n, w.keys, headDim = f.load("n"), f.load("keys"), f.load("headDim")
	w.at, w.rowBytes, w.value, w.left, w.row = f.r(), f.r(), f.r(), f.r(), f.r()
	f.asm("MOVD $0, %v", w.at)
	return n, headDim
}

func sumValues(c cached) *function {
	f := open("sumValues"+c.name,
		"dst *queries, values "+c.kind+", weights *float32, n int, keys int, headDim int, cols int",
		fmt.Sprintf("adds to the first cols numbers of n rows of dst (1, 2 or 4) the values in %s times the weights of the row. The weights of a row begin 256 numbers after "+
			"the weights of the row before. cols is a multiple of 16.", c.name))
	w := weighed{}
	n, headDim := w.begin(f)
	cols := f.load("cols")
	f.asm("LSL $%d, %v, %v", c.bytes/2, headDim, w.rowBytes)
	f.asm("LSR $4, %v, %v", cols, cols)
	f.forQueries(n, func(a *attention) {
		w.attention = a
		a.times(a.named("columns"), cols, func() {
			w.columns("key", func(value r) { w.loadNumbers(c.number, a.row, value, 0) })
			a.forward(w.values, lanes*c.bytes)
		})
	})
	return f
}

// sumValuesQ8_0 computes the two halves of a block one after the other: for a whole block, the sums of
// four queries would need all registers.
func sumValuesQ8_0() *function {
	f := open("sumValuesQ8_0", "dst *queries, values *byte, weights *float32, n int, keys int, headDim int",
		"adds to n rows of dst (1, 2 or 4) the values, blocks of Q8_0, times the weights of the row. The weights of a row begin 256 numbers after the weights of the row before.")
	w := weighed{}
	n, headDim := w.begin(f)
	blocks := headDim
	f.asm("LSR $5, %v, %v", headDim, blocks)
	f.asm("MOVD $%d, %v", blockBytes, w.rowBytes)
	f.asm("MUL %v, %v, %v", blocks, w.rowBytes, w.rowBytes)
	f.forQueries(n, func(a *attention) {
		w.attention = a
		scale := a.v()
		a.times(a.named("block"), blocks, func() {
			for half := range 2 {
				w.columns(fmt.Sprintf("half%dkey", half), func(value r) {
					a.do(ldr2(scale, value, 0), fcvtlHalf(scale, scale), ldur(a.row[3], value, 2+lanes*half))
					a.widenBytes(a.row)
					for _, x := range a.row {
						a.do(fmulElement(x, x, scale, 0))
					}
				})
			}
			a.forward(w.values, blockBytes)
		})
	})
	return f
}
