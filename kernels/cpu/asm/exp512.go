package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential512 is the function exp of kernels/cpu for sixteen numbers, with its constants in
// registers. AVX-512 has single instructions to round to an integer and to multiply by a power of
// two, for which exp takes two steps each; the results have the same bits.
type exponential512 struct {
	*build.Context
	log2e, ln2High, ln2Low reg.VecVirtual
	coefficients           [8]reg.VecVirtual // of the polynomial, highest first
	overflow, underflow    reg.VecVirtual
	infinity               reg.VecVirtual
}

func (v *elements) exponential512() *exponential512 {
	const ln2High = 0x1.62e4p-1
	load := func(name string, f float32) reg.VecVirtual {
		z := v.ZMM()
		v.VBROADCASTSS(v.float(name, f), z)
		return z
	}
	one := load("One", 1)
	return &exponential512{
		Context: v.Context,
		log2e:   load("Log2E", 1/math.Ln2), ln2High: load("Ln2High", ln2High), ln2Low: load("Ln2Low", math.Ln2-ln2High),
		coefficients: [8]reg.VecVirtual{
			load("C7", 1.0/5040), load("C6", 1.0/720), load("C5", 1.0/120), load("C4", 1.0/24), load("C3", 1.0/6), load("Half", 0.5), one, one,
		},
		overflow: load("Overflow", 88.72283), underflow: load("Underflow", -87.33654), infinity: load("Infinity", float32(math.Inf(1))),
	}
}

// of replaces each x by its exponential; NaN stays NaN. Each step is written for all x before the
// next step. The steps of one exponential depend on each other, so the processor needs several of
// them at a time to stay busy.
func (e *exponential512) of(x ...reg.VecVirtual) {
	const toNearest, notLess = 8, 21 // predicates: of VRNDSCALEPS (ties to even, quiet) and of VCMPPS
	n, r, p := make([]reg.VecVirtual, len(x)), make([]reg.VecVirtual, len(x)), make([]reg.VecVirtual, len(x))
	each := func(do func(i int)) {
		for i := range x {
			do(i)
		}
	}
	each(func(i int) { n[i], r[i], p[i] = e.ZMM(), e.ZMM(), e.ZMM() })
	each(func(i int) { e.VMULPS(e.log2e, x[i], n[i]) })
	each(func(i int) { e.VRNDSCALEPS(Imm(toNearest), n[i], n[i]) })
	each(func(i int) { e.VMULPS(e.ln2High, n[i], p[i]) })
	each(func(i int) { e.VSUBPS(p[i], x[i], r[i]) })
	each(func(i int) { e.VMULPS(e.ln2Low, n[i], p[i]) })
	each(func(i int) { e.VSUBPS(p[i], r[i], r[i]) })
	each(func(i int) { e.VMULPS(e.coefficients[0], r[i], p[i]) })
	each(func(i int) { e.VADDPS(e.coefficients[1], p[i], p[i]) })
	for _, c := range e.coefficients[2:] {
		each(func(i int) { e.VMULPS(r[i], p[i], p[i]) })
		each(func(i int) { e.VADDPS(c, p[i], p[i]) })
	}
	each(func(i int) { e.VSCALEFPS(n[i], p[i], p[i]) })
	each(func(i int) {
		over, kept := e.K(), e.K()
		e.VCMPPS(Imm(greater), e.overflow, x[i], over)
		e.VCMPPS(Imm(notLess), e.underflow, x[i], kept)
		e.VMOVAPS(e.infinity, over, p[i])
		e.VMOVAPS_Z(p[i], kept, x[i])
	})
}

func (v *elements) swiGLU512() {
	p, n := v.function("swiGLUAVX512", "is for i := range n { gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i] }, n a multiple of 16.",
		"func(gate, up *float32, n int)", "gate", "up")
	e := v.exponential512()
	sign := v.ZMM()
	v.VBROADCASTSS(v.constant("Sign", 1<<31), sign)
	for _, together := range []int{4, 1} {
		v.blocks(fmt.Sprint("blocks", together), n, 16*together, 64*together, p, func() {
			x := make([]reg.VecVirtual, together)
			for i := range x {
				x[i] = v.ZMM()
				v.VPXORD(Mem{Base: p[0], Disp: 64 * i}, sign, x[i])
			}
			e.of(x...)
			for i, x := range x {
				g := v.ZMM()
				v.VMOVUPS(Mem{Base: p[0], Disp: 64 * i}, g)
				v.VADDPS(e.coefficients[7], x, x)
				v.VDIVPS(x, g, g)
				v.VMULPS(Mem{Base: p[1], Disp: 64 * i}, g, g)
				v.VMOVUPS(g, Mem{Base: p[0], Disp: 64 * i})
			}
		})
	}
	v.end()
}
