package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	tileRows    = 16                       // activation rows of a tile register, at most
	tileLanes   = 16                       // weight rows of a tile register
	together    = 2                        // tiles of a panel that a step multiplies
	bytesOfTile = groups * 4 * panelRows   // a tile of the panel as signed quants
	cacheLine   = 64                       // bytes
	bytesOfSums = tileRows * tileLanes * 4 // a tile register of int32 sums
)

// Offsets and sizes in the memory of a step.
const (
	scalesAt  = together * bytesOfTile
	minsAt    = scalesAt + together*4*panelRows
	stepBytes = minsAt + together*4*panelRows
	sumsBytes = together * (panelRows / tileLanes) * bytesOfSums
)

// matmulTiles generates the products on the tile registers of AMX.
//
// One tile instruction could multiply 64 columns, and is given a block of 32. So its sums are the exact
// integer dot products of a block, and are scaled and added in the order of the other levels. A tile of a
// panel is first unpacked to signed bytes, whatever the format.
//
// The tile unit works on its own: while it multiplies 16 rows, the vector unit adds the results of
// the previous 16 rows. The processor does not look far enough ahead to overlap the two by itself.
// So the code multiplies one half of a panel, while it stores the sums of the previous half and
// adds the sums of the half before that. Single tile instructions stand between the rows that are
// added.
func matmulTiles(c *build.Context) {
	config := tileConfig(c)
	for _, f := range formats {
		if !f.split() && !f.nibbles { // otherwise, factors or scales change within the columns of an instruction
			productTiles(c, f, config)
		}
	}
}

// The eight tile registers, for the two tiles of a step. Two have the sums of a tile with one half of the
// panel, two the activations of a tile. Four have the weights of a tile and half; they stay for all rows.
func sumsTile(t int) tile          { return tile(t) }
func rowsTile(t int) tile          { return tile(together + t) }
func weightsTile(half, t int) tile { return tile((2+half)*together + t) }

// tileConfig is the shape of the tile registers: bytes per row, and rows.
func tileConfig(c *build.Context) Mem {
	m := c.StaticGlobal("tileShapes")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	var bytes [64]byte
	bytes[0] = 1 // palette
	shape := func(t tile, rows, rowBytes byte) { bytes[16+2*t], bytes[48+t] = rowBytes, rows }
	for t := range together {
		shape(sumsTile(t), tileRows, 4*tileLanes)
		shape(rowsTile(t), tileRows, 4*groups)
		for half := range parts512 {
			shape(weightsTile(half, t), groups, 4*tileLanes)
		}
	}
	for _, b := range bytes {
		c.AppendDatum(U8(b))
	}
	return m
}

// tilesProduct is the state of a kernel. A name with next belongs to the rows that are being
// multiplied, a name with now to the rows whose sums are being added.
type tilesProduct struct {
	*product512
	rowsLeft reg.GPVirtual // activation rows that the step has not multiplied yet
	// Unpacked weights, scales and minima: stepNext of the step that is being multiplied, stepNow
	// of the step whose sums are being added.
	stepNext, stepNow reg.GPVirtual
	sums              reg.GPVirtual // memory of integer sums
	px, pa            reg.GPVirtual // records and sums of the rows being added
	count             reg.GPVirtual // number of these rows
	xNext             reg.GPVirtual // records of the next rows to multiply
	biases            reg.VecVirtual

	// Needed only at the start of a step, so kept in memory.
	panel, records, left Mem // arguments that are counted up or down
	heads                Mem // address of the super-block's scales
	bothSteps            Mem // stepNext + stepNow: minus one of the two, it is the other
}

