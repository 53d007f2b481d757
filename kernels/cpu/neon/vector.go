package main

import "math"

// vector writes the operations on each number of a row, and sums over a row, eight or sixteen
// numbers at a time.
func vector() []*function {
	return []*function{
		elementwiseAdd(), elementwiseTimes(), elementwiseMix(), elementwiseScale(), squares(), largest(),
		rotate(), rotatePairs(), swiGLU(), expSum(), narrow(), widen(),
	}
}

// elements repeats body n/count times; n must be above 0. After each turn it advances the addresses
// by count float32 numbers.
func (f *function) elements(n r, count int, addresses []r, body func()) {
	f.label("next")
	f.scratch(body)
	for _, x := range addresses {
		f.forward(x, 4*count)
	}
	f.asm("SUBS $%d, %v, %v", count, n, n)
	f.asm("BNE next")
}

// broadcast reserves a vector register and fills it with four copies of a parameter.
func (f *function) broadcast(name string) v {
	x := f.v()
	f.do(dupGeneral(x, f.load(name)))
	return x
}

func elementwiseAdd() *function {
	f := open("add", "x *float32, y *float32, n int",
		"is for i := range n { x[i] += y[i] }, n a multiple of 8.")
	x, y, n := f.load("x"), f.load("y"), f.load("n")
	f.elements(n, 8, []r{x, y}, func() {
		for offset := 0; offset < 32; offset += 16 {
			a, b := f.v(), f.v()
			f.do(ldr(a, x, offset), ldr(b, y, offset), fadd(a, a, b), str(a, x, offset))
		}
	})
	f.asm("RET")
	return f
}

func elementwiseTimes() *function {
	f := open("times", "x *float32, n int, factor float32",
		"is for i := range n { x[i] *= factor }, n a multiple of 8.")
	x, n, factor := f.load("x"), f.load("n"), f.broadcast("factor")
	f.elements(n, 8, []r{x}, func() {
		for offset := 0; offset < 32; offset += 16 {
			a := f.v()
			f.do(ldr(a, x, offset), fmul(a, a, factor), str(a, x, offset))
		}
	})
	f.asm("RET")
	return f
}

func elementwiseMix() *function {
	f := open("mix", "x *float32, y *float32, n int, a float32, b float32",
		"is for i := range n { x[i] = x[i] * a + y[i] * b }, n a multiple of 8.")
	x, y, n, a, b := f.load("x"), f.load("y"), f.load("n"), f.broadcast("a"), f.broadcast("b")
	f.elements(n, 8, []r{x, y}, func() {
		for offset := 0; offset < 32; offset += 16 {
			p, q := f.v(), f.v()
			f.do(ldr(p, x, offset), ldr(q, y, offset), fmul(p, p, a), fmul(q, q, b), fadd(p, p, q),
				str(p, x, offset))
		}
	})
	f.asm("RET")
	return f
}

func elementwiseScale() *function {
	f := open("scale", "dst *float32, x *float32, w *float32, n int, factor float32",
		"is for i := range n { dst[i] = x[i] * factor * w[i] }, n a multiple of 8.")
	dst, x, w, n, factor := f.load("dst"), f.load("x"), f.load("w"), f.load("n"), f.broadcast("factor")
	f.elements(n, 8, []r{dst, x, w}, func() {
		for offset := 0; offset < 32; offset += 16 {
			a, b := f.v(), f.v()
			f.do(ldr(a, x, offset), ldr(b, w, offset), fmul(a, a, factor), fmul(a, a, b), str(a, dst, offset))
		}
	})
	f.asm("RET")
	return f
}

func squares() *function {
	f := open("squares", "lanes *[16]float32, x *float32, n int",
		"is for i := range n { lanes[i%16] += x[i] * x[i] }, n a multiple of 16, from lanes of zero.")
	to, x, n, sums := f.load("lanes"), f.load("x"), f.load("n"), f.vs(lanes/4)
	for _, s := range sums {
		f.do(movi(s, 0))
	}
	f.elements(n, lanes, []r{x}, func() {
		for i, s := range sums {
			a := f.v()
			f.do(ldr(a, x, 16*i), fmul(a, a, a), fadd(s, s, a))
		}
	})
	f.storeAll(sums, to)
	return f
}

