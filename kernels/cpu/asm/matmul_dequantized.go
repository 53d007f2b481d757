package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumLanes is the number of partial sums of a product; see ref.Dot.
const sumLanes = 16

// matmulDequantized writes the products of quantised weights with float32 activations. They take two
// kernels: one decodes some tiles of a panel to float32, column after column; the other multiplies
// them with every row of activations.
func matmulDequantized(c *build.Context) {
	for _, f := range formats {
		decodeAVX512(c, f)
	}
	for _, f := range formats {
		decodeAVX2(c, f)
	}
	columnsAVX512(c)
	columnsAVX2(c)
}

// beginDecode starts a function that decodes tiles.
func beginDecode(c *build.Context, f format, level string) arguments {
	open(c, "decode"+f.name+level, "func(dst *float32, tile *byte, head *byte, tiles int)",
		fmt.Sprintf("writes the weights of tiles of a %s panel, which share a head, to dst (32·tiles, 32): the 32 rows of one column, then the 32 rows of the next.", f.name))
	return arguments{acc: c.Load(c.Param("dst"), c.GP64()), w: c.Load(c.Param("tile"), c.GP64()), tiles: c.Load(c.Param("tiles"), c.GP64())}
}

// decodeTiles repeats body for each tile, and ends the function.
func decodeTiles(c *build.Context, f format, a arguments, body func()) {
	c.Label("tile")
	body()
	c.ADDQ(U32(4*panelRows*4*groups), a.acc)
	c.ADDQ(U32(f.tileBytes()), a.w)
	c.DECQ(a.tiles)
	c.JNZ(LabelRef("tile"))
	c.VZEROUPPER()
	c.RET()
}

func decodeAVX512(c *build.Context, f format) {
	p := &product512{Context: c, format: f}
	p.arguments = beginDecode(c, f, "AVX512")
	p.prepare()
	byteMask := p.constant(0xff)
	var bias reg.VecVirtual
	if f.biased {
		bias = p.constant(1 << f.biasBits)
	}
	if f.super {
		p.head = c.Load(c.Param("head"), c.GP64())
	}
	decodeTiles(c, f, p.arguments, func() {
		for i := range p.parts {
			p.readScales(i)
			minima := p.decodeMinima(i)
			p.readWeights(i)
			for column := range 4 * groups {
				p.decodeColumn(i, column, byteMask, bias, minima[column/16])
			}
		}
	})
}

// decodeMinima returns what is added to the weights of each half of a tile, or nil.
func (p *product512) decodeMinima(i int) (minima [2]reg.VecVirtual) {
	if p.mins {
		minima = [2]reg.VecVirtual{p.parts[i].min, p.parts[i].min}
	}
	if !p.nibbles {
		return minima
	}
	none := p.ZMM()
	zero(p.Context, none)
	for half := range minima {
		m := p.ZMM()
		p.VPMOVZXBD(lanes16(p.w, panelRows*half, i, 1), m)
		p.VPSRLD(Imm(4), m, m)
		p.VPSUBD(m, none, m)
		p.VCVTDQ2PS(m, m)
		p.VMULPS(p.parts[i].min, m, m)
		minima[half] = m
	}
	return minima
}

// decodeColumn stores the weights of a column: scale·(quant − bias), plus the minimum.
func (p *product512) decodeColumn(i, column int, byteMask, bias, min reg.VecVirtual) {
	part, t := &p.parts[i], p.ZMM()
	w, shift := part.weights[column/4], uint64(column%4*8)
	switch {
	case shift == 0:
		p.VPANDD(byteMask, w, t)
	case shift == 24:
		p.VPSRLD(Imm(shift), w, t)
	default:
		p.VPSRLD(Imm(shift), w, t)
		p.VPANDD(byteMask, t, t)
	}
	if bias != nil {
		p.VPSUBD(bias, t, t)
	}
	upper := column >= 16
	if p.halves {
		factor := part.low
		if upper {
			factor = part.high
		}
		p.VPMULLD(factor, t, t)
	}
	p.VCVTDQ2PS(t, t)
	if p.twoScales && upper {
		p.VMULPS(part.min, t, t)
	} else {
		p.VMULPS(part.scale, t, t)
	}
	if min != nil {
		p.VADDPS(min, t, t)
	}
	p.VMOVUPS(t, lanes16(p.acc, 4*panelRows*column, i, 4))
}

func decodeAVX2(c *build.Context, f format) {
	p := &product2{Context: c, format: f}
	p.arguments = beginDecode(c, f, "AVX2")
	if f.super {
		p.d = c.Load(c.Param("head"), c.GP64())
	}
	for g := range p.weights {
		p.weights[g] = c.YMM()
	}
	p.scale, p.min, p.low, p.high = c.YMM(), c.YMM(), c.YMM(), c.YMM()
	decodeTiles(c, f, p.arguments, func() {
		for p.part = range panelRows / 8 {
			p.readScales()
			minima := p.decodeMinima()
			p.readWeights()
			for column := range 4 * groups {
				p.decodeColumn(column, minima[column/16])
			}
		}
	})
}

