package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// leastWide is the smallest number of activation rows of a kernel for many rows. Any large number
// can be divided into groups of 5 and 6.
const leastWide = 5

// wideStep is the size in bytes of 16 columns of four converted weight rows, which lie side by side.
// So a product reads one stream.
const wideStep = floatRows * 16 * 4

// wideAhead is how many bytes ahead the stream is prefetched from the second-level cache. Near the end
// of four rows, bytes of the next four rows are prefetched.
const wideAhead = 8 * wideStep

// widenRow generates the conversion of a weight row to float32, in the order that dotWide reads.
func widenRow(c *build.Context, n number) {
	open(c, "widen"+n.name+"AVX512", "func(dst *float32, src *byte, cols int)", "is for i := range cols { dst[i/16*64 + i%16] = float32(src[i]) }, cols a multiple of 16.")
	d := &dots{Context: c, number: n}
	dst, src, cols := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("src"), c.GP64()), c.Load(c.Param("cols"), c.GP64())
	c.Label("columns")
	w := c.ZMM()
	d.widen(at(src, 0), w)
	c.VMOVUPS(w, at(dst, 0))
	c.ADDQ(Imm(uint64(16*n.bytes)), src)
	c.ADDQ(U32(wideStep), dst)
	c.SUBQ(Imm(16), cols)
	c.JNZ(LabelRef("columns"))
	c.VZEROUPPER()
	c.RET()
}

// dotWide generates the product of four converted weight rows with m rows of activations, over some
// of the columns. Between two parts of the columns the sums are in memory.
func dotWide(c *build.Context, order Mem, m int) {
	d := &dots{Context: c, number: numbers[0], m: m, parts: 1, register: c.ZMM, transposed: order}
	open(c, fmt.Sprintf("dotWidex%dAVX512", m),
		"func(dst *float32, sums *float32, w *float32, x *float32, cols int, xBytes int, dstBytes int, begun bool, more bool, next *byte, pace int)",
		fmt.Sprintf("multiplies 4 widened rows of w, cols numbers each, a multiple of 16, with %d rows of x. Rows of x are xBytes bytes apart, and rows of dst are dstBytes bytes apart. ", m)+
			"If begun is true, it continues the sums that an earlier call left in sums. If more is true, it leaves its sums there; otherwise it writes the results to dst. "+
			"With each 16 columns it prefetches a line, at first at next, then pace bytes further each time.")
	cols, size := c.Load(c.Param("cols"), c.GP64()), c.Load(c.Param("xBytes"), c.GP64())
	w := c.Load(c.Param("w"), c.GP64())
	d.x = d.rowsOf("x", size, m)
	next, pace := c.Load(c.Param("next"), c.GP64()), c.Load(c.Param("pace"), c.GP64())
	sums := c.Load(c.Param("sums"), c.GP64())
	d.takeSums(floatRows)
	flag := c.Load(c.Param("begun"), c.GP8())
	c.TESTB(flag, flag)
	c.JNZ(LabelRef("begun"))
	d.clear()
	c.JMP(LabelRef("columns"))
	c.Label("begun")
	d.eachSum(func(sum reg.VecVirtual, at Mem) { c.VMOVUPS(at, sum) }, sums)
	c.Label("columns")
	c.PREFETCHT1(at(next, 0))
	c.ADDQ(pace, next)
	weights := make([]reg.VecVirtual, floatRows)
	for r := range weights {
		weights[r] = c.ZMM()
		c.VMOVUPS(at(w, 64*r), weights[r])
		c.PREFETCHT0(at(w, wideAhead+64*r))
	}
	d.multiply(weights, 0)
	c.ADDQ(U32(wideStep), w)
	d.advance()
	c.SUBQ(Imm(16), cols)
	c.JNZ(LabelRef("columns"))
	flag = c.Load(c.Param("more"), c.GP8())
	c.TESTB(flag, flag)
	c.JNZ(LabelRef("more"))
	d.foldHalves(d.halved(), c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("dstBytes"), c.GP64()))
	c.VZEROUPPER()
	c.RET()
	c.Label("more")
	d.eachSum(func(sum reg.VecVirtual, at Mem) { c.VMOVUPS(sum, at) }, sums)
	c.VZEROUPPER()
	c.RET()
}
