package main

// peakChains is the number of independent sums.
const peakChains = 12

// ceiling writes the loops that measure the fastest arithmetic of a core.
func ceiling() []*function {
	return []*function{
		peak("peakFloat", "does 12·n fused multiplications and additions of registers of float32.",
			func(sum, a, b v) instruction { return fmla(sum, a, b) }),
		peak("peakInteger", "does 12·n multiplications of registers of bytes, summed in 32 bits.",
			func(sum, a, b v) instruction { return sdot(sum, a, b, 0) }),
	}
}

func peak(name, doc string, multiply func(sum, a, b v) instruction) *function {
	f := open(name, "n int", doc)
	n, a, b, sums := f.load("n"), f.v(), f.v(), f.vs(peakChains)
	for _, x := range append([]v{a, b}, sums...) {
		f.do(movi(x, 0))
	}
	f.times("next", n, func() {
		for _, sum := range sums {
			f.do(multiply(sum, a, b))
		}
	})
	f.asm("RET")
	return f
}
