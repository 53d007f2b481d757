// Command neon writes the assembly of kernels/cpu for arm64. Run it by go generate in that folder; a change of a kernel is a change here.
//
// Go's assembler knows few of the processor's vector instructions, so all of them are written as words: instruction.go encodes them, and behind
// each word stands what it is, as GNU as spells it, which the tests compare with. The rest – addresses, loops, arguments – is Go's assembly.
//
// Within a number's sum the order of all arithmetic is that of kernels/ref, which is why every level gives the same bits. A multiplication and an
// addition are two instructions, but for the products with float weights, which are fused on every level.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// files are what is written, by the name of their operations.
var files = []struct {
	name      string
	functions func() []*function
}{
	{"matmul_quantized", matmulQuantized},
	{"matmul_float", matmulFloat},
	{"quantize", quantize},
	{"attend", attend},
	{"vector", vector},
	{"softmax", softmax},
	{"ceiling", ceiling},
}

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: neon FOLDER")
		os.Exit(2)
	}
	for _, f := range files {
		if err := save(filepath.Join(os.Args[1], f.name), f.functions()); err != nil {
			fmt.Fprintln(os.Stderr, "generating", f.name+":", err)
			os.Exit(1)
		}
	}
}

// save writes name_arm64.s and, with the Go declarations, name_stubs_arm64.go.
func save(name string, functions []*function) error {
	if err := os.WriteFile(name+"_arm64.s", assembly(functions), 0o644); err != nil {
		return err
	}
	return os.WriteFile(name+"_stubs_arm64.go", declarations(functions), 0o644)
}
