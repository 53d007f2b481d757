package main

import (
	"fmt"
	"math"
)

const doubleLanes = 8 // partial sums of a row of float64; element i is added to sum i%8

func softmax() []*function { return []*function{expRow(), multiplyRow()} }

// double reserves a vector register and fills it with two copies of a float64. It overwrites register by.
func (f *function) double(x float64, by r) v {
	to := f.v()
	f.asm("MOVD $0x%016x, %v", math.Float64bits(x), by)
	f.do(dupGeneral2(to, by))
	return to
}

// doubleExponential has the constants of exp64 in kernels/cpu/softmax.go.
type doubleExponential struct {
	*function
	log2e, bias, ln2High, ln2Low, smallest v
	terms                                  []v // of the polynomial, the highest power first
}

func (f *function) doubleExponential(by r) *doubleExponential {
	e := &doubleExponential{function: f,
		log2e: f.double(math.Log2E, by), bias: f.double(0x1.8p52, by),
		ln2High: f.double(6.93147180369123816490e-01, by),
		ln2Low:  f.double(1.90821492927058770002e-10, by), smallest: f.double(-707, by),
	}
	for _, factorial := range []float64{39916800, 3628800, 362880, 40320, 5040, 720, 120, 24, 6, 2, 1} {
		e.terms = append(e.terms, f.double(1/factorial, by))
	}
	return e
}

// exp replaces x by eˣ, or by 0 if x is below smallest.
func (e *doubleExponential) exp(x v) {
	e.scratch(func() {
		shifted, n, r, p := e.v(), e.v(), e.v(), e.v()
		e.do(fmul2(shifted, x, e.log2e), fadd2(shifted, shifted, e.bias), fsub2(n, shifted, e.bias))
		e.do(fmul2(p, n, e.ln2High), fsub2(r, x, p), fmul2(p, n, e.ln2Low), fsub2(r, r, p))
		e.do(fmul2(p, r, e.terms[0]), fadd2(p, p, e.terms[1]))
		for _, term := range append(e.terms[2:], e.terms[len(e.terms)-1]) {
			e.do(fmul2(p, p, r), fadd2(p, p, term))
		}
		// The low bits of shifted are the integer n. Shifted into the exponent of p, they multiply p by 2ⁿ.
		// Lanes in which x is below smallest become 0.
		e.do(shl2(shifted, shifted, 52), add2(p, p, shifted), fcmge2(x, x, e.smallest), and(x, x, p))
	})
}

func expRow() *function {
	f := open("expRow", "sums *[8]float64, dst *float64, x *float32, n int, peak float64, factor float64",
		"is for i := range n { dst[i] = exp64((x[i] - peak) * factor); sums[i%8] += dst[i] }, from sums of zero. n is a multiple of 8.")
	to, dst, x, n, bits := f.load("sums"), f.load("dst"), f.load("x"), f.load("n"), f.r()
	peak, factor, sums := f.broadcast2("peak"), f.broadcast2("factor"), f.vs(doubleLanes/2)
	e := f.doubleExponential(bits)
	for _, s := range sums {
		f.do(movi(s, 0))
	}
	f.elements(n, doubleLanes, []r{x}, func() {
		y, z := f.v(), f.v()
		for i, s := range sums {
			f.do(ldr(y, x, 16*(i/2)))
			widen := fcvtlDouble
			if i%2 == 1 {
				widen = fcvtl2Double
			}
			f.do(widen(z, y), fsub2(z, z, peak), fmul2(z, z, factor))
			e.exp(z)
			f.do(str(z, dst, 16*i), fadd2(s, s, z))
		}
		f.forward(dst, 8*doubleLanes)
	})
	f.storeAll(sums, to)
	return f
}

// broadcast2 reserves a vector register and fills it with two copies of a parameter.
func (f *function) broadcast2(name string) v {
	x := f.v()
	f.do(dupGeneral2(x, f.load(name)))
	return x
}

func multiplyRow() *function {
	f := open("multiplyRow", "x *float64, n int, factor float64",
		fmt.Sprintf("is for i := range n { x[i] *= factor }. n is a multiple of %d.", doubleLanes))
	x, n, factor := f.load("x"), f.load("n"), f.broadcast2("factor")
	f.elements(n, doubleLanes, []r{x, x}, func() {
		for i := range doubleLanes / 2 {
			a := f.v()
			f.do(ldr(a, x, 16*i), fmul2(a, a, factor), str(a, x, 16*i))
		}
	})
	f.asm("RET")
	return f
}
