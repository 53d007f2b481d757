package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"specula/kernels/cpu/layout"
)

// product2 is the state of a kernel that computes a panel in parts of eight lanes each. Constants stay
// in memory, because AVX2 has only sixteen registers.
type product2 struct {
	*build.Context
	format
	arguments
	part      int // the kernel's code is now generated for the lanes 8·part … 8·part+7
	weights   [groups]reg.VecVirtual
	scale     reg.VecVirtual // float32: of the super-block if halves have factors, else of the tile
	min       reg.VecVirtual
	low, high reg.VecVirtual // int32 factors of the tile's halves; with nibbles, see product512.minima
	sums      Mem            // of the current part
	d         reg.Register   // address of the super-block's scales
}

func productAVX2(c *build.Context, f format) {
	p := &product2{Context: c, format: f}
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

// share returns the offset of the part's lanes among 32 numbers that begin at offset. bytes is the size of
// a number.
func (p *product2) share(offset, bytes int) int { return offset + 8*bytes*p.part }

func (p *product2) readScales() {
	w := p.w
	if p.super {
		w = p.d
	}
	if p.exponent {
		p.VPMOVZXWD(at(w, p.share(0, 2)), p.scale)
		p.VPSLLD(Imm(16), p.scale, p.scale)
	} else {
		p.VCVTPH2PS(at(w, p.share(0, 2)), p.scale)
	}
	if p.unit != 1 {
		p.VMULPS(floats(p.Context, "unit"+p.name, p.unit), p.scale, p.scale)
	}
	if p.mins || p.twoScales {
		p.VCVTPH2PS(at(w, p.share(2*panelRows, 2)), p.min)
	}
	switch {
	case p.nibbles: // readWeights multiplies the quants by their own factors
		p.VPMOVZXBD(at(p.w, p.share(0, 1)), p.low)
		p.VPMOVZXBD(at(p.w, p.share(panelRows, 1)), p.high)
		p.VPSRLD(Imm(4), p.low, p.low)
		p.VPSRLD(Imm(4), p.high, p.high)
		p.VPSUBD(p.high, p.low, p.low)
	case p.oneFactor:
		t := p.YMM()
		p.VPMOVSXBD(at(p.w, p.share(0, 1)), t)
		p.VCVTDQ2PS(t, t)
		p.VMULPS(t, p.scale, p.scale)
	case p.halves:
		p.VPMOVSXBD(at(p.w, p.share(0, 1)), p.low)
		p.VPMOVSXBD(at(p.w, p.share(panelRows, 1)), p.high)
	case p.super:
		p.timesByte(p.scale, at(p.w, p.share(0, 1)))
		p.timesByte(p.min, at(p.w, p.share(panelRows, 1)))
		p.VXORPS(lanes(p.Context, "minus", 1<<31), p.min, p.min)
	}
}

func (p *product2) timesByte(y reg.VecVirtual, bytes Mem) {
	t := p.YMM()
	p.VPMOVZXBD(bytes, t)
	p.VCVTDQ2PS(t, t)
	p.VMULPS(t, y, y)
}

// readWeights unpacks the part's lanes to unsigned bytes, or to signed bytes for 8-bit quants and
// quants that stand for values of a table.
func (p *product2) readWeights() {
	base := p.tileScaleBytes()
	vector := func(offset, v int) Mem { return at(p.w, p.share(offset+4*panelRows*v, 4)) }
	if p.bytes() {
		for g, w := range p.weights {
			p.VMOVDQU(vector(base, g), w)
			p.VPXOR(lanes(p.Context, "signs", 0x80808080), w, w)
		}
		return
	}
	mask := lanes(p.Context, fmt.Sprint("low", p.lowBits), p.lowMask())
	if p.lowBits == 4 {
		for v := range groups / 2 {
			lower, upper := p.weights[v], p.weights[v+groups/2]
			p.VMOVDQU(vector(base+p.highBytes(), v), upper)
			p.VPAND(mask, upper, lower)
			p.VPSRLD(Imm(4), upper, upper)
			p.VPAND(mask, upper, upper)
		}
	} else {
		for g, w := range p.weights {
			v, shift := layout.Place(p.lowBits, g)
			p.VMOVDQU(vector(base+p.highBytes(), v), w)
			p.shift(w, -shift)
			p.VPAND(mask, w, w)
		}
	}
	if p.highBits > 0 {
		t := p.YMM()
		for g, w := range p.weights {
			v, shift := layout.Place(p.highBits, g)
			p.VMOVDQU(vector(base, v), t)
			p.shift(t, p.lowBits-shift)
			p.VPAND(lanes(p.Context, fmt.Sprintf("high%d%d", p.lowBits, p.highBits), p.highMask()), t, t)
			p.VPOR(t, w, w)
		}
	}
	if p.values != nil {
		t := p.YMM()
		p.VBROADCASTI128(bytes16(p.Context, "signed"+p.name, p.values, 0), t)
		for _, w := range p.weights {
			p.VPSHUFB(w, t, w)
		}
	}
	if p.nibbles {
		p.multiplyByNibbles()
	}
}

// multiplyByNibbles multiplies the quants by the factors of their halves, two bytes at a time in 16
// bits. A product is at most 3·15, so the low byte does not overflow into the high one.
func (p *product2) multiplyByNibbles() {
	factors, doubled := p.YMM(), p.YMM()
	for g, w := range p.weights {
		if half := g / (groups / 2); g%(groups/2) == 0 {
			p.VPMOVZXBD(at(p.w, p.share(panelRows*half, 1)), factors)
			p.VPAND(lanes(p.Context, "nibble", 15), factors, factors)
			p.VPSLLD(Imm(16), factors, doubled)
			p.VPOR(doubled, factors, factors)
		}
		p.VPMULLW(factors, w, w)
	}
}

// shift shifts to the left, or to the right if bits is below 0.
func (p *product2) shift(y reg.VecVirtual, bits int) {
	if bits > 0 {
		p.VPSLLD(Imm(uint64(bits)), y, y)
	}
	if bits < 0 {
		p.VPSRLD(Imm(uint64(-bits)), y, y)
	}
}

// row adds a tile to the sums of one row of activations, as product512.row does.
func (p *product2) row(px, pa reg.Register) {
	sums := at(pa, p.share(0, 4))
	dot, t := p.YMM(), p.YMM()
	var high reg.VecVirtual
	if p.split() {
		high = p.YMM()
		p.dot(px, 0, groups/2, dot)
		p.addBias(px, minusLowAt, dot, t)
		p.dot(px, groups/2, groups, high)
		if p.hasBias() {
			p.VPSUBD(t, high, high)
			p.addBias(px, minusSumAt, high, t)
		}
		if p.halves {
			p.VPMULLD(p.low, dot, dot)
			p.VPMULLD(p.high, high, high)
			p.VPADDD(high, dot, dot)
		}
	} else {
		p.dot(px, 0, groups, dot)
		p.addBias(px, minusSumAt, dot, t)
	}
	p.scaled(px, dot, p.scale)
	p.VADDPS(sums, dot, dot)
	switch {
	case p.twoScales:
		p.scaled(px, high, p.min)
		p.VADDPS(high, dot, dot)
	case p.nibbles:
		p.minima(px, t)
		p.scaled(px, t, p.min)
		p.VADDPS(t, dot, dot)
	case p.mins:
		p.VBROADCASTSS(at(px, scaledSumAt), t)
		p.VMULPS(t, p.min, t)
		p.VADDPS(t, dot, dot)
	}
	p.VMOVUPS(dot, sums)
}

// scaled replaces the integer sums dot by float32(dot)·(by·scale of x).
func (p *product2) scaled(px reg.Register, dot, by reg.VecVirtual) {
	t := p.YMM()
	p.VCVTDQ2PS(dot, dot)
	p.VBROADCASTSS(at(px, scaleAt), t)
	p.VMULPS(t, by, t)
	p.VMULPS(t, dot, dot)
}

// minima computes what product512.minima does.
func (p *product2) minima(px reg.Register, sum reg.VecVirtual) {
	low := p.YMM()
	p.VPBROADCASTD(at(px, minusSumAt), sum)
	p.VPMULLD(p.high, sum, sum)
	p.VPBROADCASTD(at(px, minusLowAt), low)
	p.VPMULLD(p.low, low, low)
	p.VPADDD(low, sum, sum)
}

// signed reports whether unpacked quants are signed.
func (p *product2) signed() bool { return p.bytes() || p.values != nil }

func (p *product2) hasBias() bool { return p.biased && !p.signed() }

// addBias subtracts from dot what the bias of the quants has added to it, and leaves minus this number in t.
func (p *product2) addBias(px reg.Register, minusSum int, dot, t reg.VecVirtual) {
	if !p.hasBias() {
		return
	}
	p.VPBROADCASTD(at(px, minusSum), t)
	p.shift(t, int(p.biasBits))
	p.VPADDD(t, dot, dot)
}

// dot multiplies the groups from … to−1. VPMADDUBSW adds two products in 16 bits, which must not
// saturate. Such a sum is at most 2·127·15 = 3,810 with quants of four bits, 7,874 with five, and
// 16,002 with six. So 8, 4 or 2 groups can be added before they are widened to 32 bits. A signed
// quant gives its sign to the activation first; with eight bits, a sum is at most 2·127·128 = 32,512.
func (p *product2) dot(px reg.Register, from, to int, dot reg.VecVirtual) {
	together := groups
	for together > 1 && together*2*127*p.largest() > math.MaxInt16 {
		together /= 2
	}
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
		p.VPMADDWD(lanes(p.Context, "ones", 0x00010001), sum, sum)
		if g == from {
			p.VMOVDQA(sum, dot)
		} else {
			p.VPADDD(sum, dot, dot)
		}
	}
}

// pair replaces the activations x by sums of two products x·w each, in 16 bits.
func (p *product2) pair(x, w reg.VecVirtual) {
	if p.signed() {
		magnitude := p.YMM()
		p.VPSIGNB(w, x, x)
		p.VPABSB(w, magnitude)
		p.VPMADDUBSW(x, magnitude, x)
		return
	}
	p.VPMADDUBSW(x, w, x)
}
