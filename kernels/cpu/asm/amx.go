package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Neither avo nor Go's assembler supports Intel's AMX, the instructions on tiles. avo takes them as
// instructions unknown to it, and allocates the registers of their addresses. Before printing, spell
// replaces them by their bytes. Source: Intel 64 and IA-32 Architectures Software Developer's
// Manual, volume 2, "VEX" and the pages of the instructions.

// tile is one of the eight tile registers.
type tile uint64

// tileCode distinguishes the instructions: the VEX field for the prefix 66, F3 or F2, and the
// opcode.
type tileCode struct {
	prefix, opcode byte
}

const (
	noPrefix = 0
	prefixF3 = 2
	prefixF2 = 3
)

var tileCodes = map[string]tileCode{
	"LDTILECFG":   {noPrefix, 0x49},
	"TILERELEASE": {noPrefix, 0x49},
	"TILEZERO":    {prefixF2, 0x49},
	"TILELOADD":   {prefixF2, 0x4b},
	"TILESTORED":  {prefixF3, 0x4b},
	"TDPBSSD":     {prefixF2, 0x5e},
}

// loadTileConfig sets the shapes of the tiles from the 64 bytes at m.
func loadTileConfig(c *build.Context, m Mem) { tileInstruction(c, "LDTILECFG", m) }

// releaseTiles frees the tiles, so that the system need not save them any more.
func releaseTiles(c *build.Context) { tileInstruction(c, "TILERELEASE") }

func zeroTile(c *build.Context, t tile) { tileInstruction(c, "TILEZERO", Imm(uint64(t))) }

// loadTile reads rows into a tile; the index register of m holds the distance between rows.
func loadTile(c *build.Context, m Mem, t tile) { tileInstruction(c, "TILELOADD", Imm(uint64(t)), m) }

// storeTile writes the rows of a tile; the index register of m holds the distance between rows.
func storeTile(c *build.Context, t tile, m Mem) { tileInstruction(c, "TILESTORED", Imm(uint64(t)), m) }

// addTileProduct adds a product of matrices of signed bytes to sum (int32). Row k of b holds four
// matrix rows, 4k … 4k+3: sum[i][j] += Σ a[i][4k+n]·b[k][4j+n] over all k, and n from 0 to 3.
func addTileProduct(c *build.Context, a, b, sum tile) {
	tileInstruction(c, "TDPBSSD", Imm(uint64(sum)), Imm(uint64(a)), Imm(uint64(b)))
}

func tileInstruction(c *build.Context, opcode string, operands ...Op) {
	i := &ir.Instruction{Opcode: opcode, Operands: operands}
	for _, o := range operands {
		if m, ok := o.(Mem); ok {
			i.Inputs = []Op{m}
		}
	}
	c.Instruction(i)
}

// spell replaces the instructions on tiles by their bytes.
func spell(file *ir.File) {
	for _, f := range file.Functions() {
		var nodes []ir.Node
		for _, n := range f.Nodes {
			i, ok := n.(*ir.Instruction)
			if _, onTiles := tileCodes[opcodeOf(i, ok)]; !onTiles {
				nodes = append(nodes, n)
				continue
			}
			for _, b := range encode(i) {
				nodes = append(nodes, &ir.Instruction{Opcode: "BYTE", Operands: []Op{U8(b)}})
			}
		}
		f.Nodes = nodes
	}
}

func opcodeOf(i *ir.Instruction, ok bool) string {
	if !ok {
		return ""
	}
	return i.Opcode
}

// encode returns the bytes of an instruction with a three-byte VEX prefix: opcode map 0F38, 128
// bits, W = 0.
func encode(i *ir.Instruction) []byte {
	code := tileCodes[i.Opcode]
	var tiles []byte
	var m *Mem
	for _, o := range i.Operands {
		switch o := o.(type) {
		case Mem:
			m = &o
		case U8:
			tiles = append(tiles, byte(o))
		default:
			panic(fmt.Sprintf("%s has an operand of type %T", i.Opcode, o))
		}
	}
	field, second, third := byte(0), byte(0), byte(0) // ModRM.reg, ModRM.rm, VEX.vvvv
	switch len(tiles) {
	case 3:
		field, second, third = tiles[0], tiles[1], tiles[2]
	case 1:
		field = tiles[0]
	}
	base, index, tail := byte(0), byte(0), []byte{0xc0 | field<<3 | second}
	if m != nil {
		base, index, tail = address(field, *m)
	}
	const map0F38 = 2
	return append([]byte{
		0xc4,
		0x80 | (^index>>3&1)<<6 | (^base>>3&1)<<5 | map0F38,
		(^third&15)<<3 | code.prefix,
		code.opcode,
	}, tail...)
}

// address returns the numbers of m's registers, and the bytes ModRM, SIB (if needed) and
// displacement.
func address(field byte, m Mem) (base, index byte, bytes []byte) {
	const inSIB, noIndex, displacement32 = 4, 4, 0x80
	base = number64(m.Base)
	bytes = []byte{displacement32 | field<<3 | base&7}
	if m.Index != nil || base&7 == inSIB {
		index = noIndex
		if m.Index != nil {
			index = number64(m.Index)
		}
		if m.Index != nil && (m.Scale != 1 || index == noIndex) {
			panic("an index that cannot be the distance of rows")
		}
		bytes = []byte{displacement32 | field<<3 | inSIB, index&7<<3 | base&7}
	}
	return base, index, append(bytes, byte(m.Disp), byte(m.Disp>>8), byte(m.Disp>>16), byte(m.Disp>>24))
}

// number64 returns the processor's number for a 64-bit register.
func number64(r reg.Register) byte { return byte(r.(reg.Physical).PhysicalIndex()) }
