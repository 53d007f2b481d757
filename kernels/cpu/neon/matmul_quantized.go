package main

import (
	"fmt"
	"math"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

func matmulQuantized() []*function {
	var list []*function
	for _, f := range format.Quantised() {
		if p := (layout.Panel{Format: f}); p.Twin() == p {
			list = append(list, product(p))
		}
	}
	return list
}

// panelProduct is a function that multiplies a panel with rows of activations: in passes of four rows
// as long as there are four, then of two, then of one. A vector has a lane for each of four weight
// rows. A tile is computed in parts of a few vectors: as many as there are registers for their sums.
type panelProduct struct {
	*function
	layout.Panel
	acc, panel, x, tiles, m, stride r // the arguments
	// In a pass: addresses of the tile and its records, tiles left, tiles left in the super-block, and
	// the address of the super-block's scales.
	w, px, n, inner, d r
	// In a part: the address of the tile plus the offset of the part in each group of quants; addresses of the
	// part's scales, integer factors and sums; parts left.
	pw, pd, ps, pa, parts r
	scratchNumber         r

	// Constants:
	mask   v // of the low bits of quants; with 8 bits, of the sign bit, which is inverted
	upper  v // of the high bits of quants, if the format stores them apart
	values v // the table of what quants stand for, if the format has one

	// In a pass:
	rows, width int    // rows of activations; vectors of a part, each of four weight rows
	quants      [][2]v // of each row of activations
	// Integer sums of each row's vectors. If the halves of a tile have separate sums, highs are those
	// of columns 16–31.
	sums, highs [][]v
}

func product(l layout.Panel) *function {
	doc := fmt.Sprintf("adds the product of a %s panel and m rows of activations, tile after tile, to acc (m, 32).", l.Name)
	f := open("product"+l.Name, "acc *float32, panel *byte, x *byte, tiles int, m int, stride int", doc)
	p := &panelProduct{function: f, Panel: l}
	p.acc, p.panel, p.x = f.load("acc"), f.load("panel"), f.load("x")
	p.tiles, p.m, p.stride = f.load("tiles"), f.load("m"), f.load("stride")
	for _, x := range []*r{&p.w, &p.px, &p.n, &p.inner, &p.d, &p.pw, &p.pd, &p.ps, &p.pa, &p.parts,
		&p.scratchNumber} {
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
	p.mask = p.v()
	if p.Low.Bits == 8 {
		p.do(movi(p.mask, 0x80))
	} else {
		p.do(movi(p.mask, 1<<p.Low.Bits-1))
	}
	if p.High.Bits > 0 {
		p.upper = p.v()
		p.do(movi(p.upper, uint8(1<<p.High.Bits-1)<<p.Low.Bits))
	}
	if p.Looked() {
		p.values = p.v()
		for half, store := range []func(v, r) instruction{dupGeneral2, insertGeneral2} {
			var bytes uint64
			for i, value := range p.Values[8*half:][:8] {
				bytes |= uint64(uint8(value)) << (8 * i)
			}
			p.asm("MOVD $%#x, %v", bytes, p.n)
			p.do(store(p.values, p.n))
		}
	}
}

// split reports whether the products of the two halves of a tile are separate sums.
func (p *panelProduct) split() bool { return p.signedHalves() || p.TwoScales() }

// fourBits reports whether each half of a tile has two factors of four bits, one of the scale and one of the
// minimum (format.Nibbles). Unpacking then multiplies the quants by the factor of the scale. In other formats
// with factors for halves, the integer sums are multiplied instead.
func (p *panelProduct) fourBits() bool { return p.Factors == format.Nibbles }

func (p *panelProduct) signedHalves() bool { return p.Halves() && !p.fourBits() }

// pass multiplies the panel with as many rows of activations as rows says.
func (p *panelProduct) pass(rows int) {
	p.rows, p.width = rows, 4
	if rows == 1 {
		p.width = 8
	}
	if p.split() || p.fourBits() {
		p.width /= 2
	}
	p.quants, p.sums, p.highs = nil, nil, nil
	for range rows {
		p.quants = append(p.quants, [2]v{p.v(), p.v()})
		p.sums = append(p.sums, p.vs(p.width))
		if p.split() {
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

// begin sets the sums of a part to minus what the bias of the quants will add to them.
func (p *panelProduct) begin() {
	factors, low, high := p.v(), p.v(), p.v()
	for i, sums := range p.sums {
		if !p.Biased() || p.Bits() == 8 {
			for j, s := range sums {
				p.do(movi(s, 0))
				if p.split() {
					p.do(movi(p.highs[i][j], 0))
				}
			}
			continue
		}
		p.do(ldr(factors, p.px, i*recordBytes+factorsAt), shl(factors, factors, p.BiasBits()))
		if !p.split() {
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
	switch p.Low.Bits {
	case 8:
		p.dotBytes()
	case 4:
		p.dotNibbles()
	case 2:
		p.dotPairs()
	}
}

// vector generates a load: the 16 bytes numbered j of a group in the panel go to a register. The groups
// begin at byte offset.
func (p *panelProduct) vector(to v, offset, group, j int) {
	p.do(ldr(to, p.pw, offset+vectorBytes*group+16*j))
}

func (p *panelProduct) dotBytes() {
	spare := p.vs(4)
	for g := range groups {
		for j := range p.width {
			w := spare[j%len(spare)]
			p.vector(w, p.ScaleBytes(), g, j)
			p.do(eor(w, w, p.mask))
			p.multiply(w, g, j)
		}
	}
}

func (p *panelProduct) dotNibbles() {
	lower, higher, bits, moved := p.v(), p.v(), p.v(), p.v()
	for g := range groups / 2 {
		for j := range p.width {
			p.vector(higher, p.ScaleBytes()+p.HighBytes(), g, j)
			p.do(and(lower, higher, p.mask), ushrByte(higher, higher, 4))
			p.finish(lower, bits, moved, g, j)
			p.finish(higher, bits, moved, g+groups/2, j)
		}
	}
}

// dotPairs is dots for quants of which a tile keeps the lower two bits in one place, four to a byte.
func (p *panelProduct) dotPairs() {
	w, all, bits, moved := p.v(), p.v(), p.v(), p.v()
	for half := range 2 {
		for j := range p.width {
			p.vector(all, p.ScaleBytes()+p.HighBytes(), half, j)
			for k := range 4 {
				if k == 0 {
					p.do(and(w, all, p.mask))
				} else {
					p.do(ushrByte(w, all, 2*k), and(w, w, p.mask))
				}
				p.finish(w, bits, moved, 4*half+k, j)
			}
		}
	}
}

// finish completes the quants of group g in w and multiplies them with the activations of the group. The format
// decides which steps come before: the upper bits are added, the quants are replaced by what they stand for, and
// are multiplied by the factor of their half of the tile, which has 4 bits.
func (p *panelProduct) finish(w, bits, moved v, g, j int) {
	if p.High.Bits > 0 {
		from, shift := layout.Place(p.High.Bits, g)
		p.vector(bits, p.ScaleBytes(), from, j)
		p.addBits(w, bits, moved, p.Low.Bits-shift)
	}
	if p.Looked() {
		p.do(tbl(w, p.values, w))
	}
	if p.fourBits() {
		p.do(ldr4(moved, p.ps, panelRows*(g/(groups/2))+4*j), zip1Byte(moved, moved, moved),
			zip1Byte(moved, moved, moved))
		p.do(movi(bits, 0x0f), and(moved, moved, bits), mulByte(w, w, moved))
	}
	p.multiply(w, g, j)
}

// addBits adds the upper bits of the quants, shifted to the left by the given number of bits, to their
// lower bits in w.
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
		if p.split() && g >= groups/2 {
			sum = p.highs[i][j]
		}
		p.do(sdot(sum, w, q[g/4], g%4))
	}
}

// scale multiplies a part's integer sums by their scales and adds them to the sums in memory.
func (p *panelProduct) scale() {
	d, min, factors, t, sum := p.v(), p.v(), p.v(), p.v(), p.v()
	add := func(dot, by v) {
		p.do(scvtf(dot, dot), fmulElement(t, by, factors, scaleOf), fmul(dot, dot, t), fadd(sum, sum, dot))
	}
	for j := range p.width {
		p.readScales(j, d, min, t)
		for i, sums := range p.sums {
			offset := i*4*panelRows + 16*j
			p.do(ldr(factors, p.px, i*recordBytes+factorsAt), ldr(sum, p.pa, offset))
			add(sums[j], d)
			switch {
			case p.TwoScales():
				add(p.highs[i][j], min)
			case p.fourBits():
				p.minima(sums[j], factors, t, j)
				add(sums[j], min)
			case p.Mins():
				p.do(fmulElement(t, min, factors, scaledSumOf), fadd(sum, sum, t))
			}
			p.do(str(sum, p.pa, offset))
		}
	}
}

// readScales reads the scales of vector j. If the halves have signed factors, it multiplies their
// integer sums by these factors and adds the two sums.
func (p *panelProduct) readScales(j int, d, min, t v) {
	p.do(ldr8(d, p.pd, 8*j))
	if p.ScaleKind == format.Exponent {
		p.do(shllShort(d, d))
	} else {
		p.do(fcvtlHalf(d, d))
	}
	if p.UnitOf() != 1 {
		p.asm("MOVD $%#x, %v", math.Float32bits(p.UnitOf()), p.scratchNumber)
		p.do(dupGeneral(t, p.scratchNumber), fmul(d, d, t))
	}
	if p.Mins() || p.TwoScales() {
		p.do(ldr8(min, p.pd, 2*panelRows+8*j), fcvtlHalf(min, min))
	}
	switch {
	case p.signedHalves():
		p.scaleHalves(j, min, t) // such formats have no minimum, so its register is free
	case p.OneFactor():
		p.do(ldr4(t, p.ps, 4*j), sshllByte(t, t, 0), sshllShort(t, t, 0), scvtf(t, t), fmul(d, d, t))
	case p.Factors == format.SixBits:
		p.timesByte(d, 4*j, t)
		p.timesByte(min, panelRows+4*j, t)
		p.do(fneg(min, min))
	}
}

// minima computes minus the sum, over both halves, of the half's factor of the minimum times the sum
// of its activations.
func (p *panelProduct) minima(sum, factors, t v, j int) {
	p.scratch(func() {
		first, second := p.v(), p.v()
		for half, x := range []v{first, second} {
			p.do(ldr4(x, p.ps, panelRows*half+4*j), ushrByte(x, x, 4), ushllByte(x, x, 0),
				ushllShort(x, x, 0))
		}
		p.do(dup(t, factors, minusLowOf), mul(sum, first, t))
		p.do(dup(first, factors, minusSumOf), sub(first, first, t), mla(sum, second, first))
	})
}

// timesByte multiplies x by the unsigned integer factors at an offset; t is scratch.
func (p *panelProduct) timesByte(x v, offset int, t v) {
	p.do(ldr4(t, p.ps, offset), ushllByte(t, t, 0), ushllShort(t, t, 0), ucvtf(t, t), fmul(x, x, t))
}

// scaleHalves multiplies the sums of vector j by the signed integer factors of their halves, and
// adds the halves.
func (p *panelProduct) scaleHalves(j int, low, high v) {
	p.do(ldr4(low, p.ps, 4*j), sshllByte(low, low, 0), sshllShort(low, low, 0))
	p.do(ldr4(high, p.ps, panelRows+4*j), sshllByte(high, high, 0), sshllShort(high, high, 0))
	for i := range p.sums {
		p.do(mul(p.sums[i][j], p.sums[i][j], low), mla(p.sums[i][j], p.highs[i][j], high))
	}
}
