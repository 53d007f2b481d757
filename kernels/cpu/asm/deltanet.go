package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The state of a head is (keyDim, n), where n is its number of columns. A vector lane is a column of the
// state, and adds up its rows in ascending order. Columns are taken several registers at a time, and the
// rest one register at a time.

func deltaNet(c *build.Context) {
	v := &elements{Context: c, constants: map[string]Mem{}}
	for _, d := range []deltas{
		{v, "AVX2", 8, v.YMM, []int{4, 1}},
		{v, "AVX512", 16, v.ZMM, []int{8, 4, 1}},
	} {
		d.recall()
		d.step("", stepParts{stores: true, answers: true})
		d.step("Store", stepParts{stores: true})
		d.step("Answer", stepParts{answers: true})
	}
	wide := deltas{v, "AVX512", 16, v.ZMM, []int{8, 4, 1}}
	wide.step("Recall", stepParts{stores: true, answers: true, recalls: true})
	wide.step("StoreRecall", stepParts{stores: true, recalls: true})
	v.convolve()
}

// deltas generates the functions that read or change states, for one level.
type deltas struct {
	*elements
	level    string
	lanes    int
	register func() reg.VecVirtual
	blocks   []int // registers of columns that are taken at a time
}

// stepParts says what a function does with the new state: stores it, answers a query with it, recalls
// what the state holds for the key of the next token.
type stepParts struct{ stores, answers, recalls bool }

// begin starts a function and returns its pointers and the number of columns.
func (d *deltas) begin(name, doc, signature string, pointers ...string) ([]reg.Register, reg.Register) {
	if d.level == "AVX512" {
		name += d.level // elements.function adds AVX2
	}
	return d.function(name, fmt.Sprintf("%s for keyDim rows of n columns, n a multiple of %d.", doc, d.lanes), signature, pointers...)
}

// recall generates the function that computes what the decayed state S holds for a key: Sᵀ·key.
func (d *deltas) recall() {
	p, n := d.begin("deltaRecall", "is deltaRecallGeneric",
		"func(recalled, s, key *float32, keyDim, n int, decay float32)", "recalled", "s", "key")
	d.columns(n, p[:2], func(name string, registers int, stride reg.Register) {
		sums, decay := d.zeros(registers), d.broadcast(d.address("decay"))
		rows := deltaRows{from: p[1], factors: []reg.Register{p[2]}, stride: stride, fetch: registers}
		d.rows(name, rows, func(row, _ reg.Register, factors []reg.VecVirtual) {
			for i, sum := range sums {
				x := d.register()
				d.VMULPS(d.at(row, i), decay, x)
				d.VMULPS(factors[0], x, x)
				d.VADDPS(x, sum, sum)
			}
		})
		d.store(sums, p[0])
	})
	d.end()
}

// step generates the function that advances a state by one token.
func (d *deltas) step(name string, parts stepParts) {
	doc, signature := "is deltaStepGeneric", "func(dst, out, s, key, change, query *float32, keyDim, n int, decay float32)"
	pointers := []string{"dst", "out", "s", "key", "change", "query"}
	if parts.recalls {
		doc = "is deltaStepGeneric and then deltaRecallGeneric of the new state, nextKey and nextDecay,"
		signature = "func(dst, out, recalled, s, key, change, query, nextKey *float32, keyDim, n int, decay, nextDecay float32)"
		pointers = append(pointers, "recalled", "nextKey")
	}
	p, n := d.begin("deltaStep"+name, doc, signature, pointers...)
	moving := []reg.Register{p[0], p[1], p[2], p[4]}
	if parts.recalls {
		moving = append(moving, p[6])
	}
	d.columns(n, moving, func(name string, registers int, stride reg.Register) {
		var sums, recalled []reg.VecVirtual
		var nextDecay reg.VecVirtual
		rows := deltaRows{from: p[2], stride: stride, factors: []reg.Register{p[3]}}
		if parts.stores {
			rows.to = p[0]
		}
		if parts.answers {
			sums, rows.factors = d.zeros(registers), append(rows.factors, p[5])
		} else {
			rows.fetch = registers // the first step of a pass: the state comes from memory
		}
		if parts.recalls {
			recalled, nextDecay, rows.factors = d.zeros(registers), d.broadcast(d.address("nextDecay")), append(rows.factors, p[7])
		}
		decay := d.broadcast(d.address("decay"))
		d.rows(name, rows, func(row, dst reg.Register, factors []reg.VecVirtual) {
			for i := range registers {
				x, y := d.register(), d.register()
				d.VMULPS(d.at(row, i), decay, x)
				d.VMULPS(d.at(p[4], i), factors[0], y)
				d.VADDPS(y, x, x)
				if parts.stores {
					d.VMOVUPS(x, d.at(dst, i))
				}
				if parts.answers {
					d.VMULPS(factors[1], x, y)
					d.VADDPS(y, sums[i], sums[i])
				}
				if parts.recalls {
					d.VMULPS(nextDecay, x, x)
					d.VMULPS(factors[len(factors)-1], x, x)
					d.VADDPS(x, recalled[i], recalled[i])
				}
			}
		})
		d.store(sums, p[1])
		if parts.recalls {
			d.store(recalled, p[6])
		}
	})
	d.end()
}

