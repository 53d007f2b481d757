// Command asm writes the assembly of kernels/cpu for amd64, with avo. go generate in that folder
// runs it. To change a kernel, change it here.
//
// main lists the files. matmul_quantized.go and matmul_float.go hold the products and are the best
// place to start. The quantised product has a type for each level: product2 (avx2.go), product512
// (avx512.go, weights512.go) and tilesProduct (matmul_tiles.go). vector.go and attend.go hold most
// other operations.
//
// One invariant: within a sum the order of all arithmetic is that of the portable code of
// kernels/cpu, which takes it from kernels/ref for products. So every level gives the same bits.
// The products of panels have the same structure on every level. A vector lane is an output row, so the 32
// rows of a panel take two AVX-512 registers or four AVX2 registers. The weights of a tile are unpacked
// once and then used for every row of activations.
package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/pass"
	"github.com/mmcloughlin/avo/printer"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: asm FOLDER")
		os.Exit(2)
	}
	for _, f := range []struct {
		name  string
		write func(*build.Context)
	}{
		{"matmul_quantized", matmulQuantized},
		{"matmul_tiles", matmulTiles},
		{"matmul_float", matmulFloat},
		{"matmul_dequantized", matmulDequantized},
		{"quantize", func(c *build.Context) { quantize(c); quantizeWide(c) }},
		{"vector", vector},
		{"attend", attend},
		{"deltanet", deltaNet},
		{"ceiling", ceiling},
		{"softmax", softmax},
		{"pause", pause},
		{"flush", flush},
	} {
		c := build.NewContext()
		c.ConstraintExpr("!noasm")
		f.write(c)
		if err := save(c, f.name); err != nil {
			fmt.Fprintln(os.Stderr, "generating", f.name+":", err)
			os.Exit(1)
		}
	}
}

// save writes name_amd64.s, and name_stubs_amd64.go with the Go declarations.
func save(c *build.Context, name string) error {
	file, err := c.Result()
	if err != nil {
		return err
	}
	if err := pass.Compile.Execute(file); err != nil {
		return err
	}
	spell(file)
	config := printer.Config{Argv: []string{"go", "generate"}, Pkg: "cpu"}
	if err := write(name+"_amd64.s", printer.NewGoAsm(config), file); err != nil {
		return err
	}
	return write(name+"_stubs_amd64.go", printer.NewStubs(config), file)
}

func write(name string, p printer.Printer, file *ir.File) error {
	text, err := p.Print(file)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(os.Args[1], name), bytes.TrimLeft(text, "\n"), 0o644)
}
