package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// floatRows is the number of weight rows of a kernel: their results fill an SSE register.
const floatRows = 4

// mostDots is the number of activation rows whose sums fit the registers of AVX-512, together with the weights.
const mostDots = 6

// number is a type of weights that are multiplied as float32.
type number struct {
	name  string
	bytes int
}

var numbers = []number{{"F32", 4}, {"F16", 2}, {"BF16", 2}}

// matmulFloat generates, for each type of weights, kernels that multiply four weight rows with one row of activations
// and, on AVX-512, with up to six. The sums of ref.Dot are the lanes of one AVX-512 register or of two AVX2 ones.
func matmulFloat(c *build.Context) {
	order := transposed(c)
	for _, n := range numbers {
		for rows := 1; rows <= mostDots; rows++ {
			dotRows(c, order, n, rows, 1, c.ZMM, "AVX512")
		}
		dotRows(c, order, n, 1, 2, c.YMM, "AVX2")
		widenRow(c, n)
	}
	for rows := leastWide; rows <= mostDots; rows++ {
		dotWide(c, order, rows)
	}
}

// dots is the state of a kernel over m rows of activations; lane sums take parts registers.
type dots struct {
	*build.Context
	number
	m, parts   int
	register   func() reg.VecVirtual
	sums       [mostDots][floatRows][]reg.VecVirtual // by row of activations and weight row
	w, x       rowsAt
	ahead      reg.Register // what is prefetched
	transposed Mem          // for foldRows
}

func dotRows(c *build.Context, order Mem, n number, m, parts int, register func() reg.VecVirtual, level string) {
	d := &dots{Context: c, number: n, m: m, parts: parts, register: register, transposed: order}
	open(c, fmt.Sprintf("dot%sx%d%s", n.name, m, level), "func(dst *float32, w *byte, x *float32, cols int, stride int, ahead int, step int)",
		fmt.Sprintf("multiplies 4 rows of w with %d of x; stride is that of dst in bytes, cols a multiple of 16; what lies ahead bytes behind w is prefetched, from there on step bytes further with each 16 columns.", m))
	dst, stride := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("stride"), c.GP64())
	cols := c.Load(c.Param("cols"), c.GP64())
	d.ahead = c.Load(c.Param("ahead"), c.GP64())
	step := c.Load(c.Param("step"), c.GP64())
	d.w, d.x = d.rows("w", cols, n.bytes), d.rows("x", cols, 4)
	c.ADDQ(d.w.first, d.ahead)
	for i := range m {
		for r := range floatRows {
			for range parts {
				d.sums[i][r] = append(d.sums[i][r], register())
			}
		}
	}
	d.clear()
	c.Label("columns")
	d.ask(step)
	for part := range parts {
		d.step(part)
	}
	d.w.advance(c, 16*n.bytes)
	d.x.advance(c, 16*4)
	c.SUBQ(Imm(16), cols)
	c.JNZ(LabelRef("columns"))
	if m > 1 && parts == 1 {
		d.foldRows(dst, stride)
	} else {
		for i := range m {
			c.VMOVUPS(d.fold(d.sums[i]), at(dst, 0))
			if i < m-1 {
				c.ADDQ(stride, dst)
			}
		}
	}
	c.VZEROUPPER()
	c.RET()
}

func (d *dots) clear() {
	for i := range d.m {
		for _, sums := range d.sums[i] {
			for _, sum := range sums {
				d.VXORPS(sum.AsX(), sum.AsX(), sum.AsX())
			}
		}
	}
}

// rowsAt are the addresses of up to six rows of so many bytes: two pointers reach three rows each.
type rowsAt struct{ first, fourth, size reg.Register }

// rows loads a pointer to rows of cols numbers, of 2 or 4 bytes each.
func (d *dots) rows(param string, cols reg.Register, bytes int) rowsAt {
	size := d.GP64()
	d.MOVQ(cols, size)
	d.SHLQ(Imm(uint64(bytes/2)), size)
	return d.rowsOf(param, size)
}

// rowsOf loads a pointer to rows of so many bytes.
func (d *dots) rowsOf(param string, size reg.Register) rowsAt {
	r := rowsAt{d.Load(d.Param(param), d.GP64()), d.GP64(), size}
	d.LEAQ(Mem{Base: r.first, Index: r.size, Scale: 2}, r.fourth)
	d.ADDQ(r.size, r.fourth)
	return r
}

// at is where row i continues, offset bytes on.
func (r rowsAt) at(i, offset int) Mem {
	m := Mem{Base: r.first, Disp: offset}
	if i >= 3 {
		m.Base = r.fourth
	}
	if i%3 > 0 {
		m.Index, m.Scale = r.size, uint8(i%3)
	}
	return m
}

func (r rowsAt) advance(c *build.Context, bytes int) {
	c.ADDQ(Imm(uint64(bytes)), r.first)
	c.ADDQ(Imm(uint64(bytes)), r.fourth)
}

// step adds a register's share of 16 columns.
func (d *dots) step(part int) {
	width := 16 / d.parts
	var w [floatRows]reg.VecVirtual
	for r := range w {
		w[r] = d.register()
		d.widen(d.w.at(r, part*width*d.bytes), w[r])
	}
	d.multiply(w, part)
}

// multiply adds the products of four weight rows' share of 16 columns with every row of activations, product and sum rounded once.
func (d *dots) multiply(w [floatRows]reg.VecVirtual, part int) {
	for i := range d.m {
		x := d.register()
		d.VMOVUPS(d.x.at(i, part*16/d.parts*4), x)
		for r := range w {
			d.VFMADD231PS(x, w[r], d.sums[i][r][part])
		}
	}
}

// ask asks for as much as 16 columns take, in the order of memory, which serves it sooner so than from four places in turn. With more rows there is
// so much to compute that it is asked for early and had better lie in the second cache.
func (d *dots) ask(step reg.Register) {
	for line := 0; line < floatRows*16*d.bytes; line += 64 {
		if d.m == 1 {
			d.PREFETCHT0(at(d.ahead, line))
		} else {
			d.PREFETCHT1(at(d.ahead, line))
		}
	}
	d.ADDQ(step, d.ahead)
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
