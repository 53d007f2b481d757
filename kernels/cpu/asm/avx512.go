package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
	"github.com/mmcloughlin/avo/x86"
)

// parts512 is the number of registers for the lanes of a panel.
const parts512 = panelRows / 16

// product512 is the state of a kernel that computes both halves of a panel at once, so that one
// load of an activation serves two products.
type product512 struct {
	*build.Context
	format
	arguments
	mask, upper    reg.VecVirtual // masks of a quant's low bits, and of the high bits that lie apart
	values         reg.VecVirtual // the table of 16 values that quants stand for, plus 128, four times
	head           reg.Register   // address of the super-block's scales
	left           reg.Register   // tiles left
	ahead          ahead512
	begun          reg.Register // a mask: no lanes in the first tile, which has no sums to add to, then all
	out, outStride reg.Register // where the sums are written: to acc, and in the last tile to dst
	parts          [parts512]part512
}

// part512 is a tile's data for 16 lanes.
type part512 struct {
	weights   [groups]reg.VecVirtual
	scale     reg.VecVirtual // float32: of the super-block if halves have integer factors, else of the tile
	min       reg.VecVirtual
	low, high reg.VecVirtual    // int32 factors of the halves' products; with nibbles, see minima
	factors   [2]reg.VecVirtual // the halves' factors of the quants, which readWeights applies
}

// productAVX512 generates a kernel for several rows of activations. If few is true, the kernel is for
// leastFewRows to mostFewRows rows (constants of kernels/cpu), else for all other numbers of rows above one.
// second is the variant that prefetches weights into the second-level cache.
func productAVX512(c *build.Context, f format, few, second bool) {
	p := &product512{Context: c, format: f}
	name := "product" + f.name
	if few {
		name += "Few"
	}
	if second {
		name += "Second"
	}
	p.arguments = p.begin(name + "AVX512")
	p.prepare()
	p.begun = c.K()
	c.KXORW(p.begun, p.begun, p.begun)
	if few {
		p.ahead = &withRows{p, c.GP64(), second}
	} else {
		p.ahead = byNumber(p)
	}
	p.overTiles(func() {
		p.chooseOutput()
		p.overRows()
		c.KXNORW(p.begun, p.begun, p.begun)
		c.DECQ(p.left)
	})
	c.VZEROUPPER()
	c.RET()
}

// productInRegistersAVX512 generates the kernel for one or two rows of activations, whose sums stay in
// registers. With so few rows, the kernel reads weights as fast as memory allows, and every extra instruction
// costs visible time. near is the variant that prefetches weights into all caches.
func productInRegistersAVX512(c *build.Context, f format, rows int, near bool) {
	p := &product512{Context: c, format: f}
	name := fmt.Sprintf("product%sx%d", f.name, rows)
	if near {
		name += "Near"
	}
	open(c, name+"AVX512", "func(dst *float32, dstStride int, panel *byte, x *byte, tiles int, stride int)",
		fmt.Sprintf("writes the product of a %s panel and %d row(s) of activations, whose records are stride bytes apart, to 32 numbers of rows of dst that are dstStride bytes apart.", f.name, rows))
	argument := func(name string) reg.Register { return c.Load(c.Param(name), c.GP64()) }
	dst := argument("dst")
	p.arguments = arguments{w: argument("panel"), x: argument("x"), tiles: argument("tiles"), stride: argument("stride")}
	p.prepare()
	p.ahead = &inHalves{p: p, near: near}
	sums := make([][parts512]reg.VecVirtual, rows)
	for r := range sums {
		for i := range sums[r] {
			sums[r][i] = c.ZMM()
			zero(c, sums[r][i])
		}
	}
	p.overTiles(func() {
		for r, dots := range p.dots(rows, p.x) {
			p.addScaled(dots, p.x, r, func(i int, x reg.Register) { c.VADDPS(x, sums[r][i], sums[r][i]) })
		}
	})
	for r := range sums {
		if r > 0 {
			c.ADDQ(argument("dstStride"), dst)
		}
		for i, sum := range sums[r] {
			c.VMOVUPS(sum, lanes16(dst, 0, i, 4))
		}
	}
	c.VZEROUPPER()
	c.RET()
}

