package main

import "fmt"

// v is a 128-bit vector register, r a 64-bit general register. Instructions that use only the lower
// part of a register name the same register.
type (
	v uint32
	r uint32
)

// String returns Go's name of a general register.
func (x r) String() string { return fmt.Sprintf("R%d", uint32(x)) }

// instruction is a word and its text for GNU as. Names, fields and codes are those of the Arm
// Architecture Reference Manual, chapter C7.
type instruction struct {
	word uint32
	text string
}

// three makes instructions of the form NAME Vd.T, Vn.T, Vm.T.
func three(name, t string, code uint32) func(d, n, m v) instruction {
	return func(d, n, m v) instruction {
		return instruction{code | uint32(m)<<16 | uint32(n)<<5 | uint32(d),
			fmt.Sprintf("%s v%d.%s, v%d.%s, v%d.%s", name, d, t, n, t, m, t)}
	}
}

var (
	fadd  = three("fadd", "4s", 0x4e20d400)
	fsub  = three("fsub", "4s", 0x4ea0d400)
	fmul  = three("fmul", "4s", 0x6e20dc00)
	fdiv  = three("fdiv", "4s", 0x6e20fc00)
	fmla  = three("fmla", "4s", 0x4e20cc00)
	fmax  = three("fmax", "4s", 0x4e20f400)
	fcmgt = three("fcmgt", "4s", 0x6ea0e400)

	fadd2 = three("fadd", "2d", 0x4e60d400)
	fsub2 = three("fsub", "2d", 0x4ee0d400)
	fmul2 = three("fmul", "2d", 0x6e60dc00)
	// fcmge2 sets all bits of d where n ≥ m, and clears them elsewhere.
	fcmge2 = three("fcmge", "2d", 0x6e60e400)
	add2   = three("add", "2d", 0x4ee08400)

	add = three("add", "4s", 0x4ea08400)
	sub = three("sub", "4s", 0x6ea08400)
	mul = three("mul", "4s", 0x4ea09c00)
	// mulByte multiplies bytes, and keeps the low eight bits.
	mulByte = three("mul", "16b", 0x4e209c00)
	// zip1Byte takes the lower eight bytes of n and m in turn.
	zip1Byte = three("zip1", "16b", 0x4e003800)
	mla      = three("mla", "4s", 0x4ea09400)
	umax     = three("umax", "4s", 0x6ea06400)

	and = three("and", "16b", 0x4e201c00)
	bic = three("bic", "16b", 0x4e601c00) // n without the bits of m
	orr = three("orr", "16b", 0x4ea01c00)
	eor = three("eor", "16b", 0x6e201c00)
	bit = three("bit", "16b", 0x6ea01c00) // copies those bits of n to d at which m has a 1
)

// move copies a register.
func move(d, n v) instruction {
	return instruction{orr(d, n, n).word, fmt.Sprintf("mov v%d.16b, v%d.16b", d, n)}
}

// two makes instructions of the form NAME Vd.T, Vn.S.
func two(name, t, s string, code uint32) func(d, n v) instruction {
	return func(d, n v) instruction {
		return instruction{code | uint32(n)<<5 | uint32(d),
			fmt.Sprintf("%s v%d.%s, v%d.%s", name, d, t, n, s)}
	}
}

var (
	fneg   = two("fneg", "4s", "4s", 0x6ea0f800)
	fabs   = two("fabs", "4s", "4s", 0x4ea0f800)
	neg    = two("neg", "4s", "4s", 0x6ea0b800)
	scvtf  = two("scvtf", "4s", "4s", 0x4e21d800)
	ucvtf  = two("ucvtf", "4s", "4s", 0x6e21d800)
	fcvtns = two("fcvtns", "4s", "4s", 0x4e21a800) // to the nearest integer, ties to even

	fcvtlHalf   = two("fcvtl", "4s", "4h", 0x0e217800) // widens the lower half of the numbers
	fcvtl2Half  = two("fcvtl2", "4s", "8h", 0x4e217800)
	fcvtnHalf   = two("fcvtn", "4h", "4s", 0x0e216800) // narrows to the lower half, and clears the upper
	fcvtn2Half  = two("fcvtn2", "8h", "4s", 0x4e216800)
	fcvtlDouble = two("fcvtl", "2d", "2s", 0x0e617800)
	// fcvtl2Double widens the upper half.
	fcvtl2Double = two("fcvtl2", "2d", "4s", 0x4e617800)

	xtnShort = two("xtn", "4h", "4s", 0x0e612800)
	// xtn2Short narrows to the upper half.
	xtn2Short = two("xtn2", "8h", "4s", 0x4e612800)
	xtnByte   = two("xtn", "8b", "8h", 0x0e212800)
	xtn2Byte  = two("xtn2", "16b", "8h", 0x4e212800)
)

