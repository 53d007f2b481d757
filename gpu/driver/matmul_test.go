//go:build cuda && linux && cgo

package driver

import (
	"strings"
	"testing"

	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/checks"
	"specula/kernels/cuda/testbench/sim"
)

// The checks of matrix products, whose kernels need more shared memory than a kernel may use by
// default.
func TestMatmuls(t *testing.T) {
	d, seen := open(t), bits{}
	on(t, d, func() {
		norms, elementwise := loadModule(d, "norm", get(cuda.PTX("norm"))), loadModule(d, "elementwise", get(cuda.PTX("elementwise")))
		for _, f := range checks.Matmuls {
			m := loadModule(d, f.Module, get(cuda.PTX(f.Module)))
			m.bits = seen
			run := func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
				m := m
				switch strings.TrimSuffix(kernel, f.Operand()) {
				case "add_rms_norm":
					m = norms
				case "swiglu":
					m = elementwise
				}
				must(m.SetDynamicShared(get(m.Kernel(m.kernels, kernel)), sharedBytes))
				m.run(kernel, Shape{Grid: [3]int{grid.X, grid.Y}, Block: [3]int{block.X}, SharedBytes: sharedBytes}, arguments...)
			}
			integers := f.Module == "matmul_integer"
			f.CheckProducts(t, run, integers || emulated.Emulated())
			f.CheckJoined(t, run)
			f.CheckEmbedding(t, run)
			m.bits = nil // the check compares with launches whose bits were noted
			f.CheckEpilogues(t, run)
		}
	})
	seen.compare(t)
}
