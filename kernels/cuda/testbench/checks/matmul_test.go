package checks

import (
	"math/rand/v2"
	"strings"
	"testing"

	"specula/kernels/cuda/testbench/sim"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

func TestMatmuls(t *testing.T) {
	for _, f := range Matmuls {
		t.Run(f.Name, func(t *testing.T) {
			k := simtest.Load(t, f.Module)
			f.CheckProducts(t, k.Run, true)
			f.CheckJoined(t, k.Run)
			others := map[string]simtest.Kernels{"add_rms_norm": simtest.Load(t, "norm"), "swiglu": simtest.Load(t, "elementwise")}
			f.CheckEpilogues(t, func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
				module, separate := others[strings.TrimSuffix(kernel, f.Operand())]
				if !separate {
					module = k
				}
				module.Run(kernel, grid, block, sharedBytes, arguments...)
			})
			f.CheckEmbedding(t, k.Run)
		})
	}
}

// With one range, products with quantised weights equal those of the CPU, bit for bit.
func TestOneRangeIsTheProcessorsProduct(t *testing.T) {
	for _, f := range Matmuls {
		format, ok := map[string]ref.Format{"q8_0": ref.Q8_0, "q4_k": ref.Q4_K, "q6_k": ref.Q6_K}[f.Name]
		if !ok {
			continue
		}
		k := simtest.Load(t, f.Module)
		rows, cols, m := 20, 2*f.Columns, 5
		w := f.random(rand.New(rand.NewPCG(7, 7)), rows, cols)
		x := simtest.Normal(8, m*cols)
		want := make([]float32, m*rows)
		ref.MatMulQuantized(want, x, m, format, w, rows, cols)
		simtest.Equal(t, f.Name, f.product(k.Run, x, m, f.pack(t, w, rows, cols, 1), cols), want)
	}
}
