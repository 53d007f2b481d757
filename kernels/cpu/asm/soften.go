package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// soften512 generates the function softenRows of kernels/cpu. It takes all queries in one call. One query
// has too few scores to hide the latency of an exponential; with several queries, the processor overlaps
// their exponentials.
func (v *elements) soften512() {
	const name = "softenAVX512"
	v.Function(name)
	v.Attributes(build.NOSPLIT)
	v.SignatureExpr("func(scores *float32, seen *[8]int, n int, largests, sums *[8]float32)")
	v.Pragma("noescape")
	v.Doc(name + " turns the first seen[j] of scores[256*j:] into weights exp(score - largest), for j := range n, and writes their largest score and the sum of the weights to largests[j] and sums[j]. Scores that only fill up the last 16 become 0. seen[j] is not 0.")
	pointer := func(name string) reg.Register { return v.Load(v.Param(name), v.GP64()) }
	row, seen, n, largests, sums := pointer("scores"), pointer("seen"), pointer("n"), pointer("largests"), pointer("sums")
	e := v.exponential512()
	least := v.ZMM()
	v.VBROADCASTSS(v.float("MinusInfinity", float32(math.Inf(-1))), least)
	last, bytes, unseen := v.GP64(), v.GP64(), v.K()

	v.Label("query")
	v.lastBlock(seen, row, last, bytes, unseen)
	block := v.ZMM()
	v.VMOVUPS(Mem{Base: last}, block)
	v.VMOVAPS(least, unseen, block)
	v.VMOVUPS(block, Mem{Base: last}) // the whole block: after a partial store, a load would have to wait
	shift := v.largest512(row, bytes, least)
	v.VMOVSS(shift.AsX(), Mem{Base: largests})
	v.VBROADCASTSS(shift.AsX(), shift)
	sum := v.ZMM()
	v.VPXORD(sum, sum, sum)
	at := v.GP64()
	v.MOVQ(row, at)
	for _, together := range []int{4, 1} {
		v.blocks(fmt.Sprint("weigh", together), bytes, 4*keysPerBlock*together, 4*keysPerBlock*together, []reg.Register{at}, func() {
			x := make([]reg.VecVirtual, together)
			for i := range x {
				x[i] = v.ZMM()
				v.VMOVUPS(Mem{Base: at, Disp: 64 * i}, x[i])
				v.VSUBPS(shift, x[i], x[i])
			}
			e.of(x...)
			for i, x := range x {
				v.VMOVUPS(x, Mem{Base: at, Disp: 64 * i})
				v.VADDPS(x, sum, sum)
			}
		})
	}
	v.halve(sum, func(high, low reg.Register) { v.VADDPS(high, low, low) })
	v.VMOVSS(sum.AsX(), Mem{Base: sums})
	v.ADDQ(U32(4*keysPerSplit), row)
	v.ADDQ(Imm(8), seen)
	v.ADDQ(Imm(4), largests)
	v.ADDQ(Imm(4), sums)
	v.DECQ(n)
	v.JNZ(LabelRef("query"))
	v.end()
}

// lastBlock computes the address of the last block of 16 in a row, and the bytes of all blocks of the
// row. unseen becomes the mask of the scores in the last block that are not seen.
func (v *elements) lastBlock(seen, row, last, bytes reg.Register, unseen reg.Register) {
	scores, mask := v.GP64(), v.GP32()
	v.MOVQ(Mem{Base: seen}, scores)
	v.LEAQ(Mem{Base: scores, Disp: keysPerBlock - 1}, bytes)
	v.ANDQ(I32(-keysPerBlock), bytes)
	v.SUBQ(bytes, scores) // −15 … 0
	v.ADDQ(Imm(keysPerBlock), scores)
	v.MOVL(I32(-1), mask)
	v.SHLXL(scores.As32(), mask, mask)
	v.KMOVW(mask, unseen)
	v.SHLQ(Imm(2), bytes)
	v.LEAQ(Mem{Base: row, Index: bytes, Scale: 1, Disp: -4 * keysPerBlock}, last)
}

// largest512 returns the largest number of a row in lane 0, or NaN if the row has one.
func (v *elements) largest512(row, bytes reg.Register, least reg.VecVirtual) reg.VecVirtual {
	largest, nans, nan := v.ZMM(), v.K(), v.K()
	v.VMOVAPS(least, largest)
	v.KXORW(nans, nans, nans)
	v.overBlocks("largest", bytes, func(at reg.Register) {
		x := v.ZMM()
		v.VMOVUPS(Mem{Base: row, Index: at, Scale: 1}, x)
		v.VCMPPS(Imm(unordered), x, x, nan)
		v.KORW(nan, nans, nans)
		v.VMAXPS(x, largest, largest)
	})
	v.halve(largest, func(x, y reg.Register) { v.VMAXPS(x, y, y) })
	v.KORTESTW(nans, nans)
	v.JZ(LabelRef("ordered"))
	v.VBROADCASTSS(v.float("NaN", float32(math.NaN())), largest)
	v.Label("ordered")
	return largest
}

// overBlocks repeats body for each 16 numbers; at is their offset in bytes.
func (v *elements) overBlocks(label string, bytes reg.Register, body func(at reg.Register)) {
	at := v.GP64()
	v.XORQ(at, at)
	v.Label(label)
	body(at)
	v.ADDQ(Imm(4*keysPerBlock), at)
	v.CMPQ(at, bytes)
	v.JL(LabelRef(label))
}

// halve combines the halves of a register until lane 0 has everything, in the order of the function
// fold of kernels/cpu.
func (v *elements) halve(z reg.VecVirtual, combine func(x, y reg.Register)) {
	upper := v.ZMM()
	v.VEXTRACTF64X4(Imm(1), z, upper.AsY())
	combine(upper.AsY(), z.AsY())
	v.VEXTRACTF32X4(Imm(1), z.AsY(), upper.AsX())
	combine(upper.AsX(), z.AsX())
	for _, order := range []uint64{0x4e, 0xb1} { // swap halves, then neighbours
		v.VPERMILPS(Imm(order), z.AsX(), upper.AsX())
		combine(upper.AsX(), z.AsX())
	}
}
