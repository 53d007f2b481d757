package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// tilesAtOnce is the number of tiles whose scales and sums share a register.
const tilesAtOnce = 4

// quantize512 generates the AVX-512 kernel that quantises a row of activations by the rule of
// ref.QuantizeRow, and has its registers. The kernel stops before four tiles with a number that is not finite.
type quantize512 struct {
	*build.Context
	magnitudes, ones, inOrder reg.VecVirtual
	spread                    [tilesAtOnce]reg.VecVirtual // indices for VPERMPS: spread[i] copies lane i to every lane
	first, firstLow, firstAll reg.VecVirtual
	limit                     reg.VecVirtual
	x, dst, stride            reg.Register
}

func quantizeWide(c *build.Context) {
	open(c, "quantizeAVX512", "func(records *byte, x *float32, tiles int, stride int) (done int)",
		"quantises tiles of 32 activations each to records that are stride bytes apart, four tiles at a time. It stops before four tiles with a number that is not finite, or when fewer than four are left, and returns how many it has quantised.")
	q := &quantize512{Context: c}
	q.dst, q.x = c.Load(c.Param("records"), c.GP64()), c.Load(c.Param("x"), c.GP64())
	tiles, done := c.Load(c.Param("tiles"), c.GP64()), c.GP64()
	q.stride = c.Load(c.Param("stride"), c.GP64())
	q.constants()
	c.XORQ(done, done)
	c.JMP(LabelRef("check"))

	c.Label("tiles")
	v, largest := q.largestOfTiles()
	infinity, finite := q.every(0x7f800000), c.K()
	c.VPCMPUD(Imm(notLessInteger), infinity.AsX(), largest, finite)
	c.KTESTB(finite, finite)
	c.JNZ(LabelRef("end"))
	inverse, scale := q.scales(largest)
	quants := q.toBytes(v, inverse)
	q.storeQuants(quants)
	q.storeSums(quants, scale)
	c.ADDQ(U32(tilesAtOnce*128), q.x)
	c.LEAQ(Mem{Base: q.dst, Index: q.stride, Scale: tilesAtOnce}, q.dst)
	c.ADDQ(Imm(tilesAtOnce), done)

	c.Label("check")
	c.SUBQ(Imm(tilesAtOnce), tiles)
	c.JGE(LabelRef("tiles"))
	c.Label("end")
	c.Store(done, c.Return("done"))
	c.VZEROUPPER()
	c.RET()
}

// notLessInteger is a predicate of VPCMPUD.
const notLessInteger = 5

func (q *quantize512) constants() {
	q.magnitudes, q.ones = q.every(0x7fffffff), q.every(0x01010101)
	q.limit = q.every(math.Float32bits(127))
	q.inOrder = q.order("tileOrder", func(i int) int { return i%4*4 + i/4 })
	for i := range q.spread {
		q.spread[i] = q.every(uint32(i))
	}
	q.first = q.order("tileFirst", func(i int) int { return i % 4 * 4 })
	// Where storeSums finds the sums of a tile's quants: of the first half, and of the second half.
	q.firstLow = q.order("tileLow", func(i int) int { return []int{0, 8, 1, 9}[i%4] })
	q.firstAll = q.order("tileHigh", func(i int) int { return []int{4, 12, 5, 13}[i%4] })
}

func (q *quantize512) every(v uint32) reg.VecVirtual { return every(q.Context, v) }

// order loads a register with the indices place(0) to place(15).
func (q *quantize512) order(name string, place func(i int) int) reg.VecVirtual {
	m := q.StaticGlobal(name)
	q.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		q.AppendDatum(U32(place(i)))
	}
	z := q.ZMM()
	q.VMOVDQU32(m, z)
	return z
}

// largestOfTiles loads four tiles to v, two registers each. It returns in largest the bits of each
// tile's largest magnitude. These bits have the order of the magnitudes, with NaN above all.
func (q *quantize512) largestOfTiles() (v [2 * tilesAtOnce]reg.VecVirtual, largest reg.Register) {
	var most [tilesAtOnce]reg.VecVirtual
	for i := range v {
		v[i] = q.ZMM()
		q.VMOVDQU32(at(q.x, 64*i), v[i])
		if i%2 == 0 {
			most[i/2] = q.ZMM()
			q.VPANDD(q.magnitudes, v[i], most[i/2])
			continue
		}
		t := q.ZMM()
		q.VPANDD(q.magnitudes, v[i], t)
		q.VPMAXUD(t, most[i/2], most[i/2])
	}
	// Take each tile's maxima over the two halves of its register, then over the quarters. In the end
	// each tile has one quarter of most[0].
	merge := func(low, high uint64, a, b reg.VecVirtual) {
		t := q.ZMM()
		q.VSHUFI64X2(Imm(high), b, a, t)
		q.VSHUFI64X2(Imm(low), b, a, a)
		q.VPMAXUD(t, a, a)
	}
	merge(0x44, 0xee, most[0], most[1])
	merge(0x44, 0xee, most[2], most[3])
	merge(0x88, 0xdd, most[0], most[2])
	for _, order := range []uint64{0x4e, 0xb1} {
		t := q.ZMM()
		q.VPSHUFD(Imm(order), most[0], t)
		q.VPMAXUD(t, most[0], most[0])
	}
	q.VPERMD(most[0], q.first, most[0])
	return v, most[0].AsX()
}

