package cpu_test

import (
	"fmt"

	"specula/kernels/cpu"
)

// Two rows of activations times a weight matrix of three rows, on two threads.
func Example() {
	pool := cpu.NewPool(2, cpu.DefaultPoll)
	defer pool.Close()
	product := cpu.MatMulFloat{
		Dst: make([]float32, 2*3), M: 2, Rows: 3, Cols: 2,
		X: []float32{
			1, 2,
			3, 4,
		},
		Type: cpu.BF16,
		W: []byte{ // the upper halves of float32 numbers
			0x80, 0x3f, 0, 0, // 1 0
			0, 0, 0x80, 0x3f, // 0 1
			0x80, 0x3f, 0x80, 0x3f, // 1 1
		},
	}
	pool.Run(&product, product.Items(), product.Work())
	fmt.Println(product.Dst[:3], product.Dst[3:])
	// Output: [1 2 3] [3 4 7]
}
