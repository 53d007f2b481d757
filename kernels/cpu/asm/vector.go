package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// vector writes the operations on each number of a row, and sums over a row, with AVX2. The operations that a
// pass spends enough time on also exist for AVX-512.
func vector(c *build.Context) {
	v := &elements{Context: c, constants: map[string]Mem{}}
	v.add()
	v.times()
	v.mix()
	v.scale()
	v.squares()
	v.largest()
	v.rotate()
	v.rotatePairs()
	v.swiGLU()
	v.gelu()
	v.expSum()
	v.narrow()
	v.widen("widenHalf", 8, v.YMM)
	v.widen("widenHalfAVX512", 16, v.ZMM)
	v.swiGLU512()
	v.soften512()
	v.rmsNorm512()
}

// elements generates functions on rows of float32. They share constants, each of which is eight times in
// memory.
type elements struct {
	*build.Context
	constants map[string]Mem
}

func (v *elements) constant(name string, bits uint32) Mem {
	if m, ok := v.constants[name]; ok {
		return m
	}
	m := v.StaticGlobal("vector" + name)
	v.DataAttributes(build.RODATA | build.NOPTR)
	for lane := range 8 {
		v.AddDatum(4*lane, U32(bits))
	}
	v.constants[name] = m
	return m
}

func (v *elements) float(name string, f float32) Mem { return v.constant(name, math.Float32bits(f)) }

// function starts a function and returns its pointers and the count n.
func (v *elements) function(name, doc, signature string, pointers ...string) (p []reg.Register, n reg.Register) {
	if !strings.HasSuffix(name, "AVX512") {
		name += "AVX2"
	}
	v.Function(name)
	v.Attributes(build.NOSPLIT)
	v.SignatureExpr(signature)
	v.Pragma("noescape")
	v.Doc(name + " " + doc)
	for _, pointer := range pointers {
		p = append(p, v.Load(v.Param(pointer), v.GP64()))
	}
	return p, v.Load(v.Param("n"), v.GP64())
}

// loop generates a loop that runs body n/step times. After each iteration every pointer advances by the
// given number of bytes.
func (v *elements) loop(n reg.Register, step, bytes int, pointers []reg.Register, body func()) {
	v.blocks("next", n, step, bytes, pointers, body)
}

// blocks is loop with labels that begin with name. Afterwards n holds the rest, below step.
func (v *elements) blocks(name string, n reg.Register, step, bytes int, pointers []reg.Register, body func()) {
	v.CMPQ(n, U32(uint32(step)))
	v.JL(LabelRef(name + "Done"))
	v.Label(name)
	body()
	for _, p := range pointers {
		v.ADDQ(I32(int32(bytes)), p)
	}
	v.SUBQ(U32(uint32(step)), n)
	v.CMPQ(n, U32(uint32(step)))
	v.JGE(LabelRef(name))
	v.Label(name + "Done")
}

func (v *elements) end() {
	v.VZEROUPPER()
	v.RET()
}