// across makes instructions of the form NAME Sd, Vn.T, which compute one number from the elements T
// of register n. They write it to the lowest element of register d and set the rest of d to zero.
// scalar is the letter for the size of the result: s for 32 bits, h for 16.
func across(name, scalar, t string, code uint32) func(d, n v) instruction {
	return func(d, n v) instruction {
		return instruction{code | uint32(n)<<5 | uint32(d),
			fmt.Sprintf("%s %s%d, v%d.%s", name, scalar, d, n, t)}
	}
}

var (
	umaxv  = across("umaxv", "s", "4s", 0x6eb0a800)
	saddlv = across("saddlv", "h", "16b", 0x4e303800)
	faddp  = across("faddp", "s", "2s", 0x7e30d800) // the first number plus the second
)

// shift makes instructions of the form NAME Vd.T, Vn.S, #bits, which shift elements to the left or to the
// right. The argument element is their size in bits.
func shift(name, t, s string, element int, left bool, code uint32) func(d, n v, bits int) instruction {
	return func(d, n v, bits int) instruction {
		field := 2*element - bits
		if left {
			field = element + bits
		}
		if bits < 0 || bits >= element {
			panic(fmt.Sprint(name, " by ", bits))
		}
		return instruction{code | uint32(field)<<16 | uint32(n)<<5 | uint32(d),
			fmt.Sprintf("%s v%d.%s, v%d.%s, #%d", name, d, t, n, s, bits)}
	}
}

var (
	shl     = shift("shl", "4s", "4s", 32, true, 0x4f005400)
	sshr    = shift("sshr", "4s", "4s", 32, false, 0x4f000400)
	shlByte = shift("shl", "16b", "16b", 8, true, 0x4f005400)
	// ushrByte shifts each byte separately.
	ushrByte = shift("ushr", "16b", "16b", 8, false, 0x6f000400)
	shl2     = shift("shl", "2d", "2d", 64, true, 0x4f005400)

	sshllByte   = shift("sshll", "8h", "8b", 8, true, 0x0f00a400) // widens the lower half, with its sign
	sshll2Byte  = shift("sshll2", "8h", "16b", 8, true, 0x4f00a400)
	sshllShort  = shift("sshll", "4s", "4h", 16, true, 0x0f00a400)
	sshll2Short = shift("sshll2", "4s", "8h", 16, true, 0x4f00a400)
	ushllByte   = shift("ushll", "8h", "8b", 8, true, 0x2f00a400)
	ushllShort  = shift("ushll", "4s", "4h", 16, true, 0x2f00a400)
)

// shllShort moves four 16-bit numbers to the upper halves of 32 bits, as bfloat16 needs.
func shllShort(d, n v) instruction {
	return instruction{0x2e613800 | uint32(n)<<5 | uint32(d), fmt.Sprintf("shll v%d.4s, v%d.4h, #16", d, n)}
}

// shll2Short is shllShort for the upper four numbers.
func shll2Short(d, n v) instruction {
	return instruction{0x6e613800 | uint32(n)<<5 | uint32(d), fmt.Sprintf("shll2 v%d.4s, v%d.8h, #16", d, n)}
}

// element encodes the index of an element. Its two bits lie at different places of the word.
func element(i int) uint32 {
	if i < 0 || i > 3 {
		panic(fmt.Sprint("element ", i))
	}
	return uint32(i&1)<<21 | uint32(i>>1)<<11
}

// sdot adds to each of four lanes the products of the lane's four bytes of n with the i-th four
// bytes of m. It needs FEAT_DotProd.
func sdot(d, n, m v, i int) instruction {
	return instruction{0x4f80e000 | element(i) | uint32(m)<<16 | uint32(n)<<5 | uint32(d),
		fmt.Sprintf("sdot v%d.4s, v%d.16b, v%d.4b[%d]", d, n, m, i)}
}

// fmulElement multiplies all numbers of n by the i-th number of m.
func fmulElement(d, n, m v, i int) instruction {
	return instruction{0x4f809000 | element(i) | uint32(m)<<16 | uint32(n)<<5 | uint32(d),
		fmt.Sprintf("fmul v%d.4s, v%d.4s, v%d.s[%d]", d, n, m, i)}
}

// dup copies the i-th number of n to all lanes.
func dup(d, n v, i int) instruction {
	return instruction{0x4e040400 | uint32(i)<<19 | uint32(n)<<5 | uint32(d),
		fmt.Sprintf("dup v%d.4s, v%d.s[%d]", d, n, i)}
}

