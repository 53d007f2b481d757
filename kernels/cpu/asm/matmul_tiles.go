package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	tileRows    = 16                       // of activations, at most
	tileLanes   = 16                       // weight rows
	together    = 2                        // tiles of a panel that are multiplied before their sums are added
	bytesOfTile = groups * 4 * panelRows   // of signed quants
	bytesOfSums = tileRows * tileLanes * 4 // of a tile register with int32
)

// Where things lie in the memory of a step, and how much there is of it.
const (
	scalesAt  = together * bytesOfTile
	minsAt    = scalesAt + together*4*panelRows
	stepBytes = minsAt + together*4*panelRows
	sumsBytes = together * (panelRows / tileLanes) * bytesOfSums
)

// matmulTiles generates the products on the tile registers of AMX.
//
// The 32 columns of a block are the depth of one tile instruction, so its sums are the dot products that the other levels
// compute, exact as they are there, and every block is scaled and added just as there. A tile of a panel is first unpacked to
// signed bytes, whatever the format. The tile unit works on its own: while it multiplies 16 rows, the vector unit adds up
// the 16 rows before.
func matmulTiles(c *build.Context) {
	config := tileConfig(c)
	for _, f := range formats {
		if !f.halves { // whose integer scales lie inside the depth of an instruction
			productTiles(c, f, config)
		}
	}
}

// The tile registers: sums of each half of the panel and each tile; activations of each tile; and weights of each tile, of one half.
func sumsTile(half, t int) tile { return tile(half*together + t) }
func rowsTile(t int) tile       { return tile(parts512*together + t) }
func weightsTile(t int) tile    { return tile((parts512+1)*together + t) }

// tileConfig is the shape of the tile registers: bytes of a row, and rows.
func tileConfig(c *build.Context) Mem {
	m := c.StaticGlobal("tileShapes")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	var bytes [64]byte
	bytes[0] = 1 // palette
	shape := func(t tile, rows, rowBytes byte) { bytes[16+2*t], bytes[48+t] = rowBytes, rows }
	for t := range together {
		for half := range parts512 {
			shape(sumsTile(half, t), tileRows, 4*tileLanes)
		}
		shape(rowsTile(t), tileRows, 4*groups)
		shape(weightsTile(t), groups, 4*tileLanes)
	}
	for _, b := range bytes {
		c.AppendDatum(U8(b))
	}
	return m
}

// tilesProduct is the state of a kernel. What is "next" is being multiplied, what is "now" is being added.
type tilesProduct struct {
	*product512
	rowsLeft          reg.GPVirtual // rows of activations that the step has not been multiplied with
	stepNext, stepNow reg.GPVirtual // memory of a step
	sums              reg.GPVirtual // memory of the integer sums
	px, pa            reg.GPVirtual // records and sums of the rows that are added
	count             reg.GPVirtual // of these rows
	xNext             reg.GPVirtual // records of the rows to multiply
	bias              reg.VecVirtual

	// What only a step's begin needs stays in memory: arguments that are counted up or down, and two numbers more.
	panel, records, left Mem
	heads, bothSteps     Mem
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
	for half := range parts512 {
		p.loadTiles(half)
		p.storeSums(half)
		c.CMPQ(p.rowsLeft, Imm(0))
		c.JLE(LabelRef(fmt.Sprint("add", half)))
		p.multiplyRows(half)
		c.Label(fmt.Sprint("add", half))
		p.addRows(half)
	}
	p.next()
	c.Label("done")
	releaseTiles(c)
	c.VZEROUPPER()
	c.RET()
}

// open loads the arguments and what does not change.
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
	if p.bits != 8 {
		p.mask = p.constant(0x0f0f0f0f)
	}
	if p.bits == 5 {
		p.highMask = p.constant(0x10101010)
	}
	if p.biasBits != 0 {
		p.bias = p.constant(0x01010101 << p.biasBits)
	}
}

// place is where an argument lies.
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
		p.ADDQ(U32(uint32(p.headBytes())), p.w)
		p.Label("sameSuper")
		p.MOVQ(p.heads, p.head)
	}
	for t := range together {
		for ahead := 0; ahead < p.tileBytes(); ahead += 64 {
			p.PREFETCHT0(at(p.w, prefetchBytes+ahead))
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
}

// tilesOfSuper is the number of tiles of a super-block.
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
		case p.bits == 8: // adding the half of the range and flipping the sign are the same
			p.VPXORD(p.bias, w, w)
		case p.biasBits != 0:
			p.VPSUBB(p.bias, w, w)
		}
		p.VMOVDQU64(w, lanes16(p.stepNext, t*bytesOfTile+4*panelRows*g, i, 4))
	}
}

// sumsOf is where the sums of a half of the panel and a tile lie.
func sumsOf(half, t int) int { return (half*together + t) * bytesOfSums }

