package main

import (
	"fmt"
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func matmulQuantized(c *build.Context) {
	for _, f := range formats {
		productAVX512(c, f, false, false)
		productAVX512(c, f, true, false)
		productAVX512(c, f, true, true)
		for _, near := range []bool{false, true} {
			productInRegistersAVX512(c, f, 1, near)
			if !f.split() && !f.nibbles { // otherwise, the sums and factors of two rows need too many registers
				productInRegistersAVX512(c, f, 2, near)
			}
		}
	}
	for _, f := range formats {
		productAVX2(c, f)
	}
	moveSums(c)
	askForRows(c)
}

// askForRows generates a prefetch of the rows of dst, to run before a product of many rows. The rows
// are thousands of bytes apart, and the processor does not prefetch them by itself: without this,
// waiting for their cache lines would take a large part of the product's time.
func askForRows(c *build.Context) {
	open(c, "askForRowsAVX2", "func(dst *float32, m int, stride int)", "prefetches 32 numbers each of m rows that are stride bytes apart.")
	dst, m, stride := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("m"), c.GP64()), c.Load(c.Param("stride"), c.GP64())
	c.Label("row")
	for line := 0; line < 4*panelRows; line += 64 {
		c.PREFETCHT0(at(dst, line))
	}
	c.ADDQ(stride, dst)
	c.DECQ(m)
	c.JNZ(LabelRef("row"))
	c.RET()
}

// moveSums generates the step after a product: it copies the sums to their rows, and clears them
// for the next panel.
func moveSums(c *build.Context) {
	open(c, "moveSumsAVX2", "func(dst *float32, sums *float32, m int, stride int)",
		"stores sums (m, 32) to rows of dst that are stride bytes apart, and clears them.")
	dst, sums := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("sums"), c.GP64())
	m, stride := c.Load(c.Param("m"), c.GP64()), c.Load(c.Param("stride"), c.GP64())
	zero := c.YMM()
	c.VXORPS(zero, zero, zero)
	c.Label("row")
	for part := range panelRows / 8 {
		sum := c.YMM()
		c.VMOVUPS(at(sums, 32*part), sum)
		c.VMOVUPS(zero, at(sums, 32*part))
		c.VMOVUPS(sum, at(dst, 32*part))
	}
	c.ADDQ(U32(4*panelRows), sums)
	c.ADDQ(stride, dst)
	c.DECQ(m)
	c.JNZ(LabelRef("row"))
	c.VZEROUPPER()
	c.RET()
}

const signature = "func(acc *float32, panel *byte, x *byte, tiles int, m int, stride int)"

// arguments are the registers of a product's arguments. begin starts a function and loads them.
type arguments struct{ acc, w, x, tiles, m, stride reg.Register }

func begin(c *build.Context, name, doc string) arguments {
	open(c, name, signature, doc)
	return loadArguments(c)
}

func loadArguments(c *build.Context) arguments {
	return arguments{
		acc:    c.Load(c.Param("acc"), c.GP64()),
		w:      c.Load(c.Param("panel"), c.GP64()),
		x:      c.Load(c.Param("x"), c.GP64()),
		tiles:  c.Load(c.Param("tiles"), c.GP64()),
		m:      c.Load(c.Param("m"), c.GP64()),
		stride: c.Load(c.Param("stride"), c.GP64()),
	}
}

func describe(f format) string {
	return fmt.Sprintf("adds the product of a %s panel and m rows of activations, tile after tile, to acc (m, 32).", f.name)
}

// overTiles repeats body for each tile, and head before the first tile of each super-block.
func overTiles(c *build.Context, f format, a arguments, head, body func()) {
	if f.super {
		inner := c.GP64()
		c.Label("super")
		head()
		c.ADDQ(Imm(uint64(f.headBytes())), a.w)
		c.MOVQ(U32(8), inner)
		c.Label("tile")
		body()
		c.ADDQ(U32(f.tileBytes()), a.w)
		c.ADDQ(a.stride, a.x)
		c.DECQ(inner)
		c.JNZ(LabelRef("tile"))
		c.SUBQ(Imm(8), a.tiles)
		c.JNZ(LabelRef("super"))
		return
	}
	c.Label("tile")
	body()
	c.ADDQ(U32(f.tileBytes()), a.w)
	c.ADDQ(a.stride, a.x)
	c.DECQ(a.tiles)
	c.JNZ(LabelRef("tile"))
}

// overRows repeats body for each row of activations. px points to the row's record and pa to its
// sums.
func overRows(c *build.Context, a arguments, label string, body func(px, pa reg.Register)) {
	px, pa, i := c.GP64(), c.GP64(), c.GP64()
	c.MOVQ(a.x, px)
	c.MOVQ(a.acc, pa)
	c.MOVQ(a.m, i)
	c.Label(label)
	body(px, pa)
	c.ADDQ(Imm(recordBytes), px)
	c.ADDQ(Imm(4*panelRows), pa)
	c.DECQ(i)
	c.JNZ(LabelRef(label))
}

func at(r reg.Register, offset int) Mem { return Mem{Base: r, Disp: offset} }

// open starts a function.
func open(c *build.Context, name, signature, doc string) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.SignatureExpr(signature)
	c.Doc(name + " " + doc)
	c.Pragma("noescape")
}

// lanes returns a constant in memory: eight 32-bit lanes with the values in turn. A file has each
// constant once.
func lanes(c *build.Context, name string, values ...uint32) Mem {
	return constant(c, name, func() {
		for lane := range 8 {
			c.AppendDatum(U32(values[lane%len(values)]))
		}
	})
}

// floats is lanes for a float32.
func floats(c *build.Context, name string, value float32) Mem {
	return lanes(c, name, math.Float32bits(value))
}

// bytes16 returns a table in memory: the 16 values, with plus added to each.
func bytes16(c *build.Context, name string, values *[16]int8, plus uint8) Mem {
	return constant(c, name, func() {
		for _, v := range values {
			c.AppendDatum(U8(uint8(v) + plus))
		}
	})
}

// constant returns the constant with this name in memory. fill appends its data if it is new.
func constant(c *build.Context, name string, fill func()) Mem {
	file, err := c.Result()
	if err != nil {
		panic(err)
	}
	for _, s := range file.Sections {
		if g, ok := s.(*ir.Global); ok && g.Symbol.Name == name {
			return NewDataAddr(g.Symbol, 0)
		}
	}
	m := c.StaticGlobal(name)
	c.DataAttributes(attr.RODATA | attr.NOPTR)
	fill()
	return m
}
