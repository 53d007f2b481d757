package simtest_test

import (
	"fmt"

	"specula/kernels/cuda/testbench/simtest"
)

// A kernel of the program's PTX runs on slices. A test gives its *testing.T where this example has
// a Witness.
func ExampleKernels_Run() {
	t := &simtest.Witness{}
	x, y := []float32{1, 2, 3, 4}, []float32{10, 20, 30, 40}
	simtest.Load(t, "elementwise").Run("add_rows", simtest.Grid(1), simtest.Block(32), 0, x, y, int32(len(x)))
	fmt.Println(x, "failures:", len(t.Says))
	// Output: [11 22 33 44] failures: 0
}