// columns loops over n columns, several registers at a time. body generates the code of a turn, after
// which the pointers are advanced. stride is the number of bytes of a row.
func (d *deltas) columns(n reg.Register, pointers []reg.Register, body func(name string, registers int, stride reg.Register)) {
	stride := d.GP64()
	d.MOVQ(n, stride)
	d.SHLQ(Imm(2), stride)
	for _, registers := range d.blocks {
		columns := d.lanes * registers
		name := fmt.Sprintf("columns%d", columns)
		d.elements.blocks(name, n, columns, 4*columns, pointers, func() { body(name, registers, stride) })
	}
}

// deltaRows are the rows of a state that a function reads at from and, if to is not nil, writes at to.
type deltaRows struct {
	from, to reg.Register
	stride   reg.Register   // bytes of a row
	factors  []reg.Register // addresses of vectors with a number for each row, which is broadcast
	fetch    int            // how many registers of the row eight rows further on are prefetched
}

// rows loops over the keyDim rows of a state.
func (d *deltas) rows(name string, r deltaRows, body func(row, dst reg.Register, factors []reg.VecVirtual)) {
	copied := func(r reg.Register) reg.Register {
		c := d.GP64()
		d.MOVQ(r, c)
		return c
	}
	row := copied(r.from)
	var dst reg.Register
	if r.to != nil {
		dst = copied(r.to)
	}
	at := d.GP64() // number of the row, and so the index of its number in each factor
	d.XORQ(at, at)
	d.Label(name + "Rows")
	for line := 0; line < 4*d.lanes*r.fetch; line += 64 {
		d.PREFETCHT0(Mem{Base: row, Index: r.stride, Scale: 8, Disp: line})
	}
	numbers := make([]reg.VecVirtual, len(r.factors))
	for i, f := range r.factors {
		numbers[i] = d.broadcast(Mem{Base: f, Index: at, Scale: 4})
	}
	body(row, dst, numbers)
	d.ADDQ(r.stride, row)
	if dst != nil {
		d.ADDQ(r.stride, dst)
	}
	d.INCQ(at)
	d.CMPQ(at, d.address("keyDim"))
	d.JNE(LabelRef(name + "Rows"))
}

// at returns where register i of a row of columns lies.
func (d *deltas) at(row reg.Register, i int) Mem { return Mem{Base: row, Disp: 4 * d.lanes * i} }

func (d *deltas) broadcast(number Mem) reg.VecVirtual {
	x := d.register()
	d.VBROADCASTSS(number, x)
	return x
}

// zeros returns n registers of zeros.
func (d *deltas) zeros(n int) []reg.VecVirtual {
	all := make([]reg.VecVirtual, n)
	for i := range all {
		all[i] = d.register()
		if d.lanes == 16 {
			zero(d.Context, all[i])
		} else {
			d.VXORPS(all[i], all[i], all[i])
		}
	}
	return all
}

// store writes registers to memory, one after the other.
func (d *deltas) store(registers []reg.VecVirtual, to reg.Register) {
	for i, r := range registers {
		d.VMOVUPS(r, d.at(to, i))
	}
}
