package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dots512 are the integer products of a tile and a row of activations.
type dots512 struct {
	sums   [parts512]reg.VecVirtual
	second [parts512]reg.VecVirtual // the sums of the tile's second half, or nil
}

// together returns how many rows of activations are multiplied at once: as many as registers allow.
// Instructions on different rows do not wait for each other.
func (p *product512) together() int {
	switch {
	case p.split():
		return 1
	case p.nibbles:
		return 2
	}
	return 3
}

// overRows adds the products of the tile to the sums of all rows of activations, as many rows at once as
// possible.
func (p *product512) overRows() {
	px, pa, left := p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(p.x, px)
	p.Load(p.Param("acc"), pa) // from memory: there are not enough registers to keep acc and m
	p.Load(p.Param("m"), left)
	p.Label("rowsLeft")
	for n := p.together(); n > 0; n-- {
		fewer := fmt.Sprint("fewerThan", n)
		p.CMPQ(left, Imm(uint64(n)))
		p.JL(LabelRef(fewer))
		p.rows(n, px, pa)
		p.ADDQ(Imm(uint64(n*recordBytes)), px)
		p.ADDQ(U32(uint32(n*4*panelRows)), pa)
		p.SUBQ(Imm(uint64(n)), left)
		p.JMP(LabelRef("rowsLeft"))
		p.Label(fewer)
	}
}

// rows adds the products of the tile to the sums of n rows of activations.
func (p *product512) rows(n int, px, pa reg.Register) {
	for r := range n {
		p.ahead.row(px, r)
	}
	for r, dots := range p.dots(n, px) {
		var sums [parts512]reg.VecVirtual
		p.addScaled(dots, px, r, func(i int, x reg.Register) {
			if sums[i] == nil {
				sums[i] = p.ZMM()
				p.VMOVUPS_Z(lanes16(pa, r*4*panelRows, i, 4), p.begun, sums[i])
			}
			p.VADDPS(x, sums[i], sums[i])
		})
		for i, sum := range sums {
			p.VMOVUPS(sum, lanes16(p.out, 0, i, 4))
		}
		p.ADDQ(p.outStride, p.out)
	}
}

// ofRecord is the address of a field of the record that is r records after px.
func ofRecord(px reg.Register, r, field int) Mem { return at(px, r*recordBytes+field) }

// addScaled calls add with the products of the tile and record r, part by part. The first product of a part is
// float32(dot)·(scale·x's scale). In formats with two scales, the dot and the scale of the tile's second half
// then give a second product in the same way. In formats with minima, the second product is that of the
// minimum: with factors in nibbles float32(n)·(min·x's scale), n from the function minima, and otherwise
// min·(x's scale·sum of x's quants).
func (p *product512) addScaled(dots dots512, px reg.Register, r int, add func(i int, x reg.Register)) {
	scaled := func(i int, dot, by reg.VecVirtual) {
		t := p.ZMM()
		p.VCVTDQ2PS(dot, dot)
		p.VMULPS_BCST(ofRecord(px, r, scaleAt), by, t)
		p.VMULPS(t, dot, dot)
		add(i, dot)
	}
	for i := range p.parts {
		part := &p.parts[i]
		scaled(i, dots.sums[i], part.scale)
		switch {
		case p.twoScales:
			scaled(i, dots.second[i], part.min)
		case p.nibbles:
			scaled(i, p.minima(px, r, part), part.min)
		case p.mins:
			t := p.ZMM()
			p.VMULPS_BCST(ofRecord(px, r, scaledSumAt), part.min, t)
			add(i, t)
		}
	}
}

// minima returns minus the sum, over both halves of the tile, of the half's factor of the minimum
// times the sum of the half's activations. It multiplies the sum of the whole tile by the second
// factor (part.high), and the sum of the first half by the first factor minus the second (part.low).
func (p *product512) minima(px reg.Register, r int, part *part512) reg.VecVirtual {
	sum := p.ZMM()
	zero(p.Context, sum)
	p.VPDPWSSD_BCST(ofRecord(px, r, minusSumAt), part.high, sum)
	p.VPDPWSSD_BCST(ofRecord(px, r, minusLowAt), part.low, sum)
	return sum
}

