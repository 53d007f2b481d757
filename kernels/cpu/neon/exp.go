package main

import "math"

// exponential has the constants of kernels/cpu/exp.go in registers, each four times.
type exponential struct {
	*function
	log2e, bias, ln2High, ln2Low, largest, smallest, infinity, exponentBias v
	// of the polynomial, the highest power first
	terms []v
}

func (f *function) exponential(by r) *exponential {
	const ln2High = 0x1.62e4p-1
	float := func(x float64) v { return f.constant(math.Float32bits(float32(x)), by) }
	e := &exponential{function: f,
		log2e: float(1 / math.Ln2), bias: float(0x1.8p23), ln2High: float(ln2High),
		ln2Low:  float(math.Ln2 - ln2High),
		largest: float(88.72283), smallest: float(-87.33654), infinity: float(math.Inf(1)),
		exponentBias: f.constant(127, by),
	}
	for _, factorial := range []float64{5040, 720, 120, 24, 6, 2, 1} {
		e.terms = append(e.terms, float(1/factorial))
	}
	return e
}

// exp replaces x by eˣ. The last factor, 2ⁿ, is applied in two steps: n can be 128, and 2¹²⁸ is not
// a float32. The first multiplication is exact, so it does not matter how n is divided.
func (e *exponential) exp(x v) {
	e.scratch(func() {
		n, r, p := e.v(), e.v(), e.v()
		e.do(fmul(n, x, e.log2e), fadd(n, n, e.bias), fsub(n, n, e.bias))
		e.do(fmul(p, n, e.ln2High), fsub(r, x, p), fmul(p, n, e.ln2Low), fsub(r, r, p))
		e.do(fmul(p, r, e.terms[0]), fadd(p, p, e.terms[1]))
		for _, term := range append(e.terms[2:], e.terms[len(e.terms)-1]) {
			e.do(fmul(p, p, r), fadd(p, p, term))
		}
		half := r
		e.do(fcvtns(n, n), sshr(half, n, 1), sub(n, n, half))
		for _, power := range []v{half, n} {
			e.do(add(power, power, e.exponentBias), shl(power, power, 23), fmul(p, p, power))
		}
		over, under := half, n
		e.do(fcmgt(over, x, e.largest), fcmgt(under, e.smallest, x))
		e.do(bic(x, p, under), bit(x, e.infinity, over))
	})
}

func swiGLU() *function {
	f := open("swiGLU", "gate *float32, up *float32, n int",
		"is for i := range n { gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i] }, n a multiple of 8.")
	gate, up, n, bits := f.load("gate"), f.load("up"), f.load("n"), f.r()
	e := f.exponential(bits)
	one := e.terms[len(e.terms)-1]
	f.elements(n, 8, []r{gate, up}, func() {
		for offset := 0; offset < 32; offset += 16 {
			g, u, x := f.v(), f.v(), f.v()
			f.do(ldr(g, gate, offset), ldr(u, up, offset), fneg(x, g))
			e.exp(x)
			f.do(fadd(x, x, one), fdiv(g, g, x), fmul(g, g, u), str(g, gate, offset))
		}
	})
	f.asm("RET")
	return f
}

func expSum() *function {
	f := open("expSum", "lanes *[16]float32, x *float32, n int, shift float32",
		"is for i := range n { x[i] = exp(x[i] - shift); lanes[i%16] += x[i] }, n a multiple of 16, from lanes of zero.")
	to, x, n, peak, bits, sums := f.load("lanes"), f.load("x"), f.load("n"), f.broadcast("shift"), f.r(), f.vs(lanes/4)
	e := f.exponential(bits)
	for _, s := range sums {
		f.do(movi(s, 0))
	}
	f.elements(n, lanes, []r{x}, func() {
		for i, s := range sums {
			f.scratch(func() {
				y := f.v()
				f.do(ldr(y, x, 16*i), fsub(y, y, peak))
				e.exp(y)
				f.do(str(y, x, 16*i), fadd(s, s, y))
			})
		}
	})
	f.storeAll(sums, to)
	return f
}
