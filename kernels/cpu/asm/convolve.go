package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// convolve generates the function that adds to each column the products of its inputs and weights, token
// by token. Four registers of columns, or one at the end, are kept while the tokens pass.
func (v *elements) convolve() {
	p, n := v.function("convolve", "is convolveGeneric for n columns, n a multiple of 8, and at least one token.",
		"func(dst *float32, inputs **float32, w *float32, tokens, stride, n int)", "dst", "inputs", "w")
	stride, offset := v.Load(v.Param("stride"), v.GP64()), v.GP64()
	v.XORQ(offset, offset)
	for _, registers := range []int{4, 1} {
		name := fmt.Sprintf("columns%d", 8*registers)
		v.blocks(name, n, 8*registers, 32*registers, []reg.Register{p[0], p[2], offset}, func() {
			sums := make([]reg.VecVirtual, registers)
			for i := range sums {
				sums[i] = v.YMM()
				v.VMOVUPS(Mem{Base: p[0], Disp: 32 * i}, sums[i])
			}
			next, weight, count := v.GP64(), v.GP64(), v.Load(v.Param("tokens"), v.GP64())
			v.MOVQ(p[1], next)
			v.MOVQ(p[2], weight)
			v.Label(name + "Tokens")
			input := v.GP64()
			v.MOVQ(Mem{Base: next}, input)
			for i, sum := range sums {
				x := v.YMM()
				v.VMOVUPS(Mem{Base: input, Index: offset, Scale: 1, Disp: 32 * i}, x)
				v.VMULPS(Mem{Base: weight, Disp: 32 * i}, x, x)
				v.VADDPS(x, sum, sum)
			}
			v.ADDQ(Imm(8), next)
			v.ADDQ(stride, weight)
			v.DECQ(count)
			v.JNZ(LabelRef(name + "Tokens"))
			for i, sum := range sums {
				v.VMOVUPS(sum, Mem{Base: p[0], Disp: 32 * i})
			}
		})
	}
	v.end()
}
