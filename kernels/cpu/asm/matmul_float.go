package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// floatRows is the number of weight rows per kernel call: their results fill an SSE register.
const floatRows = 4

// mostDots is the largest number of activation rows whose sums with four weight rows fit into the
// AVX-512 registers, together with the weights.
const mostDots = 6

// number is a weight type that is multiplied as float32.
type number struct {
	name  string
	bytes int
}

var numbers = []number{{"F32", 4}, {"F16", 2}, {"BF16", 2}}

// matmulFloat generates the kernels for each weight type. They multiply four weight rows with one
// row of activations or, on AVX-512, with up to nine. The partial sums of ref.Dot are the lanes of
// one AVX-512 register or of two AVX2 registers.
func matmulFloat(c *build.Context) {
	order := transposed(c)
	for _, n := range numbers {
		dotOne(c, n, 1, c.ZMM, "AVX512")
		dotOne(c, n, 2, c.YMM, "AVX2")
		for rows := 2; rows <= mostFew; rows++ {
			dotFew(c, order, n, rows, false)
		}
		for rows := leastWide; rows <= mostDots; rows++ {
			dotFew(c, order, n, rows, true)
		}
		widenRow(c, n)
	}
	for rows := leastWide; rows <= mostDots; rows++ {
		dotWide(c, order, rows)
	}
}

// dots is the state of a kernel over m rows of activations. The lanes of a sum fill parts registers.
type dots struct {
	*build.Context
	number
	m, parts   int
	register   func() reg.VecVirtual
	sums       [][]reg.VecVirtual // by activation row, then weight row; the parts of a sum follow each other
	w, x       rowsAt
	transposed Mem // for foldHalves
}

// dotOne generates the kernel that multiplies four rows of weights with one row of activations. It is
// as fast as the weights can be read.
func dotOne(c *build.Context, n number, parts int, register func() reg.VecVirtual, level string) {
	d := &dots{Context: c, number: n, m: 1, parts: parts, register: register}
	open(c, fmt.Sprintf("dot%sx1%s", n.name, level), "func(dst *float32, w *byte, x *float32, cols int, ahead int, pace int)",
		"multiplies 4 rows of w with x, of cols numbers each, a multiple of 16. With each 16 columns it prefetches as many bytes as 16 columns of w have, at first ahead bytes after w, then pace bytes further each time.")
	dst, cols := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("cols"), c.GP64())
	next, pace := c.Load(c.Param("ahead"), c.GP64()), c.Load(c.Param("pace"), c.GP64())
	size := c.GP64()
	c.MOVQ(cols, size)
	c.SHLQ(Imm(uint64(n.bytes/2)), size)
	d.w, d.x = d.rowsOf("w", size, floatRows), d.rowsOf("x", size, 1)
	c.ADDQ(d.w.thirds[0], next)
	d.takeSums(floatRows)
	d.clear()
	c.Label("columns")
	// Prefetch in the order of addresses, which memory serves faster than four places in turn, and
	// into the second-level cache, which can have more requests under way than the first.
	for line := 0; line < floatRows*16*n.bytes; line += 64 {
		c.PREFETCHT1(at(next, line))
	}
	c.ADDQ(pace, next)
	for part := range parts {
		d.step(floatRows, part)
	}
	d.advance()
	c.SUBQ(Imm(16), cols)
	c.JNZ(LabelRef("columns"))
	c.VMOVUPS(d.fold(d.sums[0]), at(dst, 0))
	c.VZEROUPPER()
	c.RET()
}

// takeSums reserves registers for the sums of all activation rows with weightRows weight rows.
func (d *dots) takeSums(weightRows int) {
	d.sums = make([][]reg.VecVirtual, d.m)
	for i := range d.sums {
		for range weightRows * d.parts {
			d.sums[i] = append(d.sums[i], d.register())
		}
	}
}

// eachSum calls move for every sum and its place in memory.
func (d *dots) eachSum(move func(sum reg.VecVirtual, at Mem), memory reg.Register) {
	offset := 0
	for _, sums := range d.sums {
		for _, sum := range sums {
			move(sum, at(memory, offset))
			offset += 64
		}
	}
}

func (d *dots) clear() {
	for _, sums := range d.sums {
		for _, sum := range sums {
			d.VXORPS(sum.AsX(), sum.AsX(), sum.AsX())
		}
	}
}

// rowsAt are the addresses of rows that are size bytes apart. There is a pointer to every third row;
// x86 addresses reach the two rows after it.
type rowsAt struct {
	thirds []reg.Register
	size   reg.Register
}

// rowsOf loads the pointers for n rows.
func (d *dots) rowsOf(param string, size reg.Register, n int) rowsAt {
	r := rowsAt{[]reg.Register{d.Load(d.Param(param), d.GP64())}, size}
	for i := 3; i < n; i += 3 {
		third := d.GP64()
		d.LEAQ(Mem{Base: r.thirds[i/3-1], Index: size, Scale: 2}, third)
		d.ADDQ(size, third)
		r.thirds = append(r.thirds, third)
	}
	return r
}

// at returns the address of row i, offset bytes on.
func (r rowsAt) at(i, offset int) Mem {
	m := Mem{Base: r.thirds[i/3], Disp: offset}
	if i%3 > 0 {
		m.Index, m.Scale = r.size, uint8(i%3)
	}
	return m
}

// advance moves on to the next 16 columns.
func (d *dots) advance() {
	for _, w := range d.w.thirds {
		d.ADDQ(Imm(uint64(16*d.bytes)), w)
	}
	for _, x := range d.x.thirds {
		d.ADDQ(Imm(16*4), x)
	}
}

// step multiplies one part of 16 columns of weightRows weight rows with every row of activations, and adds
// the products to the sums.
func (d *dots) step(weightRows, part int) {
	w := make([]reg.VecVirtual, weightRows)
	for r := range w {
		w[r] = d.register()
		d.widen(d.w.at(r, part*16/d.parts*d.bytes), w[r])
	}
	d.multiply(w, part)
}

// multiply adds the products of the weights w, one part of 16 columns, with every row of activations.
// It rounds once, after the addition.
func (d *dots) multiply(w []reg.VecVirtual, part int) {
	for i := range d.m {
		x := d.register()
		d.VMOVUPS(d.x.at(i, part*16/d.parts*4), x)
		for r := range w {
			d.VFMADD231PS(x, w[r], d.sums[i][r*d.parts+part])
		}
	}
}

func (d *dots) widen(from Mem, to reg.VecVirtual) {
	switch d.name {
	case "F32":
		d.VMOVUPS(from, to)
	case "F16":
		d.VCVTPH2PS(from, to)
	case "BF16":
		d.VPMOVZXWD(from, to)
		d.VPSLLD(Imm(16), to, to)
	}
}
