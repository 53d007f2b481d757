package main

import "fmt"

const (
	floatRows = 4 // weight rows per call
	// mostDots is the largest number of activation rows that a kernel multiplies with two weight
	// rows at once. Their sums take 24 of the 32 registers.
	mostDots = 3
	lanes    = 16 // partial sums of a product, in four registers
)

// number is a weight type.
type number struct {
	name  string
	bytes int
	// low and high convert each half of a register to four float32; nil if the numbers are float32.
	low, high func(d, n v) instruction
}

var numbers = []number{
	{"F32", 4, nil, nil},
	{"F16", 2, fcvtlHalf, fcvtl2Half},
	{"BF16", 2, shllShort, shll2Short},
}

func matmulFloat() []*function {
	var list []*function
	for _, n := range numbers {
		for m := 1; m <= mostDots; m++ {
			list = append(list, dot(n, m))
		}
	}
	return list
}

// loadNumbers fills registers with numbers, converted to float32. For types of two bytes, one load
// fills two registers.
func (f *function) loadNumbers(n number, to []v, from r, offset int) {
	for q := range to {
		switch {
		case n.bytes == 4:
			f.do(ldr(to[q], from, offset+16*q))
		case q%2 == 0:
			f.do(ldr(to[q+1], from, offset+8*q), n.low(to[q], to[q+1]), n.high(to[q+1], to[q+1]))
		}
	}
}

// dots is a function that multiplies four weight rows with m rows of activations. With one row it
// takes all four weight rows at once. With several it takes two weight rows and then the other two:
// the sums of four would not fit into the registers.
type dots struct {
	*function
	number
	m, together int
	w, x        []r
	sums        [][][]v // (weight rows together, m, 4)
}

func dot(n number, m int) *function {
	f := open(fmt.Sprintf("dot%sx%d", n.name, m), "dst *float32, w *byte, x *float32, cols int, stride int",
		fmt.Sprintf("multiplies 4 rows of w with %d rows of x, of cols numbers each, a multiple of 16. The 4 results of a row of x lie side by side, stride bytes after "+
			"the results of the row before.", m))
	d := &dots{function: f, number: n, m: m, together: 2}
	if m == 1 {
		d.together = floatRows
	}
	dst, w, x, cols, stride := f.load("dst"), f.load("w"), f.load("x"), f.load("cols"), f.load("stride")
	rowBytes, left, passes := f.r(), f.r(), f.r()
	for range d.together {
		d.w = append(d.w, f.r())
		var sums [][]v
		for range m {
			sums = append(sums, f.vs(lanes/4))
		}
		d.sums = append(d.sums, sums)
	}
	for range m {
		d.x = append(d.x, f.r())
	}
	f.asm("MOVD $%d, %v", floatRows/d.together, passes)
	f.times("pass", passes, func() {
		f.asm("LSL $%d, %v, %v", n.bytes/2, cols, rowBytes)
		rowsFrom(f, d.w, w, rowBytes)
		f.asm("ADD %v, %v, %v", rowBytes, d.w[len(d.w)-1], w) // of the next pass
		f.asm("LSL $2, %v, %v", cols, rowBytes)
		rowsFrom(f, d.x, x, rowBytes)
		for _, sums := range d.sums {
			for _, s := range sums {
				for _, quarter := range s {
					f.do(movi(quarter, 0))
				}
			}
		}
		f.asm("LSR $4, %v, %v", cols, left)
		f.times("columns", left, func() { f.scratch(d.columns) })
		d.fold(dst, stride)
		f.forward(dst, 4*d.together)
	})
	f.asm("RET")
	return f
}

// rowsFrom sets rows to the addresses of rows of a matrix; first is the address of the first one.
func rowsFrom(f *function, rows []r, first, rowBytes r) {
	f.asm("MOVD %v, %v", first, rows[0])
	for i := range rows[1:] {
		f.asm("ADD %v, %v, %v", rowBytes, rows[i], rows[i+1])
	}
}

// columns multiplies sixteen columns, eight at a time. The product is not rounded, only the sum (fused
// multiply-add).
func (d *dots) columns() {
	const step = 2 // registers per row
	xs := make([][]v, d.m)
	for i := range xs {
		xs[i] = d.vs(step)
	}
	w := d.vs(step)
	for q := 0; q < lanes/4; q += step {
		for i, x := range xs {
			d.do(ldr(x[0], d.x[i], 16*q), ldr(x[1], d.x[i], 16*q+16))
		}
		for row, sums := range d.sums {
			d.loadNumbers(d.number, w, d.w[row], 4*d.bytes*q)
			for i, x := range xs {
				d.do(fmla(sums[i][q], w[0], x[0]), fmla(sums[i][q+1], w[1], x[1]))
			}
		}
	}
	for _, x := range d.x {
		d.forward(x, 4*lanes)
	}
	for _, w := range d.w {
		d.forward(w, d.bytes*lanes)
	}
}

// fold adds the lanes of all sums by halves, as ref.Dot does, and stores the results.
func (d *dots) fold(dst, stride r) {
	to := d.x[0] // no longer in use; the next pass sets it again
	d.asm("MOVD %v, %v", dst, to)
	for i := range d.m {
		for row := range d.sums {
			s := d.sums[row][i]
			d.do(fadd(s[0], s[0], s[2]), fadd(s[1], s[1], s[3]), fadd(s[0], s[0], s[1]))
			d.do(ext(s[1], s[0], s[0], 8), fadd(s[0], s[0], s[1]), faddp(s[0], s[0]))
			d.do(str4(s[0], to, 4*row))
		}
		d.asm("ADD %v, %v, %v", stride, to, to)
	}
}