// scales returns the factors that the tiles are multiplied by (inverse), and their scales. Both are 0
// for a tile so small that ref.QuantizeRow makes it zeros.
func (q *quantize512) scales(largest reg.Register) (inverse, scale reg.VecVirtual) {
	inverse, scale = q.ZMM(), q.XMM()
	smallest, kept := q.every(math.Float32bits(0x1p-118)), q.K()
	q.VPCMPUD(Imm(notLessInteger), smallest.AsX(), largest, kept)
	q.VDIVPS_Z(largest, q.limit.AsX(), kept, inverse.AsX())
	q.VDIVPS_Z(q.limit.AsX(), largest, kept, scale)
	return inverse, scale
}

// toBytes rounds to the nearest integers, ties to even. Each register has two tiles.
func (q *quantize512) toBytes(v [2 * tilesAtOnce]reg.VecVirtual, inverse reg.VecVirtual) (quants [tilesAtOnce / 2]reg.VecVirtual) {
	for i, x := range v {
		if i%2 == 0 {
			factor := q.ZMM()
			q.VPERMPS(inverse, q.spread[i/2], factor)
			q.VMULPS(factor, v[i+1], v[i+1])
			q.VMULPS(factor, x, x)
		}
		q.VCVTPS2DQ(x, x)
	}
	for i := range quants {
		t := v[4*i : 4*i+4]
		q.VPACKSSDW(t[1], t[0], t[0])
		q.VPACKSSDW(t[3], t[2], t[2])
		q.VPACKSSWB(t[2], t[0], t[0])
		quants[i] = q.ZMM()
		q.VPERMD(t[0], q.inOrder, quants[i])
	}
	return quants
}

// eachRecord calls store with the start of each tile's record.
func (q *quantize512) eachRecord(store func(i int, record reg.Register)) {
	record := q.GP64()
	q.MOVQ(q.dst, record)
	for i := range tilesAtOnce {
		store(i, record)
		if i < tilesAtOnce-1 {
			q.ADDQ(q.stride, record)
		}
	}
}

func (q *quantize512) storeQuants(quants [tilesAtOnce / 2]reg.VecVirtual) {
	q.eachRecord(func(i int, record reg.Register) {
		if i%2 == 0 {
			q.VMOVDQU(quants[i/2].AsY(), at(record, quantsAt))
			return
		}
		q.VEXTRACTI64X4(Imm(1), quants[i/2], at(record, quantsAt))
	})
}

// storeSums sums the quants and stores the numbers that follow them in the records.
func (q *quantize512) storeSums(quants [tilesAtOnce / 2]reg.VecVirtual, scale reg.VecVirtual) {
	var fours [tilesAtOnce / 2]reg.VecVirtual // sums of four quants each
	for i, x := range quants {
		fours[i] = q.ZMM()
		q.VPXORD(fours[i], fours[i], fours[i])
		q.VPDPBUSD(x, q.ones, fours[i])
	}
	sums, t := q.ZMM(), q.ZMM()
	q.VPUNPCKLDQ(fours[1], fours[0], sums)
	q.VPUNPCKHDQ(fours[1], fours[0], t)
	q.VPADDD(t, sums, sums)
	q.VPSHUFD(Imm(0x4e), sums, t)
	q.VPADDD(t, sums, sums) // now quarters: sums of halves of tiles 0 and 2, and of tiles 1 and 3
	low, all, scaled, zero := q.ZMM(), q.ZMM(), q.XMM(), q.XMM()
	q.VPERMD(sums, q.firstLow, low)
	q.VPERMD(sums, q.firstAll, all)
	q.VPADDD(low.AsX(), all.AsX(), all.AsX())
	q.VCVTDQ2PS(all.AsX(), scaled)
	q.VMULPS(scale, scaled, scaled)
	q.VPXOR(zero, zero, zero)
	q.VPSUBD(low.AsX(), zero, low.AsX())
	q.VPSUBD(all.AsX(), zero, all.AsX())
	// Put the four numbers of each record next to each other.
	var records [tilesAtOnce]reg.VecVirtual
	for i := range 2 {
		a, b := q.XMM(), q.XMM()
		if i == 0 {
			q.VUNPCKLPS(all.AsX(), scale, a)
			q.VUNPCKLPS(scaled, low.AsX(), b)
		} else {
			q.VUNPCKHPS(all.AsX(), scale, a)
			q.VUNPCKHPS(scaled, low.AsX(), b)
		}
		records[2*i], records[2*i+1] = q.XMM(), q.XMM()
		q.VUNPCKLPD(b, a, records[2*i])
		q.VUNPCKHPD(b, a, records[2*i+1])
	}
	q.eachRecord(func(i int, record reg.Register) { q.VMOVUPS(records[i], at(record, scaleAt)) })
}
