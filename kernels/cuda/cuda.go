// Package cuda holds the kernels of the GPU: src/*.cu, and the PTX that clang makes of them, which is part of the program. The driver
// compiles PTX for the device it finds, so that a program built once runs on every GPU from compute capability 8.0 on.
//
// The same sources run without a GPU: sim interprets the PTX in Go, and emu compiles the .cu for the processor, behind the functions
// of the CUDA driver.
package cuda

import (
	"embed"
	"strings"
)

//go:generate ./build

//go:embed ptx/*.ptx
var files embed.FS

// Modules lists the names of the modules, one a .cu file, in alphabetical order.
func Modules() []string {
	entries, err := files.ReadDir("ptx")
	if err != nil {
		panic(err) // a folder that is part of the program
	}
	var names []string
	for _, entry := range entries {
		names = append(names, strings.TrimSuffix(entry.Name(), ".ptx"))
	}
	return names
}

// PTX is the text of a module; it panics if there is none of that name.
func PTX(module string) string {
	text, err := files.ReadFile("ptx/" + module + ".ptx")
	if err != nil {
		panic(err)
	}
	return string(text)
}
