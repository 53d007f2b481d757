package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// product2 is the state of a kernel that computes a panel in parts of eight lanes each.
type product2 struct {
	*build.Context
	format
	arguments
	constants
	part      int
	weights   [groups]reg.VecVirtual
	scale     reg.VecVirtual // float32, of the tile; where tiles have integer scales, of the super-block
	min       reg.VecVirtual
	low, high reg.VecVirtual // int32 scales of the tile's halves
	sums      Mem            // of the current part
	d         reg.Register   // address of the super-block's d
}

func productAVX2(c *build.Context, f format, shared constants) {
	p := &product2{Context: c, format: f, constants: shared}
	p.arguments = begin(c, "product"+f.name+"AVX2", describe(f))
	if f.super {
		p.d = c.GP64()
	}
	for g := range p.weights {
		p.weights[g] = c.YMM()
	}
	p.scale, p.min, p.low, p.high = c.YMM(), c.YMM(), c.YMM(), c.YMM()
	overTiles(c, f, p.arguments, func() { c.MOVQ(p.w, p.d) }, func() {
		for p.part = range panelRows / 8 {
			p.readScales()
			p.readWeights()
			overRows(c, p.arguments, fmt.Sprint("row", p.part), p.row)
		}
	})
	c.VZEROUPPER()
	c.RET()
}

// constants are in memory, where instructions can read them, because sixteen registers are not
// enough.
type constants struct{ nibbles, bit4, bits45, signs, ones Mem }

// share returns the offset of the part's lanes among 32 numbers of this size.
func (p *product2) share(offset, bytes int) int { return offset + 8*bytes*p.part }

func (p *product2) readScales() {
	w := p.w
	if p.super {
		w = p.d
	}
	p.VCVTPH2PS(at(w, p.share(0, 2)), p.scale)
	if p.mins {
		p.VCVTPH2PS(at(w, p.share(2*panelRows, 2)), p.min)
	}
	switch {
	case p.halves:
		p.VPMOVSXBD(at(p.w, p.share(0, 1)), p.low)
		p.VPMOVSXBD(at(p.w, p.share(panelRows, 1)), p.high)
	case p.super:
		p.timesByte(p.scale, at(p.w, p.share(0, 1)))
		p.timesByte(p.min, at(p.w, p.share(panelRows, 1)))
		zero := p.YMM()
		p.VXORPS(zero, zero, zero)
		p.VSUBPS(p.min, zero, p.min)
	}
}

func (p *product2) timesByte(y reg.VecVirtual, bytes Mem) {
	t := p.YMM()
	p.VPMOVZXBD(bytes, t)
	p.VCVTDQ2PS(t, t)
	p.VMULPS(t, y, y)
}

// readWeights unpacks the part's lanes to unsigned bytes, or to signed bytes for 8-bit quants.
func (p *product2) readWeights() {
	base := p.tileScaleBytes()
	vector := func(offset, v int) Mem { return at(p.w, p.share(offset+4*panelRows*v, 4)) }
	if p.bits == 8 {
		for g, w := range p.weights {
			p.VMOVDQU(vector(base, g), w)
			p.VPXOR(p.signs, w, w)
		}
		return
	}
	for v := range groups / 2 {
		lower, upper := p.weights[v], p.weights[v+groups/2]
		p.VMOVDQU(vector(base+p.highBytes(), v), upper)
		p.VPAND(p.nibbles, upper, lower)
		p.VPSRLD(Imm(4), upper, upper)
		p.VPAND(p.nibbles, upper, upper)
	}
	t := p.YMM()
	for g, w := range p.weights {
		switch p.bits {
		case 5:
			p.VMOVDQU(vector(base, 0), t)
			p.shift(t, 4-g)
			p.VPAND(p.bit4, t, t)
			p.VPOR(t, w, w)
		case 6:
			p.VMOVDQU(vector(base, g/4), t)
			p.shift(t, 4-2*(g%4))
			p.VPAND(p.bits45, t, t)
			p.VPOR(t, w, w)
		}
	}
}

// shift shifts to the left.
func (p *product2) shift(y reg.VecVirtual, bits int) {
	if bits > 0 {
		p.VPSLLD(Imm(uint64(bits)), y, y)
	}
	if bits < 0 {
		p.VPSRLD(Imm(uint64(-bits)), y, y)
	}
}

// row adds one row of activations, as in product512.
func (p *product2) row(px, pa reg.Register) {
	sums := at(pa, p.share(0, 4))
	dot, t := p.YMM(), p.YMM()
	if p.halves {
		p.dot(px, 0, groups/2, dot)
		p.addBias(px, minusLowAt, dot, t)
		p.VPMULLD(p.low, dot, dot)
		high := p.YMM()
		p.dot(px, groups/2, groups, high)
		p.VPSUBD(t, high, high)
		p.addBias(px, minusSumAt, high, t)
		p.VPMULLD(p.high, high, high)
		p.VPADDD(high, dot, dot)
	} else {
		p.dot(px, 0, groups, dot)
		if p.biasBits != 0 && p.bits != 8 {
			p.addBias(px, minusSumAt, dot, t)
		}
	}
	p.VCVTDQ2PS(dot, dot)
	p.VBROADCASTSS(at(px, scaleAt), t)
	p.VMULPS(t, p.scale, t)
	p.VMULPS(t, dot, dot)
	p.VADDPS(sums, dot, dot)
	if p.mins {
		p.VBROADCASTSS(at(px, scaledSumAt), t)
		p.VMULPS(t, p.min, t)
		p.VADDPS(t, dot, dot)
	}
	p.VMOVUPS(dot, sums)
}

// addBias adds minus the bias's share of the products to dot; t is scratch.
func (p *product2) addBias(px reg.Register, minusSum int, dot, t reg.VecVirtual) {
	p.VPBROADCASTD(at(px, minusSum), t)
	p.VPSLLD(Imm(p.biasBits), t, t)
	p.VPADDD(t, dot, dot)
}

// dot multiplies the groups from … to−1. VPMADDUBSW adds two products in 16 bits, which must not
// saturate. The sums are at most 2·127·15 = 3,810 with four bits, 7,874 with five, and 16,002 with
// six. So 8, 4 or 2 groups can be added before they are widened to 32 bits. For eight bits, the
// magnitude of the weight is multiplied with the activation, which takes the weight's sign:
// 2·127·128 = 32,512.
func (p *product2) dot(px reg.Register, from, to int, dot reg.VecVirtual) {
	together := map[int]int{4: 8, 5: 4, 6: 2, 8: 1}[p.bits]
	for g := from; g < to; g += together {
		sum := p.YMM()
		for k := range min(together, to-g) {
			product := p.YMM()
			if k == 0 {
				product = sum
			}
			p.VPBROADCASTD(at(px, quantsAt+4*(g+k)), product)
			p.pair(product, p.weights[g+k])
			if k > 0 {
				p.VPADDW(product, sum, sum)
			}
		}
		p.VPMADDWD(p.ones, sum, sum)
		if g == from {
			p.VMOVDQA(sum, dot)
		} else {
			p.VPADDD(sum, dot, dot)
		}
	}
}

// pair replaces activations by sums of pairs of products, in 16 bits.
func (p *product2) pair(x, w reg.VecVirtual) {
	if p.bits == 8 {
		magnitude := p.YMM()
		p.VPSIGNB(w, x, x)
		p.VPABSB(w, magnitude)
		p.VPMADDUBSW(x, magnitude, x)
		return
	}
	p.VPMADDUBSW(x, w, x)
}
