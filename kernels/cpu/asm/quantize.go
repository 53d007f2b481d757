package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// quantize generates the AVX2 kernel that turns a row of activations into records, by the rule of
// ref.QuantizeRow.
func quantize(c *build.Context) {
	magnitudes := lanes(c, "magnitudes", 0x7fffffff)
	signs := lanes(c, "signs", 0x80808080)
	order := lanes(c, "order", 0, 4, 1, 5, 2, 6, 3, 7)
	open(c, "quantizeAVX2", "func(records *byte, x *float32, tiles int, stride int)",
		"quantises tiles of 32 activations each to records that are stride bytes apart.")
	dst, x := c.Load(c.Param("records"), c.GP64()), c.Load(c.Param("x"), c.GP64())
	tiles, stride := c.Load(c.Param("tiles"), c.GP64()), c.Load(c.Param("stride"), c.GP64())
	quants, largest := c.YMM(), c.GP32()
	scale, inverse, limit := c.XMM(), c.XMM(), c.XMM()
	bits := c.GP32()

	c.Label("tile")
	v := largestMagnitude(c, x, magnitudes, largest)
	c.CMPL(largest, U32(0x7f800000))
	c.JAE(LabelRef("fault"))
	c.CMPL(largest, U32(math.Float32bits(0x1p-118)))
	c.JB(LabelRef("zeros"))
	c.VMOVD(largest, scale)
	c.MOVL(U32(math.Float32bits(127)), bits)
	c.VMOVD(bits, limit)
	c.VDIVSS(scale, limit, inverse)
	c.VDIVSS(limit, scale, scale)
	toBytes(c, v, inverse, order, quants)

	c.Label("store")
	c.VMOVDQU(quants, at(dst, quantsAt))
	storeSums(c, dst, quants, scale, signs)
	c.ADDQ(U32(128), x)
	c.ADDQ(stride, dst)
	c.DECQ(tiles)
	c.JNZ(LabelRef("tile"))
	c.VZEROUPPER()
	c.RET()

	c.Label("fault")
	c.MOVL(U32(0x7fc00000), bits)
	c.VMOVD(bits, scale)
	c.VPXOR(quants, quants, quants)
	c.JMP(LabelRef("store"))
	c.Label("zeros")
	c.VPXOR(scale, scale, scale)
	c.VPXOR(quants, quants, quants)
	c.JMP(LabelRef("store"))
}

// largestMagnitude loads the 32 numbers at x to v, and sets largest to the bits of their largest
// magnitude. These bits have the order of the magnitudes, with NaN above all.
func largestMagnitude(c *build.Context, x reg.Register, mask Mem, largest reg.GPVirtual) (v [4]reg.VecVirtual) {
	most, t := c.YMM(), c.YMM()
	for i := range v {
		v[i] = c.YMM()
		c.VMOVDQU(at(x, 32*i), v[i])
		if i == 0 {
			c.VPAND(mask, v[i], most)
			continue
		}
		c.VPAND(mask, v[i], t)
		c.VPMAXUD(t, most, most)
	}
	low, high := most.AsX(), c.XMM()
	c.VEXTRACTI128(Imm(1), most, high)
	c.VPMAXUD(high, low, low)
	c.VPSHUFD(Imm(0x4e), low, high)
	c.VPMAXUD(high, low, low)
	c.VPSHUFD(Imm(0xb1), low, high)
	c.VPMAXUD(high, low, low)
	c.VMOVD(low, largest)
	return v
}

// toBytes rounds v·inverse to the nearest integers, ties to even, and puts them in order.
func toBytes(c *build.Context, v [4]reg.VecVirtual, inverse reg.VecVirtual, order Mem, quants reg.VecVirtual) {
	factor, places := c.YMM(), c.YMM()
	c.VBROADCASTSS(inverse, factor)
	for i := range v {
		c.VMULPS(factor, v[i], v[i])
		c.VCVTPS2DQ(v[i], v[i])
	}
	c.VPACKSSDW(v[1], v[0], v[0])
	c.VPACKSSDW(v[3], v[2], v[2])
	c.VPACKSSWB(v[2], v[0], v[0])
	c.VMOVDQU(order, places)
	c.VPERMD(v[0], places, quants)
}

// storeSums stores the numbers of the record after the quants. To sum the quants, it first biases
// them to unsigned bytes.
func storeSums(c *build.Context, dst reg.Register, quants, scale reg.VecVirtual, signs Mem) {
	biased, zero, sum := c.YMM(), c.YMM(), c.XMM()
	low, all := c.GP32(), c.GP32()
	c.VPXOR(zero, zero, zero)
	c.VPXOR(signs, quants, biased)
	c.VPSADBW(zero, biased, biased)
	c.VEXTRACTI128(Imm(1), biased, sum)
	add := func(x reg.Register, to reg.GPVirtual) {
		t := c.XMM()
		c.VPSHUFD(Imm(0x4e), x, t)
		c.VPADDD(x, t, t)
		c.VMOVD(t, to)
		c.NEGL(to)
		c.ADDL(U32(16*128), to)
	}
	add(biased.AsX(), low)
	add(sum, all)
	c.ADDL(low, all)
	c.VMOVSS(scale, at(dst, scaleAt))
	c.MOVL(all, at(dst, minusSumAt))
	c.MOVL(low, at(dst, minusLowAt))
	scaled := c.XMM()
	c.VXORPS(scaled, scaled, scaled)
	c.NEGL(all)
	c.VCVTSI2SSL(all, scaled, scaled)
	c.VMULSS(scale, scaled, scaled)
	c.VMOVSS(scaled, at(dst, scaledSumAt))
}
