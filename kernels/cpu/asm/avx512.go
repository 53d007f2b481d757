package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// prefetchBytes is how far ahead of its use a panel is asked for, so that memory is read while the rows are computed.
const prefetchBytes = 4096

// product512 is the state of a kernel with one register of 16 lanes.
type product512 struct {
	*build.Context
	format
	arguments
	mask, highMask reg.VecVirtual
	d, dmin        reg.VecVirtual // of the super-block
	weights        [groups]reg.VecVirtual
	scale, min     reg.VecVirtual // float32, of the tile
	low, high      reg.VecVirtual // int32 scales of the tile's halves
}

func productAVX512(c *build.Context, f format) {
	p := &product512{Context: c, format: f}
	p.arguments = begin(c, "product"+f.name+"AVX512", describe(f))
	if f.bits != 8 {
		p.mask = p.constant(0x0f0f0f0f)
	}
	switch f.bits {
	case 5:
		p.highMask = p.constant(0x10101010)
	case 6:
		p.highMask = p.constant(0x30303030)
	}
	for g := range p.weights {
		p.weights[g] = c.ZMM()
	}
	p.d, p.dmin, p.scale, p.min, p.low, p.high = c.ZMM(), c.ZMM(), c.ZMM(), c.ZMM(), c.ZMM(), c.ZMM()
	overTiles(c, f, p.arguments, p.readSuper, func() {
		p.readScales()
		p.readWeights()
		overRows(c, p.arguments, "row", p.row)
	})
	c.VZEROUPPER()
	c.RET()
}

// constant fills a register's 32-bit lanes.
func (p *product512) constant(v uint32) reg.VecVirtual {
	r, z := p.GP32(), p.ZMM()
	p.MOVL(U32(v), r)
	p.VPBROADCASTD(r, z)
	return z
}

func (p *product512) readSuper() {
	p.VCVTPH2PS(at(p.w, 0), p.d)
	if p.mins {
		p.VCVTPH2PS(at(p.w, 2*panelRows), p.dmin)
		zero := p.ZMM()
		p.VPXORD(zero, zero, zero)
		p.VSUBPS(p.dmin, zero, p.dmin)
	}
}

// readScales sets scale and min, or the integer scales of the halves.
func (p *product512) readScales() {
	switch {
	case p.halves:
		p.VPMOVSXBD(at(p.w, 0), p.low)
		p.VPMOVSXBD(at(p.w, panelRows), p.high)
	case p.super:
		p.VPMOVZXBD(at(p.w, 0), p.scale)
		p.VPMOVZXBD(at(p.w, panelRows), p.min)
		p.VCVTDQ2PS(p.scale, p.scale)
		p.VCVTDQ2PS(p.min, p.min)
		p.VMULPS(p.d, p.scale, p.scale)
		p.VMULPS(p.dmin, p.min, p.min)
	default:
		p.VCVTPH2PS(at(p.w, 0), p.scale)
		if p.mins {
			p.VCVTPH2PS(at(p.w, 2*panelRows), p.min)
		}
	}
}

// readWeights unpacks the tile: lane r of weights[g] holds columns 4g … 4g+3 of row r as unsigned bytes.
func (p *product512) readWeights() {
	for ahead := 0; ahead < p.tileBytes(); ahead += 64 {
		p.PREFETCHT0(at(p.w, prefetchBytes+ahead))
	}
	base := p.tileScaleBytes()
	if p.bits == 8 {
		for g, w := range p.weights {
			p.VMOVDQU64(at(p.w, base+64*g), w)
		}
		return
	}
	for v := range groups / 2 {
		lower, upper := p.weights[v], p.weights[v+groups/2]
		p.VMOVDQU64(at(p.w, base+p.highBytes()+64*v), upper)
		p.VPANDD(p.mask, upper, lower)
		p.VPSRLD(Imm(4), upper, upper)
		p.VPANDD(p.mask, upper, upper)
	}
	for g := range p.weights {
		p.addHighBits(g, base)
	}
}

// addHighBits adds what the quants have above their four low bits.
func (p *product512) addHighBits(g, base int) {
	var from, shift int // shift to the left
	switch p.bits {
	case 4:
		return
	case 5:
		from, shift = base, 4-g
	case 6:
		from, shift = base+64*(g/4), 4-2*(g%4)
	}
	t := p.ZMM()
	p.VMOVDQU64(at(p.w, from), t)
	switch {
	case shift > 0:
		p.VPSLLD(Imm(uint64(shift)), t, t)
	case shift < 0:
		p.VPSRLD(Imm(uint64(-shift)), t, t)
	}
	p.VPANDD(p.highMask, t, t)
	p.VPORD(t, p.weights[g], p.weights[g])
}

// row adds one row of activations: acc += float32(dot)·(scale·x's scale), and then min·(x's scale·sum).
func (p *product512) row(px, pa reg.Register) {
	dot := p.dot(px)
	p.VCVTDQ2PS(dot, dot)
	scale := p.ZMM()
	if p.halves {
		p.VMULPS_BCST(at(px, scaleAt), p.d, scale)
	} else {
		p.VMULPS_BCST(at(px, scaleAt), p.scale, scale)
	}
	p.VMULPS(scale, dot, dot)
	p.VADDPS(at(pa, 0), dot, dot)
	if p.mins {
		p.VMULPS_BCST(at(px, scaledSumAt), p.min, scale)
		p.VADDPS(scale, dot, dot)
	}
	p.VMOVUPS(dot, at(pa, 0))
}

// dot is the tile's exact integer product in two chains, of which each takes half the columns. They begin at minus what the
// bias of the quants is going to add.
func (p *product512) dot(px reg.Register) reg.VecVirtual {
	low, high := p.ZMM(), p.ZMM()
	switch {
	case p.halves:
		p.VPSLLD_BCST(Imm(p.biasBits), at(px, minusLowAt), low)
		p.VPSLLD_BCST(Imm(p.biasBits), at(px, minusSumAt), high)
		p.VPSUBD(low, high, high)
	case p.biasBits != 0:
		p.VPSLLD_BCST(Imm(p.biasBits), at(px, minusSumAt), low)
		p.VPXORD(high, high, high)
	default:
		p.VPXORD(low, low, low)
		p.VPXORD(high, high, high)
	}
	for g := range groups / 2 {
		p.VPDPBUSD_BCST(at(px, quantsAt+4*g), p.weights[g], low)
		p.VPDPBUSD_BCST(at(px, quantsAt+4*(g+groups/2)), p.weights[g+groups/2], high)
	}
	if p.halves {
		p.VPMULLD(p.low, low, low)
		p.VPMULLD(p.high, high, high)
	}
	p.VPADDD(high, low, low)
	return low
}