// loadTiles loads the next 16 rows and a half of the panel, after the last step some that nobody needs.
func (p *tilesProduct) loadTiles(half int) {
	distance, second := p.GP64(), p.GP64()
	if half == 0 {
		p.MOVQ(U32(recordBytes), distance)
		p.LEAQ(Mem{Base: p.xNext, Index: p.stride, Scale: 1}, second)
		for t, x := range []reg.GPVirtual{p.xNext, second} {
			loadTile(p.Context, Mem{Base: x, Disp: quantsAt, Index: distance, Scale: 1}, rowsTile(t))
		}
	}
	p.MOVQ(U32(4*panelRows), distance)
	for t := range together {
		loadTile(p.Context, Mem{Base: p.stepNext, Disp: t*bytesOfTile + 4*tileLanes*half, Index: distance, Scale: 1}, weightsTile(t))
	}
}

// multiplyRows lets the tile unit multiply what was loaded.
func (p *tilesProduct) multiplyRows(half int) {
	for t := range together {
		zeroTile(p.Context, sumsTile(half, t))
		addTileProduct(p.Context, rowsTile(t), weightsTile(t), sumsTile(half, t))
	}
}

// storeSums writes what was multiplied last to memory, where the vector unit can read it.
func (p *tilesProduct) storeSums(half int) {
	distance := p.GP64()
	p.MOVQ(U32(4*tileLanes), distance)
	for t := range together {
		storeTile(p.Context, sumsTile(half, t), Mem{Base: p.sums, Disp: sumsOf(half, t), Index: distance, Scale: 1})
	}
}

// addRows scales the integer sums that were multiplied before, and adds them.
func (p *tilesProduct) addRows(half int) {
	var scales, mins, x, scaledSums [together]reg.VecVirtual
	for t := range together {
		scales[t] = p.ZMM()
		p.VMOVUPS(lanes16(p.stepNow, scalesAt+4*panelRows*t, half, 4), scales[t])
		if p.mins {
			mins[t] = p.ZMM()
			p.VMOVUPS(lanes16(p.stepNow, minsAt+4*panelRows*t, half, 4), mins[t])
		}
	}
	px, pa, sums, end := p.GP64(), p.GP64(), p.GP64(), p.GP64()
	p.MOVQ(p.px, px)
	p.MOVQ(p.pa, pa)
	p.MOVQ(p.count, end)
	p.SHLQ(Imm(6), end)
	p.MOVQ(p.sums, sums)
	p.ADDQ(sums, end)
	row := fmt.Sprint("row", half)
	p.JMP(LabelRef(row + "Check"))
	p.Label(row)
	for t, m := range []Mem{{Base: px}, {Base: px, Index: p.stride, Scale: 1}} {
		x[t] = p.ZMM()
		p.VBROADCASTSS(m.Offset(scaleAt), x[t])
		if p.mins {
			scaledSums[t] = p.ZMM()
			p.VBROADCASTSS(m.Offset(scaledSumAt), scaledSums[t])
		}
	}
	total := p.ZMM()
	p.VMOVUPS(lanes16(pa, 0, half, 4), total)
	for t := range together {
		dot, scale := p.ZMM(), p.ZMM()
		p.VCVTDQ2PS(at(sums, sumsOf(half, t)), dot)
		p.VMULPS(x[t], scales[t], scale)
		p.VMULPS(scale, dot, dot)
		p.VADDPS(total, dot, total)
		if p.mins {
			p.VMULPS(scaledSums[t], mins[t], scale)
			p.VADDPS(scale, total, total)
		}
	}
	p.VMOVUPS(total, lanes16(pa, 0, half, 4))
	p.ADDQ(Imm(recordBytes), px)
	p.ADDQ(U32(4*panelRows), pa)
	p.ADDQ(Imm(4*tileLanes), sums)
	p.Label(row + "Check")
	p.CMPQ(sums, end)
	p.JL(LabelRef(row))
}

// next makes the rows that were multiplied those to add, and goes where there is more to multiply.
func (p *tilesProduct) next() {
	p.CMPQ(p.rowsLeft, Imm(0)) // everything was multiplied, and has been added now
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
	p.SHLQ(Imm(7), first) // the bytes of a row's sums
	p.Load(p.Param("acc"), p.pa)
	p.ADDQ(first, p.pa)
	p.MOVQ(p.stepNext, p.stepNow)
	p.ADDQ(U32(tileRows*recordBytes), p.xNext)
	p.SUBQ(U32(tileRows), p.rowsLeft)
	p.JG(LabelRef("multiply"))
	// The next step must not touch the memory of this one, whose last rows are still to be added.
	p.NEGQ(p.stepNext)
	p.ADDQ(p.bothSteps, p.stepNext)
	p.CMPQ(p.left, Imm(0))
	p.JG(LabelRef("step"))
	p.JMP(LabelRef("multiply"))
}
