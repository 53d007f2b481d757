package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// mostFew is the largest number of activation rows that one kernel multiplies: about the rows of a
// verification. See kernels/cpu.
const mostFew = 9

// few is the state of a kernel for several rows of activations. With up to mostDots rows, the sums
// with four weight rows fit into the registers. With more, the kernel takes two turns of two weight
// rows each, so that weights are still read and converted only once.
type few struct {
	*dots
	// together is the number of weight rows per turn, lines the number of cache lines prefetched for
	// each 16 columns of a turn.
	together, lines int
	waiting         [][]reg.VecVirtual // halved sums of the first turn
	next, apart     reg.Register       // addresses to prefetch
	pace, back      reg.Register       // see prefetch of kernels/cpu
	parked          reg.Register       // address of sums that are kept in memory
	// prefetch generates a prefetch of weights. With many rows, most weights are in the second-level
	// cache already, and the instruction reads them into the first. With few rows, it reads them into
	// the second-level cache, which can have more requests under way.
	prefetch func(Op)
}

// dotFew generates the product of four weight rows with m rows of activations, over some of the
// columns. If many is true, the m rows are one of several groups, as in a prefill.
func dotFew(c *build.Context, order Mem, n number, m int, many bool) {
	f := &few{dots: &dots{Context: c, number: n, m: m, parts: 1, register: c.ZMM, transposed: order}, together: floatRows}
	f.lines = floatRows * 16 * n.bytes / 64
	if m > mostDots {
		f.together = floatRows / 2
		f.lines = f.together
	}
	kind := ""
	f.prefetch = c.PREFETCHT1
	if many {
		kind, f.prefetch = "Many", c.PREFETCHT0
	}
	open(c, fmt.Sprintf("dot%s%sx%dAVX512", kind, n.name, m),
		"func(dst *float32, sums *float32, w *byte, x *float32, cols int, rowCols int, dstBytes int, begun bool, more bool, ahead int, apart int, pace int, back int)",
		fmt.Sprintf("multiplies cols columns, a multiple of 16, of 4 rows of w and %d rows of x. Rows of w and x have rowCols columns; rows of dst are dstBytes bytes apart. ", m)+
			"If begun is true, it continues the sums that an earlier call left in sums. If more is true, it leaves its sums there; otherwise it writes the results to dst. "+
			fmt.Sprintf("With each 16 columns of %d weight rows it prefetches %d lines that are apart bytes from each other, at first ahead bytes after the weights, ", f.together, f.lines)+
			"then by turns pace bytes and back bytes further.")
	wBytes, xBytes := c.GP64(), c.Load(c.Param("rowCols"), c.GP64())
	c.MOVQ(xBytes, wBytes)
	c.SHLQ(Imm(uint64(n.bytes/2)), wBytes)
	c.SHLQ(Imm(2), xBytes)
	f.w, f.x = f.rowsOf("w", wBytes, f.together), f.rowsOf("x", xBytes, m)
	f.next, f.apart = c.GP64(), c.Load(c.Param("apart"), c.GP64())
	f.pace, f.back = c.GP64(), c.GP64()
	f.parked = c.Load(c.Param("sums"), c.GP64())
	f.takeSums(f.together)
	f.turn("first")
	if f.together < floatRows {
		f.rewind()
		f.turn("second")
	}
	c.VZEROUPPER()
	c.RET()
}

// turn generates a turn: it adds the products of the columns to the sums of its weight rows. If more columns
// will follow, it leaves the sums in memory.
func (f *few) turn(name string) {
	label := func(s string) string { return name + s }
	flag, left := f.Load(f.Param("begun"), f.GP8()), f.GP64()
	f.TESTB(flag, flag)
	f.JNZ(LabelRef(label("Begun")))
	f.clear()
	f.JMP(LabelRef(label("Enter")))
	f.Label(label("Begun"))
	f.eachSum(func(sum reg.VecVirtual, at Mem) { f.VMOVUPS(at, sum) }, f.parked)
	f.Label(label("Enter"))
	f.Load(f.Param("pace"), f.pace)
	f.Load(f.Param("back"), f.back)
	f.Load(f.Param("ahead"), f.next)
	f.ADDQ(f.w.thirds[0], f.next)
	f.Load(f.Param("cols"), left)
	f.Label(label("Columns"))
	f.columns()
	f.SUBQ(Imm(16), left)
	f.JNZ(LabelRef(label("Columns")))
	flag = f.Load(f.Param("more"), f.GP8())
	f.TESTB(flag, flag)
	f.JZ(LabelRef(label("Fold")))
	f.eachSum(func(sum reg.VecVirtual, at Mem) { f.VMOVUPS(sum, at) }, f.parked)
	f.JMP(LabelRef(label("End")))
	f.Label(label("Fold"))
	f.fold()
	f.Label(label("End"))
}

// columns adds the products of 16 columns to the sums.
func (f *few) columns() {
	from := rowsAt{[]reg.Register{f.next}, f.apart}
	for line := range min(f.lines, 3) {
		f.prefetch(from.at(line, 0))
	}
	if f.lines > 3 {
		last := f.GP64()
		f.LEAQ(from.at(1, 0), last)
		f.prefetch(Mem{Base: last, Index: f.apart, Scale: 2})
	}
	f.ADDQ(f.pace, f.next)
	f.XCHGQ(f.pace, f.back)
	f.step(f.together, 0)
	f.advance()
}

// rewind moves the pointers back to the first column, and on to the weight rows and sums of the
// second turn.
func (f *few) rewind() {
	cols := f.Load(f.Param("cols"), f.GP64())
	f.SHLQ(Imm(2), cols)
	for _, x := range f.x.thirds {
		f.SUBQ(cols, x)
	}
	f.ADDQ(U32(64*f.m*f.together), f.parked)
	f.SHRQ(Imm(uint64(2-f.bytes/2)), cols)
	f.SUBQ(cols, f.w.thirds[0])
	f.LEAQ(Mem{Base: f.w.thirds[0], Index: f.w.size, Scale: 2}, f.w.thirds[0])
}

// fold adds the lanes of a turn's sums. The halved sums of the first of two turns wait in registers
// for the second turn.
func (f *few) fold() {
	halves := f.halved()
	if f.together < floatRows && f.waiting == nil {
		f.waiting = halves
		return
	}
	for i, first := range f.waiting {
		halves[i] = append(first, halves[i]...)
	}
	f.foldHalves(halves, f.Load(f.Param("dst"), f.GP64()), f.Load(f.Param("dstBytes"), f.GP64()))
}
