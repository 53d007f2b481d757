package checks

import (
	"math/rand/v2"
	"testing"

	"specula/kernels/cuda/testbench/sim"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

func TestMatmuls(t *testing.T) {
	for _, f := range Matmuls {
		t.Run(f.Name, func(t *testing.T) {
			run := f.simulated(t)
			f.CheckProducts(t, run, true)
			f.CheckJoined(t, run)
			f.CheckEpilogues(t, run)
			f.CheckExperts(t, run)
			f.CheckEmbedding(t, run)
		})
	}
}

// simulated runs the kernels that the checks of a format need.
func (f Matmul) simulated(t *testing.T) Run {
	modules := map[string]simtest.Kernels{}
	return func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
		name := f.ModuleOf(kernel)
		if _, loaded := modules[name]; !loaded {
			modules[name] = simtest.Load(t, name)
		}
		modules[name].Run(kernel, grid, block, sharedBytes, arguments...)
	}
}

// With one range, products with quantised weights equal those of the CPU, bit for bit.
func TestOneRangeIsTheProcessorsProduct(t *testing.T) {
	for _, f := range Matmuls {
		format, ok := ref.FormatOf(f.Source().Type)
		if !ok {
			continue
		}
		rows, cols, m := 20, 2*f.Columns, 5
		w := f.random(rand.New(rand.NewPCG(7, 7)), rows, cols)
		x := simtest.Normal(8, m*cols)
		want := make([]float32, m*rows)
		ref.MatMulQuantized(want, x, m, format, w, rows, cols)
		simtest.Equal(t, f.Name, f.product(f.simulated(t), x, m, f.pack(t, w, rows, cols, 1), cols), want)
	}
}
