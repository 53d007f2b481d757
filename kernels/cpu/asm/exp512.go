package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// exponential512 is the function exp of kernels/cpu for sixteen numbers, its constants in registers. What takes two steps there
// takes one here, rounding to an integer and multiplying by a power of two; the results have the same bits.
type exponential512 struct {
	*build.Context
	log2e, ln2High, ln2Low reg.VecVirtual
	coefficients           [8]reg.VecVirtual // of the polynomial, the highest first
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

// of replaces x by its exponential. A NaN stays one by itself.
func (e *exponential512) of(x reg.VecVirtual) {
	const toNearest, notLess = 8, 21 // predicates of VRNDSCALEPS, ties to even and quiet, and of VCMPPS
	n, r, p, t := e.ZMM(), e.ZMM(), e.ZMM(), e.ZMM()
	e.VMULPS(e.log2e, x, n)
	e.VRNDSCALEPS(Imm(toNearest), n, n)
	e.VMULPS(e.ln2High, n, t)
	e.VSUBPS(t, x, r)
	e.VMULPS(e.ln2Low, n, t)
	e.VSUBPS(t, r, r)
	e.VMULPS(e.coefficients[0], r, p)
	e.VADDPS(e.coefficients[1], p, p)
	for _, c := range e.coefficients[2:] {
		e.VMULPS(r, p, p)
		e.VADDPS(c, p, p)
	}
	e.VSCALEFPS(n, p, p)
	over, kept := e.K(), e.K()
	e.VCMPPS(Imm(greater), e.overflow, x, over)
	e.VCMPPS(Imm(notLess), e.underflow, x, kept)
	e.VMOVAPS(e.infinity, over, p)
	e.VMOVAPS_Z(p, kept, x)
}

func (v *elements) swiGLU512() {
	p, n := v.function("swiGLUAVX512", "is for i := range n { gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i] }, n a multiple of 16.",
		"func(gate, up *float32, n int)", "gate", "up")
	e := v.exponential512()
	sign := v.ZMM()
	v.VBROADCASTSS(v.constant("Sign", 1<<31), sign)
	v.loop(n, 16, 64, p, func() {
		g, x := v.ZMM(), v.ZMM()
		v.VMOVUPS(Mem{Base: p[0]}, g)
		v.VPXORD(sign, g, x)
		e.of(x)
		v.VADDPS(e.coefficients[7], x, x)
		v.VDIVPS(x, g, g)
		v.VMULPS(Mem{Base: p[1]}, g, g)
		v.VMOVUPS(g, Mem{Base: p[0]})
	})
	v.end()
}

func (v *elements) expSum512() {
	p, n := v.function("expSumAVX512", "is for i := range n { x[i] = exp(x[i] - shift); lanes[i%16] += x[i] }, n a multiple of 16, from lanes of zero.",
		"func(lanes *[16]float32, x *float32, n int, shift float32)", "lanes", "x")
	e := v.exponential512()
	shift, sum := v.ZMM(), v.ZMM()
	v.VBROADCASTSS(v.address("shift"), shift)
	v.VPXORD(sum, sum, sum)
	v.loop(n, 16, 64, p[1:], func() {
		x := v.ZMM()
		v.VMOVUPS(Mem{Base: p[1]}, x)
		v.VSUBPS(shift, x, x)
		e.of(x)
		v.VMOVUPS(x, Mem{Base: p[1]})
		v.VADDPS(x, sum, sum)
	})
	v.VMOVUPS(sum, Mem{Base: p[0]})
	v.end()
}