// dupGeneral copies the lower 32 bits of a general register to all lanes.
func dupGeneral(d v, n r) instruction {
	return instruction{0x4e040c00 | uint32(n)<<5 | uint32(d), fmt.Sprintf("dup v%d.4s, w%d", d, uint32(n))}
}

// dupGeneral2 copies 64 bits to both lanes.
func dupGeneral2(d v, n r) instruction {
	return instruction{0x4e080c00 | uint32(n)<<5 | uint32(d), fmt.Sprintf("dup v%d.2d, x%d", d, uint32(n))}
}

// insertGeneral2 copies 64 bits to the upper half of a vector.
func insertGeneral2(d v, n r) instruction {
	return instruction{0x4e181c00 | uint32(n)<<5 | uint32(d), fmt.Sprintf("mov v%d.d[1], x%d", d, uint32(n))}
}

// tbl uses each byte of m, which is below 16, as an index into the bytes of n.
func tbl(d, n, m v) instruction {
	return instruction{0x4e000000 | uint32(m)<<16 | uint32(n)<<5 | uint32(d),
		fmt.Sprintf("tbl v%d.16b, {v%d.16b}, v%d.16b", d, n, m)}
}

// first copies the first 32 bits of a vector to a general register.
func first(d r, n v) instruction {
	return instruction{0x0e043c00 | uint32(n)<<5 | uint32(d), fmt.Sprintf("mov w%d, v%d.s[0]", uint32(d), n)}
}

// movi fills a register with copies of one byte.
func movi(d v, value uint8) instruction {
	code := uint32(value>>5)<<16 | uint32(value&31)<<5
	return instruction{0x4f00e400 | code | uint32(d), fmt.Sprintf("movi v%d.16b, #%#x", d, value)}
}

// ext takes 16 bytes from n followed by m, starting at byte i.
func ext(d, n, m v, i int) instruction {
	return instruction{0x6e000000 | uint32(m)<<16 | uint32(i)<<11 | uint32(n)<<5 | uint32(d),
		fmt.Sprintf("ext v%d.16b, v%d.16b, v%d.16b, #%d", d, n, m, i)}
}

// memory makes loads and stores of the form NAME Rt, [Xn, #offset]; offset is a multiple of the
// size that is moved.
func memory(name, register string, size int, code uint32) func(t v, n r, offset int) instruction {
	return func(t v, n r, offset int) instruction {
		if offset < 0 || offset%size != 0 || offset/size > 4095 {
			panic(fmt.Sprint(name, " ", register, " at ", offset))
		}
		return instruction{code | uint32(offset/size)<<10 | uint32(n)<<5 | uint32(t),
			fmt.Sprintf("%s %s%d, [x%d, #%d]", name, register, t, uint32(n), offset)}
	}
}

var (
	ldr  = memory("ldr", "q", 16, 0x3dc00000)
	ldr8 = memory("ldr", "d", 8, 0xfd400000)
	ldr4 = memory("ldr", "s", 4, 0xbd400000)
	ldr2 = memory("ldr", "h", 2, 0x7d400000)
	str  = memory("str", "q", 16, 0x3d800000)
	str4 = memory("str", "s", 4, 0xbd000000)
)

// ldur loads 16 bytes at any offset from −256 to 255.
func ldur(t v, n r, offset int) instruction {
	if offset < -256 || offset > 255 {
		panic(fmt.Sprint("ldur at ", offset))
	}
	return instruction{0x3cc00000 | uint32(offset&0x1ff)<<12 | uint32(n)<<5 | uint32(t),
		fmt.Sprintf("ldur q%d, [x%d, #%d]", t, uint32(n), offset)}
}

// ld1r copies a number in memory to all lanes, and moves the address to the next number.
func ld1r(t v, n r) instruction {
	return instruction{0x4ddfc800 | uint32(n)<<5 | uint32(t),
		fmt.Sprintf("ld1r {v%d.4s}, [x%d], #4", t, uint32(n))}
}

// ld2 loads four pairs of numbers, the first of each pair to t and the second to t+1.
func ld2(t v, n r) instruction {
	return instruction{0x4c408800 | uint32(n)<<5 | uint32(t),
		fmt.Sprintf("ld2 {v%d.4s, v%d.4s}, [x%d]", t, (t+1)%32, uint32(n))}
}

// st2 stores t and t+1 as four pairs of numbers.
func st2(t v, n r) instruction {
	return instruction{0x4c008800 | uint32(n)<<5 | uint32(t),
		fmt.Sprintf("st2 {v%d.4s, v%d.4s}, [x%d]", t, (t+1)%32, uint32(n))}
}
