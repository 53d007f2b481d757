package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// transposed returns the indices that transpose a register of sixteen numbers as a 4 × 4 matrix.
func transposed(c *build.Context) Mem {
	order := c.StaticGlobal("transposed")
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 {
		c.AppendDatum(U32(i%4*4 + i/4))
	}
	return order
}

// halved adds the upper eight lanes of each sum to the lower eight, as ref.Dot does. One addition
// serves two sums, which then share a register.
func (d *dots) halved() (halves [][]reg.VecVirtual) {
	for _, sums := range d.sums {
		var row []reg.VecVirtual
		for r := 0; r < len(sums); r += 2 {
			a, b, t, half := sums[r], sums[r+1], d.ZMM(), d.ZMM()
			d.VSHUFF64X2(Imm(0xee), b, a, t)
			d.VSHUFF64X2(Imm(0x44), b, a, a)
			d.VADDPS(t, a, half)
			row = append(row, half)
		}
		halves = append(halves, row)
	}
	return halves
}

// foldHalves adds the remaining lanes of halved sums by halves and stores the results. After the
// first step, the four sums of an activation row share a register; at the end, the sums of four
// activation rows do.
func (d *dots) foldHalves(halves [][]reg.VecVirtual, dst, stride reg.Register) {
	var quarters []reg.VecVirtual // for row i: lanes 0 … 3 of weight row r are in quarter r
	for _, half := range halves {
		a, b, t := half[0], half[1], d.ZMM()
		d.VSHUFF32X4(Imm(0xdd), b, a, t)
		d.VSHUFF32X4(Imm(0x88), b, a, a)
		d.VADDPS(t, a, a)
		quarters = append(quarters, a)
	}
	order := d.ZMM()
	d.VMOVDQU32(d.transposed, order)
	for first := 0; first < d.m; first += 4 {
		row := func(i int) reg.VecVirtual { return quarters[min(first+i, d.m-1)] }
		pair := func(a, b reg.VecVirtual) reg.VecVirtual {
			low, high := d.ZMM(), d.ZMM()
			d.VUNPCKLPD(b, a, low)
			d.VUNPCKHPD(b, a, high)
			d.VADDPS(high, low, low)
			return low
		}
		even, odd := d.ZMM(), d.ZMM()
		n := min(4, d.m-first)
		a := pair(row(0), row(1))
		b := a
		if n > 2 {
			b = pair(row(2), row(3))
		}
		d.VSHUFPS(Imm(0x88), b, a, even)
		d.VSHUFPS(Imm(0xdd), b, a, odd)
		d.VADDPS(odd, even, even)
		d.VPERMPS(even, order, even)
		for i := range n {
			if i == 0 {
				d.VMOVUPS(even.AsX(), at(dst, 0))
			} else {
				d.VEXTRACTF32X4(Imm(uint64(i)), even, at(dst, 0))
			}
			if first+i < d.m-1 {
				d.ADDQ(stride, dst)
			}
		}
	}
}

// fold adds the lanes of four weight rows' sums by halves, as ref.Dot does, and returns the four
// results in a register.
func (d *dots) fold(sums []reg.VecVirtual) reg.VecVirtual {
	var quarter [floatRows]reg.Register
	for r := range quarter {
		sum := sums[r*d.parts]
		eight, four := sum.AsY(), sum.AsX()
		upper := d.YMM()
		if d.parts == 1 {
			d.VEXTRACTF64X4(Imm(1), sum, upper)
			d.VADDPS(upper, eight, eight)
			d.VEXTRACTF32X4(Imm(1), eight, upper.AsX())
		} else {
			d.VADDPS(sums[r*d.parts+1], sum, sum)
			d.VEXTRACTF128(Imm(1), eight, upper.AsX())
		}
		d.VADDPS(upper.AsX(), four, four)
		quarter[r] = four
	}
	pair := func(a, b reg.Register) reg.VecVirtual {
		low, high := d.XMM(), d.XMM()
		d.VMOVLHPS(b, a, low)
		d.VMOVHLPS(a, b, high) // the upper halves of a and b
		d.VADDPS(high, low, low)
		return low
	}
	first, second := pair(quarter[0], quarter[1]), pair(quarter[2], quarter[3])
	even, odd := d.XMM(), d.XMM()
	d.VSHUFPS(Imm(0x88), second, first, even)
	d.VSHUFPS(Imm(0xdd), second, first, odd)
	d.VADDPS(odd, even, even)
	return even
}
