package main

import (
	"math"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// rmsNorm512 normalises all groups of a row in one call. The sum, root and two divisions of a group
// have long latency but little work. In one call, the processor overlaps these steps of several groups.
func (v *elements) rmsNorm512() {
	const name = "rmsNormAVX512"
	v.Function(name)
	v.Attributes(build.NOSPLIT)
	v.SignatureExpr("func(dst, x, w *float32, n, groups int, eps float64)")
	v.Pragma("noescape")
	v.Doc(name + " is RMSNorm for each of the groups; a group has n numbers, a multiple of 16.")
	argument := func(name string) reg.Register { return v.Load(v.Param(name), v.GP64()) }
	dst, x, w, n, groups := argument("dst"), argument("x"), argument("w"), argument("n"), argument("groups")
	count, eps, one := v.XMM(), v.XMM(), v.XMM()
	v.VXORPS(count, count, count)
	v.VCVTSI2SDQ(n, count, count)
	v.VMOVSD(v.address("eps"), eps)
	bits := v.GP64()
	v.MOVQ(U64(math.Float64bits(1)), bits)
	v.VMOVQ(bits, one)
	bytes := v.GP64()
	v.LEAQ(Mem{Base: n, Index: n, Scale: 1}, bytes)
	v.ADDQ(bytes, bytes)

	v.Label("group")
	sum := v.ZMM()
	v.VPXORD(sum, sum, sum)
	v.overBlocks("squares", bytes, func(at reg.Register) {
		block := v.ZMM()
		v.VMOVUPS(Mem{Base: x, Index: at, Scale: 1}, block)
		v.VMULPS(block, block, block)
		v.VADDPS(block, sum, sum)
	})
	v.halve(sum, func(high, low reg.Register) { v.VADDPS(high, low, low) })
	mean, factor := sum.AsX(), v.ZMM()
	v.VCVTSS2SD(mean, mean, mean)
	v.VDIVSD(count, mean, mean)
	v.VADDSD(eps, mean, mean)
	v.VSQRTSD(mean, mean, mean)
	v.VDIVSD(mean, one, mean)
	v.VCVTSD2SS(mean, mean, mean)
	v.VBROADCASTSS(mean, factor)
	v.overBlocks("scale", bytes, func(at reg.Register) {
		block := v.ZMM()
		v.VMULPS(Mem{Base: x, Index: at, Scale: 1}, factor, block)
		v.VMULPS(Mem{Base: w, Index: at, Scale: 1}, block, block)
		v.VMOVUPS(block, Mem{Base: dst, Index: at, Scale: 1})
	})
	v.ADDQ(bytes, x)
	v.ADDQ(bytes, dst)
	v.DECQ(groups)
	v.JNZ(LabelRef("group"))
	v.end()
}