func productTiles(c *build.Context, f format, config Mem) {
	c.Function("product" + f.name + "AMX")
	c.SignatureExpr(signature)
	c.Doc("product"+f.name+"AMX "+describe(f), "tiles is even; 16 records are read from x on, whatever m.")
	c.Pragma("noescape")
	p := &tilesProduct{product512: &product512{Context: c, format: f}}
	p.open(config)

	c.Label("step")
	p.beginStep()
	c.Label("multiply")
	c.CMPQ(p.count, Imm(tileRows))
	c.JNE(LabelRef("few"))
	c.CMPQ(p.rowsLeft, Imm(0))
	c.JLE(LabelRef("few"))
	for half := range parts512 {
		p.addAndMultiply(half)
	}
	c.JMP(LabelRef("next"))
	c.Label("few") // for the first rows, the last rows, and fewer than 16 rows
	for half := range parts512 {
		add := fmt.Sprint("add", half)
		p.storeSums(1-half, 0, together)
		c.CMPQ(p.rowsLeft, Imm(0))
		c.JLE(LabelRef(add))
		p.loadRows(half)
		p.multiplyRows(half, 0, together)
		c.Label(add)
		p.addRows(half)
	}
	c.Label("next")
	p.next()
	c.Label("done")
	releaseTiles(c)
	c.VZEROUPPER()
	c.RET()
}

// open loads the arguments and the constants.
func (p *tilesProduct) open(config Mem) {
	shapes := p.GP64()
	p.LEAQ(config, shapes)
	loadTileConfig(p.Context, Mem{Base: shapes})
	room := p.AllocLocal(2*stepBytes + sumsBytes + 64)
	p.heads, p.bothSteps = p.AllocLocal(8), p.AllocLocal(8)
	p.panel, p.records, p.left = p.place("panel"), p.place("x"), p.place("tiles")
	p.w, p.head = p.GP64(), p.GP64()
	p.stride = p.Load(p.Param("stride"), p.GP64())
	for _, r := range []*reg.GPVirtual{&p.rowsLeft, &p.stepNext, &p.stepNow, &p.sums, &p.px, &p.pa, &p.count, &p.xNext} {
		*r = p.GP64()
	}
	p.LEAQ(room, p.sums)
	p.ADDQ(Imm(63), p.sums)
	p.ANDQ(I32(-64), p.sums)
	p.LEAQ(at(p.sums, sumsBytes), p.stepNow)
	p.LEAQ(at(p.stepNow, stepBytes), p.stepNext)
	both := p.GP64()
	p.LEAQ(Mem{Base: p.stepNow, Index: p.stepNext, Scale: 1}, both)
	p.MOVQ(both, p.bothSteps)
	p.XORQ(p.count, p.count) // nothing to add yet
	p.XORQ(p.px, p.px)
	p.XORQ(p.pa, p.pa)
	p.constants()
	if p.biased {
		p.biases = p.constant(0x01010101 << p.biasBits)
	}
}