// dots computes the exact integer products of n rows of activations. The products of a single row are
// summed in two parts, which are added at the end: half as many instructions wait for each other.
func (p *product512) dots(n int, px reg.Register) []dots512 {
	apart := p.split() || n == 1
	all := make([]dots512, n)
	for r := range all {
		all[r] = p.startDots(px, r, apart)
	}
	for g := range groups / 2 {
		for r, d := range all {
			p.multiply(px, r, g, d.sums)
			if apart {
				p.multiply(px, r, g+groups/2, d.second)
			}
		}
	}
	for g := groups / 2; g < groups && !apart; g++ {
		for r, d := range all {
			p.multiply(px, r, g, d.sums)
		}
	}
	for _, d := range all {
		switch {
		case p.halves:
			p.addHalves(d)
		case apart && !p.twoScales:
			for i, second := range d.second {
				p.VPADDD(second, d.sums[i], d.sums[i])
			}
		}
	}
	return all
}

// startDots returns registers for a row's products. They start at minus what the bias of the quants
// will add to them. If apart is true, the second halves have registers of their own.
func (p *product512) startDots(px reg.Register, r int, apart bool) (d dots512) {
	for i := range p.parts {
		d.sums[i] = p.ZMM()
		if apart {
			d.second[i] = p.ZMM()
		}
	}
	switch {
	case p.split():
		p.bias(ofRecord(px, r, minusLowAt), d.sums[0])
		p.bias(ofRecord(px, r, minusSumAt), d.second[0])
		p.VPSUBD(d.sums[0], d.second[0], d.second[0])
		p.VMOVDQA64(d.second[0], d.second[1])
		p.VMOVDQA64(d.sums[0], d.sums[1])
		return d
	case p.biased:
		p.bias(ofRecord(px, r, minusSumAt), d.sums[0])
		p.VMOVDQA64(d.sums[0], d.sums[1])
	default:
		for _, sum := range d.sums {
			zero(p.Context, sum)
		}
	}
	if apart {
		for _, second := range d.second {
			zero(p.Context, second)
		}
	}
	return d
}

// bias broadcasts minus a sum of activations times the bias.
func (p *product512) bias(minusSum Mem, to reg.VecVirtual) {
	if p.biasBits == 0 {
		p.VPBROADCASTD(minusSum, to)
		return
	}
	p.VPSLLD_BCST(Imm(p.biasBits), minusSum, to)
}

// cutFactors clears the upper 16 bits of the halves' factors, if addHalves multiplies 16-bit numbers.
func (p *product512) cutFactors(i int) {
	if !p.shortHalves() {
		return
	}
	for _, factor := range []reg.VecVirtual{p.parts[i].low, p.parts[i].high} {
		p.VPANDD_BCST(lanes(p.Context, "word", 1<<16-1), factor, factor)
	}
}

// addHalves multiplies the products of both halves by their factors and adds them.
func (p *product512) addHalves(d dots512) {
	for i := range p.parts {
		part := &p.parts[i]
		if p.shortHalves() { // the upper 16 bits of a product only repeat its sign: their factor is 0
			p.VPMADDWD(part.low, d.sums[i], d.sums[i])
			p.VPDPWSSD(part.high, d.second[i], d.sums[i])
			continue
		}
		p.VPMULLD(part.low, d.sums[i], d.sums[i])
		p.VPMULLD(part.high, d.second[i], d.second[i])
		p.VPADDD(d.second[i], d.sums[i], d.sums[i])
	}
}

// multiply multiplies the four activations of group g (columns 4g to 4g+3) of a row with the weights of
// every row, and adds the products to sums[i], for the 16 weight rows of each part i.
func (p *product512) multiply(px reg.Register, r, g int, sums [parts512]reg.VecVirtual) {
	x := p.ZMM()
	p.VPBROADCASTD(ofRecord(px, r, quantsAt+4*g), x)
	for i := range p.parts {
		p.VPDPBUSD(x, p.parts[i].weights[g], sums[i])
	}
}
