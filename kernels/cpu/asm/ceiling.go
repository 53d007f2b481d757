package main

import (
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chains is the number of independent sums: enough to hide the latency of an instruction.
const chains = 12

// ceiling writes loops with nothing but the arithmetic of a product, on registers. Their speed is an
// upper bound for every product.
func ceiling(c *build.Context) {
	for _, level := range []struct {
		name string
		vec  func() reg.VecVirtual
	}{{"AVX2", c.YMM}, {"AVX512", c.ZMM}} {
		loop := func(name, doc string, body func(x, sum, t reg.VecVirtual)) {
			c.Function(name + level.name)
			c.Attributes(build.NOSPLIT)
			c.SignatureExpr("func(n int)")
			c.Doc(name + level.name + doc)
			n := c.Load(c.Param("n"), c.GP64())
			x, sums := level.vec(), make([]reg.VecVirtual, chains)
			c.VXORPS(x.AsY(), x.AsY(), x.AsY())
			for i := range sums {
				sums[i] = level.vec()
				c.VXORPS(sums[i].AsY(), sums[i].AsY(), sums[i].AsY())
			}
			c.Label("next")
			for _, sum := range sums {
				body(x, sum, level.vec())
			}
			c.SUBQ(Imm(1), n)
			c.JG(LabelRef("next"))
			c.VZEROUPPER()
			c.RET()
		}
		loop("peakFloat", " does 12·n fused multiplications and additions of registers of float32.", func(x, sum, t reg.VecVirtual) {
			c.VFMADD231PS(x, x, sum)
		})
		loop("peakInteger", " does 12·n multiplications of registers of bytes, summed in 32 bits.", func(x, sum, t reg.VecVirtual) {
			if level.name == "AVX512" {
				c.VPDPBUSD(x, x, sum)
				return
			}
			c.VPMADDUBSW(x, x, t)
			c.VPMADDWD(x, t, t)
			c.VPADDD(t, sum, sum)
		})
	}
}
