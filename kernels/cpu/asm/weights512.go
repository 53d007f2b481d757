package main

import (
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"

	"specula/kernels/cpu/layout"
)

// readScales sets scale and min, and the factors of the halves.
func (p *product512) readScales(i int) {
	part, head := &p.parts[i], p.w
	if p.super {
		head = p.head
	}
	if p.exponent {
		p.VPMOVZXWD(lanes16(head, 0, i, 2), part.scale)
		p.VPSLLD(Imm(16), part.scale, part.scale)
	} else {
		p.VCVTPH2PS(lanes16(head, 0, i, 2), part.scale)
	}
	if p.unit != 1 {
		p.VMULPS_BCST(floats(p.Context, "unit"+p.name, p.unit), part.scale, part.scale)
	}
	if p.mins || p.twoScales {
		p.VCVTPH2PS(lanes16(head, 2*panelRows, i, 2), part.min)
	}
	switch {
	case p.nibbles:
		p.readNibbles(i)
	case p.oneFactor:
		t := p.ZMM()
		p.VPMOVSXBD(lanes16(p.w, 0, i, 1), t)
		p.VCVTDQ2PS(t, t)
		p.VMULPS(t, part.scale, part.scale)
	case p.halves:
		p.VPMOVSXBD(lanes16(p.w, 0, i, 1), part.low)
		p.VPMOVSXBD(lanes16(p.w, panelRows, i, 1), part.high)
	case p.super:
		p.timesByte(part.scale, lanes16(p.w, 0, i, 1))
		p.timesByte(part.min, lanes16(p.w, panelRows, i, 1))
		p.VPXORD_BCST(lanes(p.Context, "minus", 1<<31), part.min, part.min)
	}
}

func (p *product512) timesByte(z reg.VecVirtual, bytes Mem) {
	t := p.ZMM()
	p.VPMOVZXBD(bytes, t)
	p.VCVTDQ2PS(t, t)
	p.VMULPS(t, z, z)
}

// readNibbles reads the factors of both halves. It writes the factors of the quants to part.factors, twice
// in each lane, as 16-bit numbers for unpacking. It writes the factors of the minimum to part.low and
// part.high, as minima needs them.
func (p *product512) readNibbles(i int) {
	part := &p.parts[i]
	for half, of := range []*reg.VecVirtual{&part.low, &part.high} {
		both, doubled := p.ZMM(), p.ZMM()
		p.VPMOVZXBD(lanes16(p.w, panelRows*half, i, 1), both)
		p.VPSRLD(Imm(4), both, *of)
		p.VPANDD_BCST(lanes(p.Context, "nibble"+p.name, 15), both, both)
		p.VPSLLD(Imm(16), both, doubled)
		p.VPORD(doubled, both, both)
		part.factors[half] = both
	}
	p.VPSUBW(part.high, part.low, part.low) // in 16 bits: the upper 16 bits of a lane stay 0
}

// readWeights unpacks 16 lanes of the tile: lane r of weights[g] holds columns 4g … 4g+3 of row r
// as unsigned bytes.
func (p *product512) readWeights(i int) {
	base, weights := p.tileScaleBytes(), &p.parts[i].weights
	vector := func(offset, v int) Mem { return lanes16(p.w, offset+4*panelRows*v, i, 4) }
	switch p.lowBits {
	case 8:
		for g, w := range weights {
			p.VMOVDQU64(vector(base, g), w)
		}
		return
	case 4:
		for v := range groups / 2 {
			lower, upper := weights[v], weights[v+groups/2]
			p.VMOVDQU64(vector(base+p.highBytes(), v), upper)
			p.and(p.mask, p.lowMask(), upper, lower)
			p.VPSRLD(Imm(4), upper, upper)
			p.and(p.mask, p.lowMask(), upper, upper)
		}
	case 2:
		for v := range 2 {
			all := weights[4*v+3]
			p.VMOVDQU64(vector(base+p.highBytes(), v), all)
			for k := range 4 {
				w := weights[4*v+k]
				if k == 0 {
					p.and(p.mask, p.lowMask(), all, w)
					continue
				}
				p.VPSRLD(Imm(uint64(2*k)), all, w)
				p.and(p.mask, p.lowMask(), w, w)
			}
		}
	}
	for g, w := range weights {
		if p.highBits > 0 {
			v, shift := layout.Place(p.highBits, g)
			p.addHighBits(vector(base, v), p.lowBits-shift, w)
		}
		if p.format.values != nil {
			p.VPSHUFB(w, p.values, w)
		}
		if p.nibbles { // a product is at most 3·15: the low byte of 16 bits does not overflow
			p.VPMULLW(p.parts[i].factors[g/(groups/2)], w, w)
		}
	}
}

// addHighBits adds the upper bits of the quants to their lower bits in w, shifted to the left by shift bits.
func (p *product512) addHighBits(from Mem, shift int, w reg.VecVirtual) {
	t := p.ZMM()
	p.VMOVDQU64(from, t)
	switch {
	case shift > 0:
		p.VPSLLD(Imm(uint64(shift)), t, t)
	case shift < 0:
		p.VPSRLD(Imm(uint64(-shift)), t, t)
	}
	p.orMasked(p.upper, p.highMask(), t, w)
}
