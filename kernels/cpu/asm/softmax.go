package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// softmax writes the float64 steps of a softmax over a vocabulary: weights, and their scaling. The
// order of additions is fixed by eight partial sums, one for each lane of an AVX-512 register.
func softmax(c *build.Context) {
	s := &doubles{Context: c, constants: map[string]Mem{}}
	for _, wide := range []bool{false, true} {
		s.wide = wide
		s.expRow()
		s.multiplyRow()
	}
}

// doubles generates code for registers of 8 numbers when wide (AVX-512), otherwise of 4 (AVX2).
type doubles struct {
	*build.Context
	constants map[string]Mem
	wide      bool
}

const doubleLanes = 8

func (s *doubles) register() reg.VecVirtual {
	if s.wide {
		return s.ZMM()
	}
	return s.YMM()
}

// parts returns how many registers hold eight numbers.
func (s *doubles) parts() int {
	if s.wide {
		return 1
	}
	return 2
}

func (s *doubles) width() int { return 8 * doubleLanes / s.parts() }

func (s *doubles) constant(name string, x float64) Mem {
	if m, ok := s.constants[name]; ok {
		return m
	}
	m := s.StaticGlobal("softmax" + name)
	s.DataAttributes(build.RODATA | build.NOPTR)
	for lane := range doubleLanes {
		s.AddDatum(8*lane, U64(math.Float64bits(x)))
	}
	s.constants[name] = m
	return m
}

// function starts a function and returns its pointers and the count n.
func (s *doubles) function(name, doc, signature string, pointers ...string) (p []reg.Register, n reg.Register) {
	name += map[bool]string{false: "AVX2", true: "AVX512"}[s.wide]
	s.Function(name)
	s.Attributes(build.NOSPLIT)
	s.SignatureExpr(signature)
	s.Pragma("noescape")
	s.Doc(name + " " + doc + " n is a multiple of 8.")
	for _, pointer := range pointers {
		p = append(p, s.Load(s.Param(pointer), s.GP64()))
	}
	return p, s.Load(s.Param("n"), s.GP64())
}

// argument loads a scalar argument to all lanes of a register.
func (s *doubles) argument(name string) reg.VecVirtual {
	b, err := s.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := s.register()
	s.VBROADCASTSD(b.Addr, r)
	return r
}

func (s *doubles) zeros() []reg.VecVirtual {
	list := make([]reg.VecVirtual, s.parts())
	for i := range list {
		list[i] = s.register()
		if s.wide {
			s.VPXORQ(list[i], list[i], list[i])
		} else {
			s.VXORPD(list[i], list[i], list[i])
		}
	}
	return list
}

// loop repeats body for every eight numbers and then advances each pointer by its number of bytes.
func (s *doubles) loop(n reg.Register, pointers []reg.Register, bytes []int, body func()) {
	s.CMPQ(n, Imm(doubleLanes))
	s.JL(LabelRef("done"))
	s.Label("next")
	body()
	for i, p := range pointers {
		s.ADDQ(Imm(uint64(bytes[i])), p)
	}
	s.SUBQ(Imm(doubleLanes), n)
	s.CMPQ(n, Imm(doubleLanes))
	s.JGE(LabelRef("next"))
	s.Label("done")
}

func (s *doubles) store(sums []reg.VecVirtual, at reg.Register) {
	for i, sum := range sums {
		s.VMOVUPD(sum, Mem{Base: at, Disp: i * s.width()})
	}
}

func (s *doubles) end() {
	s.VZEROUPPER()
	s.RET()
}

func (s *doubles) expRow() {
	p, n := s.function("expRow", "is for i := range n { dst[i] = exp64((x[i] - peak) * factor); sums[i%8] += dst[i] }, from sums of zero.",
		"func(sums *[8]float64, dst *float64, x *float32, n int, peak, factor float64)", "sums", "dst", "x")
	peak, factor, sums := s.argument("peak"), s.argument("factor"), s.zeros()
	s.loop(n, p[1:], []int{64, 32}, func() {
		for i, sum := range sums {
			x := s.register()
			s.VCVTPS2PD(Mem{Base: p[2], Disp: i * s.width() / 2}, x)
			s.VSUBPD(peak, x, x)
			s.VMULPD(factor, x, x)
			e := s.exp(x)
			s.VMOVUPD(e, Mem{Base: p[1], Disp: i * s.width()})
			s.VADDPD(e, sum, sum)
		}
	})
	s.store(sums, p[0])
	s.end()
}

func (s *doubles) multiplyRow() {
	p, n := s.function("multiplyRow", "is for i := range n { x[i] *= factor }.", "func(x *float64, n int, factor float64)", "x")
	factor := s.argument("factor")
	s.loop(n, p, []int{64}, func() {
		for i := range s.parts() {
			at := Mem{Base: p[0], Disp: i * s.width()}
			x := s.register()
			s.VMULPD(at, factor, x)
			s.VMOVUPD(x, at)
		}
	})
	s.end()
}

// notLess is the predicate of VCMPPD for "greater or equal, ordered, quiet".
const notLess = 29

// exp is the function exp64 of kernels/cpu, step by step. The registers have the names of the variables
// of exp64.
func (s *doubles) exp(x reg.VecVirtual) reg.VecVirtual {
	shifted, n, r, p, t := s.register(), s.register(), s.register(), s.register(), s.register()
	bias := s.constant("RoundingBias", 0x1.8p52)
	s.VMULPD(s.constant("Log2E", math.Log2E), x, shifted)
	s.VADDPD(bias, shifted, shifted)
	s.VSUBPD(bias, shifted, n)
	s.VMULPD(s.constant("Ln2High", 6.93147180369123816490e-01), n, t)
	s.VSUBPD(t, x, r)
	s.VMULPD(s.constant("Ln2Low", 1.90821492927058770002e-10), n, t)
	s.VSUBPD(t, r, r)
	factorial := 39916800.0 // 11!
	s.VMULPD(s.constant("C11", 1/factorial), r, p)
	for k := 11; k > 0; k-- {
		factorial /= float64(k)
		s.VADDPD(s.constant("C"+string(rune('a'+k-1)), 1/factorial), p, p)
		if k > 1 {
			s.VMULPD(r, p, p)
		}
	}
	s.VPSLLQ(Imm(52), shifted, shifted)
	s.VPADDQ(shifted, p, p)
	least := s.constant("Least", -707)
	if s.wide {
		enough := s.K()
		s.VCMPPD(Imm(notLess), least, x, enough)
		s.VMOVUPD_Z(p, enough, p)
		return p
	}
	s.VCMPPD(Imm(notLess), least, x, t)
	s.VANDPD(t, p, p)
	return p
}