func (v *elements) add() {
	p, n := v.function("add", "is for i := range n { x[i] += y[i] }, n a multiple of 8.", "func(x, y *float32, n int)", "x", "y")
	v.loop(n, 8, 32, p, func() {
		x := v.YMM()
		v.VMOVUPS(Mem{Base: p[0]}, x)
		v.VADDPS(Mem{Base: p[1]}, x, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
	})
	v.end()
}

func (v *elements) times() {
	p, n := v.function("times", "is for i := range n { x[i] *= factor }, n a multiple of 8.", "func(x *float32, n int, factor float32)", "x")
	factor := v.YMM()
	v.VBROADCASTSS(v.address("factor"), factor)
	v.loop(n, 8, 32, p, func() {
		x := v.YMM()
		v.VMULPS(Mem{Base: p[0]}, factor, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
	})
	v.end()
}

func (v *elements) mix() {
	p, n := v.function("mix", "is for i := range n { x[i] = x[i] * a + y[i] * b }, n a multiple of 8.", "func(x, y *float32, n int, a, b float32)", "x", "y")
	a, b := v.YMM(), v.YMM()
	v.VBROADCASTSS(v.address("a"), a)
	v.VBROADCASTSS(v.address("b"), b)
	v.loop(n, 8, 32, p, func() {
		x, y := v.YMM(), v.YMM()
		v.VMULPS(Mem{Base: p[0]}, a, x)
		v.VMULPS(Mem{Base: p[1]}, b, y)
		v.VADDPS(y, x, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
	})
	v.end()
}

func (v *elements) scale() {
	p, n := v.function("scale", "is for i := range n { dst[i] = x[i] * factor * w[i] }, n a multiple of 8.",
		"func(dst, x, w *float32, n int, factor float32)", "dst", "x", "w")
	factor := v.YMM()
	v.VBROADCASTSS(v.address("factor"), factor)
	v.loop(n, 8, 32, p, func() {
		x := v.YMM()
		v.VMULPS(Mem{Base: p[1]}, factor, x)
		v.VMULPS(Mem{Base: p[2]}, x, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
	})
	v.end()
}

// address returns where a scalar argument is in memory.
func (v *elements) address(name string) Mem {
	b, err := v.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

func (v *elements) squares() {
	p, n := v.function("squares", "is for i := range n { lanes[i%16] += x[i] * x[i] }, n a multiple of 16, from lanes of zero.",
		"func(lanes *[16]float32, x *float32, n int)", "lanes", "x")
	low, high := v.YMM(), v.YMM()
	v.VXORPS(low, low, low)
	v.VXORPS(high, high, high)
	v.loop(n, 16, 64, p[1:], func() {
		for i, sum := range []reg.VecVirtual{low, high} {
			x := v.YMM()
			v.VMOVUPS(Mem{Base: p[1], Disp: 32 * i}, x)
			v.VMULPS(x, x, x)
			v.VADDPS(x, sum, sum)
		}
	})
	v.VMOVUPS(low, Mem{Base: p[0]})
	v.VMOVUPS(high, Mem{Base: p[0], Disp: 32})
	v.end()
}

func (v *elements) largest() {
	p, n := v.function("largest", "writes to lanes[k] the largest x[i] with i%8 = k, n a multiple of 8; nan is not 0 if x has a NaN.",
		"func(lanes *[8]float32, x *float32, n int) (nan uint32)", "lanes", "x")
	largest, nans := v.YMM(), v.YMM()
	v.VMOVUPS(v.float("MinusInfinity", float32(math.Inf(-1))), largest)
	v.VXORPS(nans, nans, nans)
	v.loop(n, 8, 32, p[1:], func() {
		x, nan := v.YMM(), v.YMM()
		v.VMOVUPS(Mem{Base: p[1]}, x)
		v.VCMPPS(Imm(unordered), x, x, nan)
		v.VORPS(nan, nans, nans)
		v.VMAXPS(x, largest, largest)
	})
	v.VMOVUPS(largest, Mem{Base: p[0]})
	mask := v.GP32()
	v.VMOVMSKPS(nans, mask)
	v.Store(mask, v.Return("nan"))
	v.end()
}

func (v *elements) rotate() {
	p, n := v.function("rotate", "is for i := range n { low[i], high[i] = low[i]*cos[i]-high[i]*sin[i], low[i]*sin[i]+high[i]*cos[i] }, n a multiple of 8.",
		"func(low, high, cos, sin *float32, n int)", "low", "high", "cos", "sin")
	v.loop(n, 8, 32, p, func() {
		a, b, cos, sin, t := v.YMM(), v.YMM(), v.YMM(), v.YMM(), v.YMM()
		v.VMOVUPS(Mem{Base: p[0]}, a)
		v.VMOVUPS(Mem{Base: p[1]}, b)
		v.VMOVUPS(Mem{Base: p[2]}, cos)
		v.VMOVUPS(Mem{Base: p[3]}, sin)
		v.VMULPS(a, cos, t)
		v.VMULPS(a, sin, a)
		v.VMULPS(b, sin, sin)
		v.VMULPS(b, cos, cos)
		v.VSUBPS(sin, t, t)
		v.VADDPS(cos, a, a)
		v.VMOVUPS(t, Mem{Base: p[0]})
		v.VMOVUPS(a, Mem{Base: p[1]})
	})
	v.end()
}

func (v *elements) rotatePairs() {
	p, n := v.function("rotatePairs", "is for i := range n { x[2*i], x[2*i+1] = x[2*i]*cos[i]-x[2*i+1]*sin[i], x[2*i]*sin[i]+x[2*i+1]*cos[i] }, n a multiple of 4.",
		"func(x, cos, sin *float32, n int)", "x", "cos", "sin")
	v.loop(n, 4, 16, p[1:], func() {
		x, swapped, cos, sin := v.YMM(), v.YMM(), v.YMM(), v.YMM()
		v.VMOVUPS(Mem{Base: p[0]}, x)
		v.VPERMILPS(Imm(0xb1), x, swapped)
		for i, twice := range []reg.VecVirtual{cos, sin} { // each angle for both numbers of a pair
			v.VPMOVZXDQ(Mem{Base: p[1+i]}, twice)
			v.VMOVSLDUP(twice, twice)
		}
		v.VMULPS(cos, x, x)
		v.VMULPS(sin, swapped, swapped)
		v.VADDSUBPS(swapped, x, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
		v.ADDQ(Imm(32), p[0])
	})
	v.end()
}

func (v *elements) swiGLU() {
	p, n := v.function("swiGLU", "is for i := range n { gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i] }, n a multiple of 8.",
		"func(gate, up *float32, n int)", "gate", "up")
	v.loop(n, 8, 32, p, func() {
		g, e := v.YMM(), v.YMM()
		v.VMOVUPS(Mem{Base: p[0]}, g)
		v.VXORPS(v.constant("Sign", 1<<31), g, e)
		e = v.exp(e)
		v.VADDPS(v.float("One", 1), e, e)
		v.VDIVPS(e, g, g)
		v.VMULPS(Mem{Base: p[1]}, g, g)
		v.VMOVUPS(g, Mem{Base: p[0]})
	})
	v.end()
}

func (v *elements) gelu() {
	p, n := v.function("gelu", "is for i := range n { x[i] = x[i] / (1 + exp(-x[i]*(geluLinear+geluCubic*x[i]*x[i]))) }, n a multiple of 8.",
		"func(x *float32, n int)", "x")
	v.loop(n, 8, 32, p, func() {
		x, e := v.YMM(), v.YMM()
		v.VMOVUPS(Mem{Base: p[0]}, x)
		v.VMULPS(x, x, e)
		v.VMULPS(v.float("GELUCubic", 0.07135481), e, e)
		v.VADDPS(v.float("GELULinear", 1.5957691), e, e)
		v.VMULPS(x, e, e)
		v.VXORPS(v.constant("Sign", 1<<31), e, e)
		e = v.exp(e)
		v.VADDPS(v.float("One", 1), e, e)
		v.VDIVPS(e, x, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
	})
	v.end()
}

func (v *elements) expSum() {
	p, n := v.function("expSum", "is for i := range n { x[i] = exp(x[i] - shift); lanes[i%16] += x[i] }, n a multiple of 16, from lanes of zero.",
		"func(lanes *[16]float32, x *float32, n int, shift float32)", "lanes", "x")
	shift, low, high := v.YMM(), v.YMM(), v.YMM()
	v.VBROADCASTSS(v.address("shift"), shift)
	v.VXORPS(low, low, low)
	v.VXORPS(high, high, high)
	v.loop(n, 16, 64, p[1:], func() {
		for i, sum := range []reg.VecVirtual{low, high} {
			x := v.YMM()
			v.VMOVUPS(Mem{Base: p[1], Disp: 32 * i}, x)
			v.VSUBPS(shift, x, x)
			x = v.exp(x)
			v.VMOVUPS(x, Mem{Base: p[1], Disp: 32 * i})
			v.VADDPS(x, sum, sum)
		}
	})
	v.VMOVUPS(low, Mem{Base: p[0]})
	v.VMOVUPS(high, Mem{Base: p[0], Disp: 32})
	v.end()
}

func (v *elements) narrow() {
	p, n := v.function("narrow", "is for i := range n { dst[i] = toHalf(x[i]) }, n a multiple of 8.", "func(dst *uint16, x *float32, n int)", "dst", "x")
	v.loop(n, 8, 32, p[1:], func() {
		x := v.YMM()
		v.VMOVUPS(Mem{Base: p[1]}, x)
		v.VCVTPS2PH(Imm(0), x, Mem{Base: p[0]}) // to nearest, ties to even
		v.ADDQ(Imm(16), p[0])
	})
	v.end()
}

// widen converts half precision, lanes numbers at a time.
func (v *elements) widen(name string, lanes int, register func() reg.VecVirtual) {
	p, n := v.function(name, fmt.Sprintf("is for i := range n { dst[i] = half(x[i]) }, n a multiple of %d.", lanes), "func(dst *float32, x *uint16, n int)", "dst", "x")
	v.loop(n, lanes, 2*lanes, p[1:], func() {
		x := register()
		v.VCVTPH2PS(Mem{Base: p[1]}, x)
		v.VMOVUPS(x, Mem{Base: p[0]})
		v.ADDQ(Imm(uint64(4*lanes)), p[0])
	})
	v.end()
}

// Predicates of VCMPPS.
const (
	unordered = 3
	less      = 17 // ordered, quiet
	greater   = 30 // ordered, quiet
)

// exp is the function exp of kernels/cpu, step by step. The comments give the names of the
// variables there.
func (v *elements) exp(x reg.VecVirtual) reg.VecVirtual {
	const (
		log2e   = 1 / math.Ln2
		ln2High = 0x1.62e4p-1
		ln2Low  = math.Ln2 - ln2High
	)
	n, r, p, t := v.YMM(), v.YMM(), v.YMM(), v.YMM()
	bias := v.float("RoundingBias", 0x1.8p23)
	v.VMULPS(v.float("Log2E", log2e), x, n)
	v.VADDPS(bias, n, n) // shifted
	v.VSUBPS(bias, n, n)
	v.VMULPS(v.float("Ln2High", ln2High), n, t)
	v.VSUBPS(t, x, r)
	v.VMULPS(v.float("Ln2Low", ln2Low), n, t)
	v.VSUBPS(t, r, r)
	v.VMULPS(v.float("C7", 1.0/5040), r, p)
	v.VADDPS(v.float("C6", 1.0/720), p, p)
	for _, coefficient := range []struct {
		name  string
		value float32
	}{{"C5", 1.0 / 120}, {"C4", 1.0 / 24}, {"C3", 1.0 / 6}, {"Half", 0.5}, {"One", 1}, {"One", 1}} {
		v.VMULPS(r, p, p)
		v.VADDPS(v.float(coefficient.name, coefficient.value), p, p)
	}
	first := v.YMM()
	v.VCVTTPS2DQ(n, n) // exponent
	v.VPSRLD(Imm(31), n, first)
	v.VPADDD(n, first, first)
	v.VPSRAD(Imm(1), first, first) // half of it, towards zero
	v.VPSUBD(first, n, n)
	for _, exponent := range []reg.VecVirtual{first, n} {
		v.VPADDD(v.constant("ExponentBias", 127), exponent, exponent)
		v.VPSLLD(Imm(23), exponent, exponent)
		v.VMULPS(exponent, p, p)
	}
	v.VCMPPS(Imm(greater), v.float("Overflow", 88.72283), x, t)
	v.VBLENDVPS(t, v.float("Infinity", float32(math.Inf(1))), p, p)
	v.VCMPPS(Imm(less), v.float("Underflow", -87.33654), x, t)
	v.VANDNPS(p, t, p) // ^t & p
	v.VCMPPS(Imm(unordered), x, x, t)
	v.VBLENDVPS(t, x, p, p)
	return p
}
