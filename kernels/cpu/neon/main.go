// Command neon writes the assembly of kernels/cpu for arm64. go generate in that folder runs it. To
// change a kernel, change it here.
//
// instruction.go encodes instructions, function.go collects them into a function that Go can call,
// and the other files write one operation each.
//
// Go's assembler supports few of the processor's vector instructions, so all of them are written as
// words. After each word a comment has the instruction in the spelling of GNU as, and the tests
// compare the two. Addresses, loops and arguments are in Go's assembly.
//
// One invariant: within a sum the order of all arithmetic is that of the portable code of
// kernels/cpu, which takes it from kernels/ref for products. So every level gives the same bits. A
// product and a sum are two instructions, except in products with float weights, which are fused on
// every level.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// files lists the files by the names of their operations.
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

// save writes name_arm64.s, and name_stubs_arm64.go with the Go declarations.
func save(name string, functions []*function) error {
	if err := os.WriteFile(name+"_arm64.s", assembly(functions), 0o644); err != nil {
		return err
	}
	return os.WriteFile(name+"_stubs_arm64.go", declarations(functions), 0o644)
}