// prepare loads the constants and reserves the registers.
func (p *product512) prepare() {
	p.constants()
	for i := range p.parts {
		part := &p.parts[i]
		for g := range part.weights {
			part.weights[g] = p.ZMM()
		}
		part.scale, part.min, part.low, part.high = p.ZMM(), p.ZMM(), p.ZMM(), p.ZMM()
	}
	if p.super {
		p.head = p.GP64()
	}
}

// constants loads the constants of unpacking. Formats with a table or with nibbles leave no registers
// for masks, which then stay in memory.
func (p *product512) constants() {
	if p.format.values != nil {
		p.values = p.ZMM()
		p.VBROADCASTI32X4(bytes16(p.Context, "values"+p.name, p.format.values, 128), p.values)
	}
	if p.format.values != nil || p.nibbles {
		return
	}
	if !p.bytes() {
		p.mask = p.constant(p.lowMask())
	}
	if p.highBits > 0 {
		p.upper = p.constant(p.highMask())
	}
}

// and generates to = from & mask. The mask is a register or, if that is nil, bits in memory.
func (p *product512) and(mask reg.VecVirtual, bits uint32, from, to reg.VecVirtual) {
	if mask == nil {
		p.VPANDD_BCST(lanes(p.Context, fmt.Sprintf("mask%08x", bits), bits), from, to)
		return
	}
	p.VPANDD(mask, from, to)
}

// orMasked sets those bits of to that are set in from and in the mask, which is a register or, if that is
// nil, bits in memory.
func (p *product512) orMasked(mask reg.VecVirtual, bits uint32, from, to reg.VecVirtual) {
	const orAnd = 0xf8 // a | b&c
	if mask == nil {
		p.VPTERNLOGD_BCST(Imm(orAnd), lanes(p.Context, fmt.Sprintf("mask%08x", bits), bits), from, to)
		return
	}
	p.VPTERNLOGD(Imm(orAnd), mask, from, to)
}

// overTiles unpacks each tile and then multiplies it.
func (p *product512) overTiles(multiply func()) {
	overTiles(p.Context, p.format, p.arguments, func() {
		p.MOVQ(p.w, p.head)
		p.ahead.head()
	}, func() {
		p.ahead.before()
		for i := range p.parts {
			p.readScales(i)
			p.readWeights(i)
			p.cutFactors(i)
		}
		multiply()
		p.ahead.after()
	})
}

// begin starts a function and loads its arguments. chooseOutput loads the address of the output.
func (p *product512) begin(name string) arguments {
	open(p.Context, name, "func(dst *float32, dstStride int, acc *float32, panel *byte, x *byte, tiles int, m int, stride int)",
		fmt.Sprintf("writes the product of a %s panel and m rows of activations to m rows of dst, 32 numbers each, that are dstStride bytes apart. "+
			"Between tiles the sums are kept in acc (m, 32).", p.name))
	a := loadArguments(p.Context)
	p.left, p.out, p.outStride = p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(a.tiles, p.left)
	return a
}

// chooseOutput makes the sums go to acc, but after the last tile to dst.
func (p *product512) chooseOutput() {
	p.Load(p.Param("acc"), p.out)
	p.MOVQ(U32(4*panelRows), p.outStride)
	p.CMPQ(p.left, Imm(1))
	p.JNE(LabelRef("rows"))
	p.Load(p.Param("dst"), p.out)
	p.Load(p.Param("dstStride"), p.outStride)
	p.Label("rows")
}

func (p *product512) constant(v uint32) reg.VecVirtual { return every(p.Context, v) }

// every fills all 32-bit lanes of a register with v.
func every(c *build.Context, v uint32) reg.VecVirtual {
	r, z := c.GP32(), c.ZMM()
	c.MOVL(U32(v), r)
	c.VPBROADCASTD(r, z)
	return z
}

// zero clears a register by z XOR z. avo thinks that this reads z, and would keep z in use from the
// start of the function; so the inputs are removed.
func zero(c *build.Context, z reg.VecVirtual) {
	i, err := x86.VPXORD(z, z, z)
	if err != nil {
		panic(err)
	}
	i.CancellingInputs = true
	c.Instruction(i)
}

// lanes16 is the address of the 16 numbers of part i, among 32 numbers that begin at offset. bytes is the
// size of a number.
func lanes16(base reg.Register, offset, i, bytes int) Mem { return at(base, offset+16*bytes*i) }
