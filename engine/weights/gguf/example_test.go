package gguf_test

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// A file with one metadata value and one matrix of two rows and three columns.
func ExampleBuilder() {
	file := new(gguf.Builder).
		Set("general.architecture", "llama").
		Matrix("output.weight", compute.F16, 2, 3, []float32{1, 2, 3, 4, 5, 6}).
		Bytes()
	fmt.Printf("%s, %d bytes\n", file[:4], len(file))
	// Output: GGUF, 160 bytes
}