// place returns where an argument is in memory.
func (p *tilesProduct) place(name string) Mem {
	b, err := p.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// beginStep unpacks tiles of the panel and loads them to the tile registers.
func (p *tilesProduct) beginStep() {
	p.MOVQ(p.panel, p.w)
	if p.super {
		p.TESTQ(U32(tilesOfSuper-1), p.left)
		p.JNZ(LabelRef("sameSuper"))
		p.MOVQ(p.w, p.heads)
		for ahead := 0; ahead < p.headBytes(); ahead += 64 {
			p.PREFETCHT1(at(p.w, prefetchBytes+ahead))
		}
		p.ADDQ(U32(uint32(p.headBytes())), p.w)
		p.Label("sameSuper")
		p.MOVQ(p.heads, p.head)
	}
	for t := range together {
		// These lines are more requests than the first-level cache can have under way, so they go to the second.
		for ahead := 0; ahead < p.tileBytes(); ahead += 64 {
			p.PREFETCHT1(at(p.w, prefetchBytes+ahead))
		}
		for i := range parts512 {
			p.unpack(t, i)
		}
		p.ADDQ(U32(uint32(p.tileBytes())), p.w)
	}
	p.MOVQ(p.w, p.panel)
	following := p.GP64()
	p.MOVQ(p.records, p.xNext)
	p.LEAQ(Mem{Base: p.xNext, Index: p.stride, Scale: together}, following)
	p.MOVQ(following, p.records)
	p.Load(p.Param("m"), p.rowsLeft)
	p.SUBQ(Imm(together), p.left)
	distance := p.distance(4 * panelRows)
	for t := range together {
		for half := range parts512 {
			loadTile(p.Context, Mem{Base: p.stepNext, Disp: t*bytesOfTile + 4*tileLanes*half, Index: distance, Scale: 1}, weightsTile(half, t))
		}
	}
}

// distance returns a register with the distance in bytes between rows of a tile in memory.
func (p *tilesProduct) distance(bytes uint32) reg.GPVirtual {
	d := p.GP64()
	p.MOVQ(U32(bytes), d)
	return d
}

// tilesOfSuper is the number of tiles in a super-block.
const tilesOfSuper = 8

// unpack writes 16 lanes of a tile as signed bytes, and their scales and minima as float32.
func (p *tilesProduct) unpack(t, i int) {
	part := &p.parts[i]
	part.scale, part.min = p.ZMM(), p.ZMM()
	for g := range part.weights {
		part.weights[g] = p.ZMM()
	}
	p.readScales(i)
	p.VMOVUPS(part.scale, lanes16(p.stepNext, scalesAt+4*panelRows*t, i, 4))
	if p.mins {
		p.VMOVUPS(part.min, lanes16(p.stepNext, minsAt+4*panelRows*t, i, 4))
	}
	p.readWeights(i)
	for g, w := range part.weights {
		switch {
		case p.biasBits == 7: // adding 128 is the same as flipping the sign bit
			p.VPXORD(p.biases, w, w)
		case p.biased:
			p.VPSUBB(p.biases, w, w)
		}
		p.VMOVDQU64(w, lanes16(p.stepNext, t*bytesOfTile+4*panelRows*g, i, 4))
	}
}

// sumsOf returns the offset of the sums of a half of the panel and a tile.
func sumsOf(half, t int) int { return (half*together + t) * bytesOfSums }

// loadRows loads the next 16 rows. It does so for half 0 only, because both halves use them.
func (p *tilesProduct) loadRows(half int) {
	if half != 0 {
		return
	}
	distance, second := p.distance(recordBytes), p.GP64()
	p.LEAQ(Mem{Base: p.xNext, Index: p.stride, Scale: 1}, second)
	for t, x := range []reg.GPVirtual{p.xNext, second} {
		loadTile(p.Context, Mem{Base: x, Disp: quantsAt, Index: distance, Scale: 1}, rowsTile(t))
	}
}

// multiplyRows lets the tile unit multiply the rows with the tiles from … to−1 of a half of the
// panel.
func (p *tilesProduct) multiplyRows(half, from, to int) {
	for t := from; t < to; t++ {
		zeroTile(p.Context, sumsTile(t))
		addTileProduct(p.Context, rowsTile(t), weightsTile(half, t), sumsTile(t))
	}
}

// storeSums writes the sums that the tile unit has made with a half of the panel, for the tiles from …
// to−1, to memory, where the vector unit reads them.
func (p *tilesProduct) storeSums(half, from, to int) {
	distance := p.distance(4 * tileLanes)
	for t := from; t < to; t++ {
		storeTile(p.Context, sumsTile(t), Mem{Base: p.sums, Disp: sumsOf(half, t), Index: distance, Scale: 1})
	}
}

// addAndMultiply is addRows for 16 rows, with instructions in between that load and multiply the next
// rows with a half of the panel. Each of the two halves prefetches the records of one of two tiles.
func (p *tilesProduct) addAndMultiply(half int) {
	scales, mins := p.scalesAndMins(half)
	for row := range tileRows {
		switch row { // sums are stored some rows before their tile register is used again
		case 0:
			p.loadRows(half)
		case 2:
			p.storeSums(1-half, 0, 1)
		case 6:
			p.multiplyRows(half, 0, 1)
		case 8:
			p.storeSums(1-half, 1, together)
		case 12:
			p.multiplyRows(half, 1, together)
		}
		p.prefetchRecords(half, cacheLine*row)
		p.addRow(half, row, addresses{p.px, p.pa, p.sums}, scales, mins)
	}
}

// prefetchRecords prefetches a line of the records of tile t: the line at offset in the 16 records after
// the next ones. All records together are larger than the first-level cache.
func (p *tilesProduct) prefetchRecords(t, offset int) {
	const bytes = tileRows * recordBytes
	if offset >= bytes {
		return
	}
	record := []Mem{{Base: p.xNext}, {Base: p.xNext, Index: p.stride, Scale: 1}}[t]
	p.PREFETCHT0(record.Offset(bytes + offset))
}

// addRows scales the integer sums of the rows multiplied before, and adds them to the rows' final sums.
func (p *tilesProduct) addRows(half int) {
	scales, mins := p.scalesAndMins(half)
	at, end := addresses{p.GP64(), p.GP64(), p.GP64()}, p.GP64()
	p.MOVQ(p.px, at.x)
	p.MOVQ(p.pa, at.acc)
	p.MOVQ(p.count, end)
	p.SHLQ(Imm(6), end)
	p.MOVQ(p.sums, at.sums)
	p.ADDQ(at.sums, end)
	row := fmt.Sprint("row", half)
	p.JMP(LabelRef(row + "Check"))
	p.Label(row)
	p.addRow(half, 0, at, scales, mins)
	p.ADDQ(Imm(recordBytes), at.x)
	p.ADDQ(U32(4*panelRows), at.acc)
	p.ADDQ(Imm(4*tileLanes), at.sums)
	p.Label(row + "Check")
	p.CMPQ(at.sums, end)
	p.JL(LabelRef(row))
}

// scalesAndMins loads the scales and minima of a half of the panel, for the tiles whose sums are
// added.
func (p *tilesProduct) scalesAndMins(half int) (scales, mins [together]reg.VecVirtual) {
	for t := range together {
		scales[t] = p.ZMM()
		p.VMOVUPS(lanes16(p.stepNow, scalesAt+4*panelRows*t, half, 4), scales[t])
		if p.mins {
			mins[t] = p.ZMM()
			p.VMOVUPS(lanes16(p.stepNow, minsAt+4*panelRows*t, half, 4), mins[t])
		}
	}
	return scales, mins
}

// addresses are the addresses of a row's records, its final sums, and its integer sums.
type addresses struct {
	x, acc, sums reg.GPVirtual
}

// addRow scales the integer sums of a row, and adds them to its final sums. from holds the addresses
// of row 0.
func (p *tilesProduct) addRow(half, row int, from addresses, scales, mins [together]reg.VecVirtual) {
	total, acc := p.ZMM(), lanes16(from.acc, 4*panelRows*row, half, 4)
	p.VMOVUPS(acc, total)
	for t, record := range []Mem{{Base: from.x}, {Base: from.x, Index: p.stride, Scale: 1}} {
		record = record.Offset(recordBytes * row)
		dot, scale := p.ZMM(), p.ZMM()
		p.VCVTDQ2PS(at(from.sums, sumsOf(half, t)+4*tileLanes*row), dot)
		p.VMULPS_BCST(record.Offset(scaleAt), scales[t], scale)
		p.VMULPS(scale, dot, dot)
		p.VADDPS(total, dot, total)
		if p.mins {
			p.VMULPS_BCST(record.Offset(scaledSumAt), mins[t], scale)
			p.VADDPS(scale, total, total)
		}
	}
	p.VMOVUPS(total, acc)
}

// next makes the rows that were multiplied the rows to add, and jumps to the code that continues.
func (p *tilesProduct) next() {
	p.CMPQ(p.rowsLeft, Imm(0)) // everything is multiplied and added
	p.JLE(LabelRef("done"))
	least := p.GP64()
	p.MOVQ(U32(tileRows), least)
	p.MOVQ(p.rowsLeft, p.count)
	p.CMPQ(p.rowsLeft, least)
	p.CMOVQGT(least, p.count)
	p.MOVQ(p.xNext, p.px)
	first := p.GP64()
	p.Load(p.Param("m"), first)
	p.SUBQ(p.rowsLeft, first)
	p.SHLQ(Imm(7), first) // bytes of a row's sums
	p.Load(p.Param("acc"), p.pa)
	p.ADDQ(first, p.pa)
	p.MOVQ(p.stepNext, p.stepNow)
	p.ADDQ(U32(tileRows*recordBytes), p.xNext)
	p.SUBQ(U32(tileRows), p.rowsLeft)
	p.JG(LabelRef("multiply"))
	// The next step must use other memory, because the last rows of this step are still to be
	// added.
	p.NEGQ(p.stepNext)
	p.ADDQ(p.bothSteps, p.stepNext)
	p.CMPQ(p.left, Imm(0))
	p.JG(LabelRef("step"))
	p.JMP(LabelRef("multiply"))
}