// decodeMinima returns what product512.decodeMinima does.
func (p *product2) decodeMinima() (minima [2]reg.VecVirtual) {
	switch {
	case p.nibbles:
		none := p.YMM()
		p.VPXOR(none, none, none)
		for half, m := range []reg.VecVirtual{p.low, p.high} {
			p.VPMOVZXBD(at(p.w, p.share(panelRows*half, 1)), m)
			p.VPSRLD(Imm(4), m, m)
			p.VPSUBD(m, none, m)
			p.VCVTDQ2PS(m, m)
			p.VMULPS(p.min, m, m)
		}
		return [2]reg.VecVirtual{p.low, p.high}
	case p.mins:
		return [2]reg.VecVirtual{p.min, p.min}
	}
	return minima
}

// decodeColumn does what product512.decodeColumn does.
func (p *product2) decodeColumn(column int, min reg.VecVirtual) {
	t := p.YMM()
	w, shift := p.weights[column/4], uint64(column%4*8)
	if p.signed() {
		p.VPSLLD(Imm(24-shift), w, t)
		p.VPSRAD(Imm(24), t, t)
	} else {
		p.VPSRLD(Imm(shift), w, t)
		p.VPAND(lanes(p.Context, "byteMask", 0xff), t, t)
	}
	if p.hasBias() {
		p.VPSUBD(lanes(p.Context, fmt.Sprint("bias", p.biasBits), 1<<p.biasBits), t, t)
	}
	factor, scale := p.low, p.scale
	if column >= 16 {
		factor = p.high
		if p.twoScales {
			scale = p.min
		}
	}
	if p.halves {
		p.VPMULLD(factor, t, t)
	}
	p.VCVTDQ2PS(t, t)
	p.VMULPS(scale, t, t)
	if min != nil {
		p.VADDPS(min, t, t)
	}
	p.VMOVUPS(t, at(p.acc, p.share(4*panelRows*column, 4)))
}

// columns holds the registers of a kernel that multiplies decoded weights.
type columns struct {
	*build.Context
	sums, w, x, cols, m, stride reg.Register
}

func beginColumns(c *build.Context, level string) *columns {
	open(c, "columns"+level, "func(sums *float32, w *float32, x *float32, cols int, m int, stride int)",
		"adds the products of w (cols, 32) and m rows of x, which are stride bytes apart, to sums (m, 16, 32): the product of column k to sum k mod 16. cols is a multiple of 16.")
	argument := func(name string) reg.Register { return c.Load(c.Param(name), c.GP64()) }
	return &columns{c, argument("sums"), argument("w"), argument("x"), argument("cols"), argument("m"), argument("stride")}
}

// overRows repeats body for each row of activations.
func (k *columns) overRows(body func()) {
	k.Label("row")
	body()
	k.ADDQ(U32(4*panelRows*sumLanes), k.sums)
	k.ADDQ(k.stride, k.x)
	k.DECQ(k.m)
	k.JNZ(LabelRef("row"))
	k.VZEROUPPER()
	k.RET()
}

// part adds the products of one register of weight rows to the sums first … first+len(sums)−1, which
// stay in registers. add generates the addition of a column's product to a sum.
func (k *columns) part(name string, offset, first int, sums []reg.VecVirtual, add func(w, x Mem, sum reg.VecVirtual)) {
	at := func(base reg.Register, lane int) Mem { return at(base, 4*panelRows*(first+lane)+offset) }
	for lane, s := range sums {
		k.VMOVUPS(at(k.sums, lane), s)
	}
	w, x, left := k.GP64(), k.GP64(), k.GP64()
	k.MOVQ(k.w, w)
	k.MOVQ(k.x, x)
	k.MOVQ(k.cols, left)
	k.Label(name)
	for lane, s := range sums {
		add(at(w, lane), Mem{Base: x, Disp: 4 * (first + lane)}, s)
	}
	k.ADDQ(U32(4*panelRows*sumLanes), w)
	k.ADDQ(Imm(4*sumLanes), x)
	k.SUBQ(Imm(sumLanes), left)
	k.JNZ(LabelRef(name))
	for lane, s := range sums {
		k.VMOVUPS(s, at(k.sums, lane))
	}
}

func columnsAVX512(c *build.Context) {
	k := beginColumns(c, "AVX512")
	sums := make([]reg.VecVirtual, sumLanes)
	for lane := range sums {
		sums[lane] = k.ZMM()
	}
	k.overRows(func() {
		for part := range parts512 {
			k.part(fmt.Sprint("columns", part), 64*part, 0, sums, func(w, x Mem, sum reg.VecVirtual) {
				weights := k.ZMM()
				k.VMOVUPS(w, weights)
				k.VFMADD231PS_BCST(x, weights, sum)
			})
		}
	})
}

// columnsAVX2 takes eight weight rows at a time, one in each lane of a register. It goes over the columns twice,
// each time for half of the sums of these rows: all of the sums together would leave no register for the
// activation.
func columnsAVX2(c *build.Context) {
	k := beginColumns(c, "AVX2")
	sums := make([]reg.VecVirtual, sumLanes/2)
	for lane := range sums {
		sums[lane] = k.YMM()
	}
	k.overRows(func() {
		for part := range panelRows / 8 {
			for first := 0; first < sumLanes; first += len(sums) {
				k.part(fmt.Sprint("columns", part, "from", first), 32*part, first, sums, func(w, x Mem, sum reg.VecVirtual) {
					activation := k.YMM()
					k.VBROADCASTSS(x, activation)
					k.VFMADD231PS(w, activation, sum)
				})
			}
		}
	})
}
