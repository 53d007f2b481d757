package main

import "math"

// quantize generates the function that quantises by the rule of ref.QuantizeRow and writes records, with
// scale and sums. A tile with a number that is not finite gets the scale NaN; a tile of numbers near zero
// gets the scale 0. The quants of both are 0.
func quantize() []*function {
	const smallestMagnitude, infinity, nan = 0x1p-118, 0x7f800000, 0x7fc00000
	f := open("quantize", "records *byte, x *float32, tiles int, stride int",
		"quantises tiles of 32 activations each to records that are stride bytes apart.")
	records, x, tiles, stride, bits := f.load("records"), f.load("x"), f.load("tiles"), f.load("stride"), f.r()
	steps := f.constant(math.Float32bits(127), bits)
	numbers, scale, low, high := f.vs(groups), f.v(), f.v(), f.v()
	f.times("tile", tiles, func() {
		for g, n := range numbers {
			f.do(ldr(n, x, 16*g))
		}
		f.scratch(func() { f.largestMagnitude(scale, numbers) })
		f.do(first(bits, scale))
		f.compare(bits, infinity)
		f.asm("BHS fault")
		f.compare(bits, math.Float32bits(smallestMagnitude))
		f.asm("BLO nothing")
		f.do(dupGeneral(scale, bits))
		f.scratch(func() {
			inverse := f.v()
			f.do(fdiv(inverse, steps, scale), fdiv(scale, scale, steps))
			for _, n := range numbers {
				f.do(fmul(n, n, inverse), fcvtns(n, n))
			}
		})
		for i, to := range []v{low, high} {
			n := numbers[groups/2*i:]
			f.do(xtnShort(n[0], n[0]), xtn2Short(n[0], n[1]), xtnShort(n[2], n[2]), xtn2Short(n[2], n[3]))
			f.do(xtnByte(to, n[0]), xtn2Byte(to, n[2]))
		}
		f.label("store")
		f.scratch(func() { f.storeRecord(records, scale, low, high) })
		f.forward(x, 4*panelRows)
		f.asm("ADD %v, %v, %v", stride, records, records)
	})
	f.asm("RET")
	f.label("fault")
	f.asm("MOVD $0x%08x, %v", nan, bits)
	f.do(dupGeneral(scale, bits), movi(low, 0), movi(high, 0))
	f.asm("B store")
	f.label("nothing")
	f.do(movi(scale, 0), movi(low, 0), movi(high, 0))
	f.asm("B store")
	return []*function{f}
}

// compare compares the lower 32 bits of a register, as an unsigned number, with a constant.
func (f *function) compare(x r, bits uint32) { f.asm("CMPW $0x%08x, %v", bits, x) }

// largestMagnitude writes the largest magnitude to the first lane of to. It compares bits as integers:
// they have the order of the magnitudes, with NaN above all.
func (f *function) largestMagnitude(to v, numbers []v) {
	t := f.v()
	f.do(fabs(to, numbers[0]))
	for _, n := range numbers[1:] {
		f.do(fabs(t, n), umax(to, to, t))
	}
	f.do(umaxv(to, to))
}

// storeRecord writes the quants, given as low and high, and the other numbers of the record.
func (f *function) storeRecord(record r, scale, low, high v) {
	lowSum, sum := f.v(), f.v()
	f.do(str(low, record, 0), str(high, record, 16))
	f.do(saddlv(lowSum, low), saddlv(sum, high), sshllShort(lowSum, lowSum, 0), sshllShort(sum, sum, 0),
		add(sum, sum, lowSum))
	f.do(str4(scale, record, factorsAt+4*scaleOf))
	f.do(neg(lowSum, lowSum), str4(lowSum, record, factorsAt+4*minusLowOf))
	f.do(neg(lowSum, sum), str4(lowSum, record, factorsAt+4*minusSumOf))
	f.do(scvtf(sum, sum), fmul(sum, sum, scale), str4(sum, record, factorsAt+4*scaledSumOf))
}
