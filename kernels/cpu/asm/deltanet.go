package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The state of a head of a gated delta net is (keyDim, n). A vector lane is a column of the state, and
// adds up its rows in ascending order. Columns are taken 32 at a time, and the rest 8 at a time.

func deltaNet(c *build.Context) {
	v := &elements{Context: c, constants: map[string]Mem{}}
	v.deltaRecall()
	v.deltaStep("", true, true)
	v.deltaStep("Store", true, false)
	v.deltaStep("Answer", false, true)
}

// deltaRecall generates the function that computes what the decayed state S holds for a key: Sᵀ·key.
func (v *elements) deltaRecall() {
	p, n := v.function("deltaRecall", "is deltaRecallGeneric for keyDim rows of n columns, n a multiple of 8.",
		"func(recalled, s, key *float32, keyDim, n int, decay float32)", "recalled", "s", "key")
	v.columns(n, p[:2], func(name string, registers int, stride reg.Register) {
		sums := v.zeros(registers)
		decay := v.YMM()
		v.VBROADCASTSS(v.address("decay"), decay)
		v.rows(name, p[1], nil, stride, []reg.Register{p[2]}, func(row, _ reg.Register, factors []reg.VecVirtual) {
			for i, sum := range sums {
				x := v.YMM()
				v.VMULPS(Mem{Base: row, Disp: 32 * i}, decay, x)
				v.VMULPS(factors[0], x, x)
				v.VADDPS(x, sum, sum)
			}
		})
		v.store(sums, p[0])
	})
	v.end()
}

// deltaStep generates the function that updates a state for a token (stores) and computes the state's
// answer to a query (answers). There are variants for only one of the two.
func (v *elements) deltaStep(name string, stores, answers bool) {
	p, n := v.function("deltaStep"+name, "is deltaStepGeneric for keyDim rows of n columns, n a multiple of 8.",
		"func(dst, out, s, key, change, query *float32, keyDim, n int, decay float32)", "dst", "out", "s", "key", "change", "query")
	v.columns(n, []reg.Register{p[0], p[1], p[2], p[4]}, func(name string, registers int, stride reg.Register) {
		var sums []reg.VecVirtual
		if answers {
			sums = v.zeros(registers)
		}
		decay, change := v.YMM(), make([]reg.VecVirtual, registers)
		v.VBROADCASTSS(v.address("decay"), decay)
		for i := range change {
			change[i] = v.YMM()
			v.VMOVUPS(Mem{Base: p[4], Disp: 32 * i}, change[i])
		}
		var dst reg.Register
		if stores {
			dst = p[0]
		}
		factors := []reg.Register{p[3]}
		if answers {
			factors = append(factors, p[5])
		}
		v.rows(name, p[2], dst, stride, factors, func(row, dst reg.Register, factors []reg.VecVirtual) {
			for i, c := range change {
				x, added := v.YMM(), v.YMM()
				v.VMULPS(Mem{Base: row, Disp: 32 * i}, decay, x)
				v.VMULPS(factors[0], c, added)
				v.VADDPS(added, x, x)
				if stores {
					v.VMOVUPS(x, Mem{Base: dst, Disp: 32 * i})
				}
				if answers {
					v.VMULPS(factors[1], x, x)
					v.VADDPS(x, sums[i], sums[i])
				}
			}
		})
		v.store(sums, p[1])
	})
	v.end()
}

// columns loops over n columns, first four registers at a time and then one. body generates the code of a
// turn, after which the pointers are advanced. stride is the number of bytes of a row.
func (v *elements) columns(n reg.Register, pointers []reg.Register, body func(name string, registers int, stride reg.Register)) {
	stride := v.GP64()
	v.MOVQ(n, stride)
	v.SHLQ(Imm(2), stride)
	for _, registers := range []int{4, 1} {
		name := fmt.Sprintf("columns%d", 8*registers)
		v.blocks(name, n, 8*registers, 32*registers, pointers, func() { body(name, registers, stride) })
	}
}

// rows loops over the keyDim rows that begin at from, and those at to, if to is not nil. For each row
// it broadcasts the next number at each of the pointers factors.
func (v *elements) rows(name string, from, to, stride reg.Register, factors []reg.Register, body func(row, dst reg.Register, factors []reg.VecVirtual)) {
	count := v.Load(v.Param("keyDim"), v.GP64())
	copied := func(r reg.Register) reg.Register {
		c := v.GP64()
		v.MOVQ(r, c)
		return c
	}
	row := copied(from)
	var dst reg.Register
	if to != nil {
		dst = copied(to)
	}
	var at []reg.Register
	for _, f := range factors {
		at = append(at, copied(f))
	}
	v.Label(name + "Rows")
	numbers := make([]reg.VecVirtual, len(at))
	for i, f := range at {
		numbers[i] = v.YMM()
		v.VBROADCASTSS(Mem{Base: f}, numbers[i])
		v.ADDQ(Imm(4), f)
	}
	body(row, dst, numbers)
	v.ADDQ(stride, row)
	if dst != nil {
		v.ADDQ(stride, dst)
	}
	v.DECQ(count)
	v.JNZ(LabelRef(name + "Rows"))
}

// zeros returns n registers of zeros.
func (v *elements) zeros(n int) []reg.VecVirtual {
	all := make([]reg.VecVirtual, n)
	for i := range all {
		all[i] = v.YMM()
		v.VXORPS(all[i], all[i], all[i])
	}
	return all
}

// store writes registers to memory, one after the other.
func (v *elements) store(registers []reg.VecVirtual, to reg.Register) {
	for i, r := range registers {
		v.VMOVUPS(r, Mem{Base: to, Disp: 32 * i})
	}
}
