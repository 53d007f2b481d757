package main

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The expected bytes are those of GNU as 2.40, with every displacement in four bytes ({disp32}).
func TestTileInstructionsAreSpeltAsAnAssemblerDoes(t *testing.T) {
	at := func(base reg.Register, disp int, index reg.Register) Mem {
		return Mem{Base: base, Disp: disp, Index: index, Scale: 1}
	}
	for _, c := range []struct {
		name  string
		write func(*build.Context)
		want  string
	}{
		{"ldtilecfg (%rax)", func(c *build.Context) { loadTileConfig(c, Mem{Base: reg.RAX}) }, "c4e278498000000000"},
		{"ldtilecfg 64(%r12)", func(c *build.Context) { loadTileConfig(c, Mem{Base: reg.R12, Disp: 64}) }, "c4c27849842440000000"},
		{"tilerelease", func(c *build.Context) { releaseTiles(c) }, "c4e27849c0"},
		{"tilezero %tmm0", func(c *build.Context) { zeroTile(c, 0) }, "c4e27b49c0"},
		{"tilezero %tmm7", func(c *build.Context) { zeroTile(c, 7) }, "c4e27b49f8"},
		{"{disp32} tileloadd 0(%rax,%rcx), %tmm0", func(c *build.Context) { loadTile(c, at(reg.RAX, 0, reg.RCX), 0) }, "c4e27b4b840800000000"},
		{"{disp32} tilestored %tmm3, 0(%rax,%rcx)", func(c *build.Context) { storeTile(c, 3, at(reg.RAX, 0, reg.RCX)) }, "c4e27a4b9c0800000000"},
		{"{disp32} tileloadd 64(%r13,%rdx), %tmm1", func(c *build.Context) { loadTile(c, at(reg.R13, 64, reg.RDX), 1) }, "c4c27b4b8c1540000000"},
		{"{disp32} tilestored %tmm4, 64(%r13,%rdx)", func(c *build.Context) { storeTile(c, 4, at(reg.R13, 64, reg.RDX)) }, "c4c27a4ba41540000000"},
		{"{disp32} tileloadd -128(%rbp,%r12), %tmm2", func(c *build.Context) { loadTile(c, at(reg.RBP, -128, reg.R12), 2) }, "c4a27b4b942580ffffff"},
		{"{disp32} tilestored %tmm5, -128(%rbp,%r12)", func(c *build.Context) { storeTile(c, 5, at(reg.RBP, -128, reg.R12)) }, "c4a27a4bac2580ffffff"},
		{"{disp32} tileloadd 3072(%r12,%rbx), %tmm3", func(c *build.Context) { loadTile(c, at(reg.R12, 3072, reg.RBX), 3) }, "c4c27b4b9c1c000c0000"},
		{"{disp32} tilestored %tmm6, 3072(%r12,%rbx)", func(c *build.Context) { storeTile(c, 6, at(reg.R12, 3072, reg.RBX)) }, "c4c27a4bb41c000c0000"},
		{"{disp32} tileloadd 70000(%rdi,%r11), %tmm4", func(c *build.Context) { loadTile(c, at(reg.RDI, 70000, reg.R11), 4) }, "c4a27b4ba41f70110100"},
		{"{disp32} tilestored %tmm7, 70000(%rdi,%r11)", func(c *build.Context) { storeTile(c, 7, at(reg.RDI, 70000, reg.R11)) }, "c4a27a4bbc1f70110100"},
		{"{disp32} tileloadd 0(%r8,%rsi), %tmm5", func(c *build.Context) { loadTile(c, at(reg.R8, 0, reg.RSI), 5) }, "c4c27b4bac3000000000"},
		{"{disp32} tilestored %tmm0, 0(%r8,%rsi)", func(c *build.Context) { storeTile(c, 0, at(reg.R8, 0, reg.RSI)) }, "c4c27a4b843000000000"},
		{"{disp32} tileloadd 64(%rbx,%r15), %tmm6", func(c *build.Context) { loadTile(c, at(reg.RBX, 64, reg.R15), 6) }, "c4a27b4bb43b40000000"},
		{"{disp32} tilestored %tmm1, 64(%rbx,%r15)", func(c *build.Context) { storeTile(c, 1, at(reg.RBX, 64, reg.R15)) }, "c4a27a4b8c3b40000000"},
		{"{disp32} tileloadd -128(%r15,%rbp), %tmm7", func(c *build.Context) { loadTile(c, at(reg.R15, -128, reg.RBP), 7) }, "c4c27b4bbc2f80ffffff"},
		{"{disp32} tilestored %tmm2, -128(%r15,%rbp)", func(c *build.Context) { storeTile(c, 2, at(reg.R15, -128, reg.RBP)) }, "c4c27a4b942f80ffffff"},
		{"{disp32} tileloadd 3072(%rsp,%r9), %tmm0", func(c *build.Context) { loadTile(c, at(reg.RSP, 3072, reg.R9), 0) }, "c4a27b4b840c000c0000"},
		{"{disp32} tilestored %tmm3, 3072(%rsp,%r9)", func(c *build.Context) { storeTile(c, 3, at(reg.RSP, 3072, reg.R9)) }, "c4a27a4b9c0c000c0000"},
		{"tdpbssd %tmm4, %tmm2, %tmm0", func(c *build.Context) { addTileProduct(c, 2, 4, 0) }, "c4e25b5ec2"},
		{"tdpbssd %tmm7, %tmm3, %tmm1", func(c *build.Context) { addTileProduct(c, 3, 7, 1) }, "c4e2435ecb"},
		{"tdpbssd %tmm1, %tmm0, %tmm7", func(c *build.Context) { addTileProduct(c, 0, 1, 7) }, "c4e2735ef8"},
		{"tdpbssd %tmm0, %tmm7, %tmm5", func(c *build.Context) { addTileProduct(c, 7, 0, 5) }, "c4e27b5eef"},
	} {
		ctx := build.NewContext()
		ctx.Function("f")
		ctx.SignatureExpr("func()")
		c.write(ctx)
		file, err := ctx.Result()
		if err != nil {
			t.Fatal(err)
		}
		spell(file)
		var got []byte
		for _, i := range file.Functions()[0].Instructions() {
			if i.Opcode != "BYTE" {
				t.Fatalf("%s: %s was left over", c.name, i.Opcode)
			}
			got = append(got, byte(i.Operands[0].(U8)))
		}
		want, err := hex.DecodeString(c.want)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is spelt %x, want %x", c.name, got, want)
		}
	}
}
