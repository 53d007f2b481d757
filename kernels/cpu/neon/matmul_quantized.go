package main

import (
	"fmt"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

func matmulQuantized() []*function {
	var list []*function
	for _, f := range format.Quantised() {
		list = append(list, product(layout.Panel{Format: f}))
	}
	return list
}

// panelProduct is a function that multiplies a panel with rows of activations: four at once as long
// as there are four, then two, then one. A vector is four weight rows. A tile is computed in parts
// of a few vectors, as many as there are registers for their sums.
type panelProduct struct {
	*function
	layout.Panel
	acc, panel, x, tiles, m, stride r // the arguments
	// Of a pass: the tile, its records, tiles left, tiles left in the super-block, and the
	// super-block's d.
	w, px, n, inner, d r
	// Of a part: its quants, d, integer scales and sums; parts left.
	pw, pd, ps, pa, parts r

	nibbles, upper v // constants: the low four bits of each byte, and either the bits above or the sign

	// Of a pass:
	rows, width int
	quants      [][2]v // of each row
	sums, highs [][]v  // integer sums of a row's vectors; with halves, highs are those of columns 16–31
}

func product(l layout.Panel) *function {
	doc := fmt.Sprintf("adds the product of a %s panel and m rows of activations, tile after tile, to acc (m, 32).", l.Name)
	f := open("product"+l.Name, "acc *float32, panel *byte, x *byte, tiles int, m int, stride int", doc)
	p := &panelProduct{function: f, Panel: l}
	p.acc, p.panel, p.x = f.load("acc"), f.load("panel"), f.load("x")
	p.tiles, p.m, p.stride = f.load("tiles"), f.load("m"), f.load("stride")
	for _, x := range []*r{&p.w, &p.px, &p.n, &p.inner, &p.d, &p.pw, &p.pd, &p.ps, &p.pa, &p.parts} {
		*x = f.r()
	}
	p.constants()
	for _, rows := range []int{4, 2, 1} {
		f.label(fmt.Sprint("rows", rows))
		f.asm("CMP $%d, %v", rows, p.m)
		f.asm("BLT rows%d", rows/2)
		f.scratch(func() { p.pass(rows) })
		f.forward(p.acc, rows*4*panelRows)
		f.forward(p.x, rows*recordBytes)
		f.asm("SUB $%d, %v, %v", rows, p.m, p.m)
		f.asm("B rows%d", rows)
	}
	f.label("rows0")
	f.asm("RET")
	return f
}

func (p *panelProduct) constants() {
	p.nibbles, p.upper = p.v(), p.v()
	p.do(movi(p.nibbles, 0x0f))
	switch p.Bits() {
	case 5:
		p.do(movi(p.upper, 0x10))
	case 6:
		p.do(movi(p.upper, 0x30))
	case 8:
		p.do(movi(p.upper, 0x80))
	}
}

// pass multiplies the panel with this many rows.
func (p *panelProduct) pass(rows int) {
	p.rows, p.width = rows, 4
	if rows == 1 {
		p.width = 8
	}
	if p.Halves() {
		p.width /= 2
	}
	p.quants, p.sums, p.highs = nil, nil, nil
	for range rows {
		p.quants = append(p.quants, [2]v{p.v(), p.v()})
		p.sums = append(p.sums, p.vs(p.width))
		if p.Halves() {
			p.highs = append(p.highs, p.vs(p.width))
		}
	}
	p.asm("MOVD %v, %v", p.panel, p.w)
	p.asm("MOVD %v, %v", p.x, p.px)
	p.asm("MOVD %v, %v", p.tiles, p.n)
	tile := fmt.Sprintf("tile%d", rows)
	if !p.Super() {
		p.times(tile, p.n, p.tile)
		return
	}
	p.label(fmt.Sprintf("super%d", rows))
	p.asm("MOVD %v, %v", p.w, p.d)
	p.forward(p.w, p.HeadBytes())
	p.asm("MOVD $%d, %v", tilesPerSuper, p.inner)
	p.times(tile, p.inner, p.tile)
	p.asm("SUBS $%d, %v, %v", tilesPerSuper, p.n, p.n)
	p.asm("BNE super%d", rows)
}

// tile multiplies a tile and moves on to the next.
func (p *panelProduct) tile() {
	for i, q := range p.quants {
		p.do(ldr(q[0], p.px, i*recordBytes), ldr(q[1], p.px, i*recordBytes+16))
	}
	p.asm("MOVD %v, %v", p.w, p.pw)
	p.asm("MOVD %v, %v", p.acc, p.pa)
	if p.Super() {
		p.asm("MOVD %v, %v", p.d, p.pd)
		p.asm("MOVD %v, %v", p.w, p.ps)
	} else {
		p.asm("MOVD %v, %v", p.w, p.pd)
	}
	count := panelRows / 4 / p.width
	part := func() {
		p.scratch(p.begin)
		p.scratch(p.dots)
		p.scratch(p.scale)
	}
	if count == 1 {
		part()
	} else {
		p.asm("MOVD $%d, %v", count, p.parts)
		p.times(fmt.Sprintf("part%d", p.rows), p.parts, func() {
			part()
			p.forward(p.pw, 16*p.width)
			p.forward(p.pa, 16*p.width)
			p.forward(p.pd, 8*p.width)
			if p.Super() {
				p.forward(p.ps, 4*p.width)
			}
		})
	}
	p.forward(p.w, p.TileBytes())
	p.asm("ADD %v, %v, %v", p.stride, p.px, p.px)
}

// begin sets the sums of a part to minus the share that the bias of the quants will add.
func (p *panelProduct) begin() {
	factors, low, high := p.v(), p.v(), p.v()
	for i, sums := range p.sums {
		if p.BiasBits() == 0 || p.Bits() == 8 {
			for _, s := range sums {
				p.do(movi(s, 0))
			}
			continue
		}
		p.do(ldr(factors, p.px, i*recordBytes+factorsAt), shl(factors, factors, p.BiasBits()))
		if !p.Halves() {
			for _, s := range sums {
				p.do(dup(s, factors, minusSumOf))
			}
			continue
		}
		p.do(dup(low, factors, minusLowOf), dup(high, factors, minusSumOf), sub(high, high, low))
		for j, s := range sums {
			p.do(move(s, low), move(p.highs[i][j], high))
		}
	}
}

// dots adds the products of a part. Each vector is unpacked once for all rows.
func (p *panelProduct) dots() {
	vector := func(to v, offset, g, j int) { p.do(ldr(to, p.pw, offset+vectorBytes*g+16*j)) }
	highs, lows := p.ScaleBytes(), p.ScaleBytes()+p.HighBytes()
	if p.Bits() == 8 {
		spare := p.vs(4)
		for g := range groups {
			for j := range p.width {
				w := spare[j%len(spare)]
				vector(w, lows, g, j)
				p.do(eor(w, w, p.upper))
				p.multiply(w, g, j)
			}
		}
		return
	}
	lower, higher, bits, moved := p.v(), p.v(), p.v(), p.v()
	for g := range groups / 2 {
		for j := range p.width {
			vector(higher, lows, g, j)
			p.do(and(lower, higher, p.nibbles), ushrByte(higher, higher, 4))
			switch p.Bits() {
			case 5:
				vector(bits, highs, 0, j)
				p.addBits(lower, bits, moved, 4-g)
				p.addBits(higher, bits, moved, -g)
			case 6:
				vector(bits, highs, 0, j)
				p.addBits(lower, bits, moved, 4-2*g)
				vector(bits, highs, 1, j)
				p.addBits(higher, bits, moved, 4-2*g)
			}
			p.multiply(lower, g, j)
			p.multiply(higher, g+groups/2, j)
		}
	}
}

// addBits adds the upper bits of the quants to the nibbles, shifted to the left by the given number
// of bits.
func (p *panelProduct) addBits(w, bits, moved v, by int) {
	from := moved
	switch {
	case by > 0:
		p.do(shlByte(moved, bits, by))
	case by < 0:
		p.do(ushrByte(moved, bits, -by))
	default:
		from = bits
	}
	p.do(and(moved, from, p.upper), orr(w, w, moved))
}

// multiply adds the products of group g of vector j.
func (p *panelProduct) multiply(w v, g, j int) {
	for i, q := range p.quants {
		sum := p.sums[i][j]
		if p.Halves() && g >= groups/2 {
			sum = p.highs[i][j]
		}
		p.do(sdot(sum, w, q[g/4], g%4))
	}
}

// scale multiplies a part's integer sums by their scales and adds them to the sums in memory.
func (p *panelProduct) scale() {
	d, min, factors, t, sum := p.v(), p.v(), p.v(), p.v(), p.v()
	for j := range p.width {
		p.do(ldr8(d, p.pd, 8*j), fcvtlHalf(d, d))
		if p.Mins() {
			p.do(ldr8(min, p.pd, 2*panelRows+8*j), fcvtlHalf(min, min))
		}
		switch {
		case p.Halves():
			p.scaleHalves(j, min, t) // there is no minimum in this format
		case p.Super():
			p.timesByte(d, 4*j, t)
			p.timesByte(min, panelRows+4*j, t)
			p.do(fneg(min, min))
		}
		for i, sums := range p.sums {
			dot, offset := sums[j], i*4*panelRows+16*j
			p.do(ldr(factors, p.px, i*recordBytes+factorsAt), ldr(sum, p.pa, offset))
			p.do(scvtf(dot, dot), fmulElement(t, d, factors, scaleOf), fmul(dot, dot, t), fadd(sum, sum, dot))
			if p.Mins() {
				p.do(fmulElement(t, min, factors, scaledSumOf), fadd(sum, sum, t))
			}
			p.do(str(sum, p.pa, offset))
		}
	}
}

// timesByte multiplies by unsigned integer scales.
func (p *panelProduct) timesByte(x v, offset int, t v) {
	p.do(ldr4(t, p.ps, offset), ushllByte(t, t, 0), ushllShort(t, t, 0), ucvtf(t, t), fmul(x, x, t))
}

// scaleHalves multiplies the sums of vector j by the signed integer scales of their halves, and
// adds the halves.
func (p *panelProduct) scaleHalves(j int, low, high v) {
	p.do(ldr4(low, p.ps, 4*j), sshllByte(low, low, 0), sshllShort(low, low, 0))
	p.do(ldr4(high, p.ps, panelRows+4*j), sshllByte(high, high, 0), sshllShort(high, high, 0))
	for i := range p.sums {
		p.do(mul(p.sums[i][j], p.sums[i][j], low), mla(p.sums[i][j], p.highs[i][j], high))
	}
}