// storeAll stores the registers of a list and ends the function.
func (f *function) storeAll(list []v, to r) {
	for i, x := range list {
		f.do(str(x, to, 16*i))
	}
	f.asm("RET")
}

// largest needs no check for NaN: the maximum of arm64 returns NaN if an operand is NaN.
func largest() *function {
	f := open("largest", "lanes *[8]float32, x *float32, n int",
		"writes to lanes[k] the largest x[i] with i%8 = k, or NaN if one of these is NaN, n a multiple of 8.")
	to, x, n, bits := f.load("lanes"), f.load("x"), f.load("n"), f.r()
	found := []v{f.constant(math.Float32bits(float32(math.Inf(-1))), bits),
		f.constant(math.Float32bits(float32(math.Inf(-1))), bits)}
	f.elements(n, 8, []r{x}, func() {
		for i, s := range found {
			a := f.v()
			f.do(ldr(a, x, 16*i), fmax(s, s, a))
		}
	})
	f.storeAll(found, to)
	return f
}

func rotate() *function {
	f := open("rotate", "low *float32, high *float32, cos *float32, sin *float32, n int",
		"is for i := range n { low[i], high[i] = low[i]*cos[i]-high[i]*sin[i], low[i]*sin[i]+high[i]*cos[i] }, n a multiple of 8.")
	low, high, cos, sin, n := f.load("low"), f.load("high"), f.load("cos"), f.load("sin"), f.load("n")
	f.elements(n, 8, []r{low, high, cos, sin}, func() {
		for offset := 0; offset < 32; offset += 16 {
			f.scratch(func() {
				a, b, c, s := f.v(), f.v(), f.v(), f.v()
				f.do(ldr(a, low, offset), ldr(b, high, offset), ldr(c, cos, offset), ldr(s, sin, offset))
				f.turn(a, b, c, s)
				f.do(str(a, low, offset), str(b, high, offset))
			})
		}
	})
	f.asm("RET")
	return f
}

// turn rotates the pairs a, b by angles with cosine c and sine s.
func (f *function) turn(a, b, c, s v) {
	t, u := f.v(), f.v()
	f.do(fmul(t, b, s), fmul(u, b, c), fmul(b, a, s), fmul(a, a, c), fsub(a, a, t), fadd(b, b, u))
}

func rotatePairs() *function {
	f := open("rotatePairs", "x *float32, cos *float32, sin *float32, n int",
		"is for i := range n { x[2*i], x[2*i+1] = x[2*i]*cos[i]-x[2*i+1]*sin[i], x[2*i]*sin[i]+x[2*i+1]*cos[i] }, n a multiple of 4.")
	x, cos, sin, n := f.load("x"), f.load("cos"), f.load("sin"), f.load("n")
	f.elements(n, 4, []r{x, x, cos, sin}, func() {
		pair, c, s := f.vs(2), f.v(), f.v()
		f.do(ld2(pair[0], x), ldr(c, cos, 0), ldr(s, sin, 0))
		f.turn(pair[0], pair[1], c, s)
		f.do(st2(pair[0], x))
	})
	f.asm("RET")
	return f
}

func narrow() *function {
	f := open("narrow", "dst *uint16, x *float32, n int",
		"is for i := range n { dst[i] = toHalf(x[i]) }, n a multiple of 8.")
	dst, x, n := f.load("dst"), f.load("x"), f.load("n")
	f.elements(n, 8, []r{x}, func() {
		a, b := f.v(), f.v()
		f.do(ldr(a, x, 0), ldr(b, x, 16), fcvtnHalf(a, a), fcvtn2Half(a, b), str(a, dst, 0))
		f.forward(dst, 2*8)
	})
	f.asm("RET")
	return f
}

func widen() *function {
	f := open("widenHalf", "dst *float32, x *uint16, n int",
		"is for i := range n { dst[i] = half(x[i]) }, n a multiple of 8.")
	dst, x, n := f.load("dst"), f.load("x"), f.load("n")
	f.elements(n, 8, []r{dst}, func() {
		a, b := f.v(), f.v()
		f.do(ldr(a, x, 0), fcvtl2Half(b, a), fcvtlHalf(a, a), str(a, dst, 0), str(b, dst, 16))
		f.forward(x, 2*8)
	})
	f.asm("RET")
	return f
}
