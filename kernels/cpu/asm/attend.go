package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// keysPerBlock is how many keys lie side by side in the cache; see kernels/cpu.
const keysPerBlock = 16

// together is how many registers of sums are kept, so that the latency of an addition is hidden.
const together = 4

// attend writes the two products of attention for AVX2 and AVX-512, over a cache in float32 or in half precision.
func attend(c *build.Context) {
	for _, level := range []struct {
		name  string
		lanes int
	}{{"AVX2", 8}, {"AVX512", 16}} {
		for _, number := range []struct {
			name  string
			typ   string
			bytes int
		}{{"F32", "float32", 4}, {"F16", "uint16", 2}} {
			a := &attention{Context: c, lanes: level.lanes, bytes: number.bytes}
			a.scores("scoreKeys"+number.name+level.name, number.typ)
			a.values("sumValues"+number.name+level.name, number.typ)
		}
	}
}

// attention is one level and one type of numbers in the cache.
type attention struct {
	*build.Context
	lanes int // numbers in a register
	bytes int // of a number in the cache
}

func (a *attention) vec() reg.VecVirtual {
	if a.lanes == 16 {
		return a.ZMM()
	}
	return a.YMM()
}

// addProduct adds factor·memory to sum, rounding twice.
func (a *attention) addProduct(m Mem, factor, sum reg.VecVirtual) {
	t := a.vec()
	if a.bytes == 2 {
		a.VCVTPH2PS(m, t)
		a.VMULPS(t, factor, t)
	} else {
		a.VMULPS(m, factor, t)
	}
	a.VADDPS(t, sum, sum)
}

func (a *attention) zero(v reg.VecVirtual) {
	if a.lanes == 16 {
		a.VPXORD(v, v, v)
	} else {
		a.VXORPS(v, v, v)
	}
}

// repeat runs body while count is at least step, and takes step from it each time.
func (a *attention) repeat(name string, count reg.Register, step int, body func()) {
	a.JMP(LabelRef(name + "Check"))
	a.Label(name)
	body()
	a.SUBQ(U32(step), count)
	a.Label(name + "Check")
	a.CMPQ(count, U32(step))
	a.JGE(LabelRef(name))
}

func (a *attention) scores(name, typ string) {
	a.Function(name)
	a.Attributes(build.NOSPLIT)
	a.SignatureExpr("func(dst, q *float32, keys *" + typ + ", headDim, blocks int, scale float32)")
	a.Pragma("noescape")
	a.Doc(name + " is for i := range 16*blocks { dst[i] = scale * Σ q[d]·keys[i/16*16*headDim + 16*d + i%16] }, summed over ascending d.")
	dst, q, keys := a.Load(a.Param("dst"), a.GP64()), a.Load(a.Param("q"), a.GP64()), a.Load(a.Param("keys"), a.GP64())
	headDim, blocks := a.Load(a.Param("headDim"), a.GP64()), a.Load(a.Param("blocks"), a.GP64())
	scale := a.vec()
	b, err := a.Param("scale").Resolve()
	if err != nil {
		panic(err)
	}
	a.VBROADCASTSS(b.Addr, scale)
	blockBytes := a.GP64()
	a.IMUL3Q(U32(keysPerBlock*a.bytes), headDim, blockBytes)
	parts := keysPerBlock / a.lanes // registers to a block
	for _, n := range []int{together, 1} {
		a.repeat([]string{"", "block", "", "", "blocks"}[n], blocks, n, func() {
			a.scoreBlocks(n, parts, dst, q, keys, headDim, blockBytes, scale)
		})
	}
	a.VZEROUPPER()
	a.RET()
}

// scoreBlocks computes n blocks and advances dst and keys behind them.
func (a *attention) scoreBlocks(n, parts int, dst, q, keys, headDim, blockBytes reg.Register, scale reg.VecVirtual) {
	at := make([]reg.Register, n) // the n blocks at the number that is next
	sums := make([]reg.VecVirtual, n*parts)
	for i := range at {
		at[i] = a.GP64()
		a.MOVQ(keys, at[i])
		a.ADDQ(blockBytes, keys)
	}
	for i := range sums {
		sums[i] = a.vec()
		a.zero(sums[i])
	}
	x, left := a.GP64(), a.GP64()
	a.MOVQ(q, x)
	a.MOVQ(headDim, left)
	a.repeat([]string{"", "number", "", "", "numbers"}[n], left, 1, func() {
		factor := a.vec()
		a.VBROADCASTSS(Mem{Base: x}, factor)
		a.ADDQ(Imm(4), x)
		for i, sum := range sums {
			a.addProduct(Mem{Base: at[i/parts], Disp: i % parts * a.lanes * a.bytes}, factor, sum)
		}
		for _, p := range at {
			a.ADDQ(U32(keysPerBlock*a.bytes), p)
		}
	})
	for i, sum := range sums {
		a.VMULPS(scale, sum, sum)
		a.VMOVUPS(sum, Mem{Base: dst, Disp: 4 * a.lanes * i})
	}
	a.ADDQ(U32(4*keysPerBlock*n), dst)
}

func (a *attention) values(name, typ string) {
	a.Function(name)
	a.Attributes(build.NOSPLIT)
	a.SignatureExpr("func(dst *float32, values *" + typ + ", weights *float32, keys, stride, cols int)")
	a.Pragma("noescape")
	a.Doc(name + " is for d := range cols { dst[d] = Σ weights[j]·values[j*stride+d] }, summed over 0 ≤ j < keys, cols a multiple of 16.")
	dst, values, weights := a.Load(a.Param("dst"), a.GP64()), a.Load(a.Param("values"), a.GP64()), a.Load(a.Param("weights"), a.GP64())
	keys, stride, cols := a.Load(a.Param("keys"), a.GP64()), a.Load(a.Param("stride"), a.GP64()), a.Load(a.Param("cols"), a.GP64())
	strideBytes := a.GP64()
	a.IMUL3Q(U32(a.bytes), stride, strideBytes)
	for _, n := range []int{together, 1} {
		label := []string{"", "column", "", "", "columns"}[n]
		a.repeat(label, cols, n*a.lanes, func() {
			sums := make([]reg.VecVirtual, n)
			for i := range sums {
				sums[i] = a.vec()
				a.zero(sums[i])
			}
			value, weight, left := a.GP64(), a.GP64(), a.GP64()
			a.MOVQ(values, value)
			a.MOVQ(weights, weight)
			a.MOVQ(keys, left)
			a.repeat(label+"Keys", left, 1, func() {
				factor := a.vec()
				a.VBROADCASTSS(Mem{Base: weight}, factor)
				for i, sum := range sums {
					a.addProduct(Mem{Base: value, Disp: i * a.lanes * a.bytes}, factor, sum)
				}
				a.ADDQ(Imm(4), weight)
				a.ADDQ(strideBytes, value)
			})
			for i, sum := range sums {
				a.VMOVUPS(sum, Mem{Base: dst, Disp: 4 * a.lanes * i})
			}
			a.ADDQ(U32(n*a.lanes*4), dst)
			a.ADDQ(U32(n*a.lanes*a.bytes), values)
		})
	}
	a.VZEROUPPER()
	a.RET()
}
