package format_test

import (
	"fmt"

	"specula/kernels/format"
)

// A format says where the bits of a quant lie in a block: in Q4_K, quant 32 is the high half of the
// byte in which quant 0 is the low half.
func Example() {
	f := format.Find(format.Q4_K)
	fmt.Printf("%s: %d weights in %d bytes\n", f.Name, f.BlockElements, f.BlockBytes)
	for _, quant := range []int{0, 1, 32, 64} {
		at, shift := f.Low.Find(quant)
		fmt.Printf("quant %d: byte %d, after %d bits\n", quant, at, shift)
	}
	// Output:
	// Q4_K: 256 weights in 144 bytes
	// quant 0: byte 16, after 0 bits
	// quant 1: byte 17, after 0 bits
	// quant 32: byte 16, after 4 bits
	// quant 64: byte 48, after 0 bits
}
