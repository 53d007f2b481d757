//go:build cuda && linux && cgo

package driver

import (
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/checks"
	"specula/kernels/cuda/testbench/sim"
)

// onDriver runs kernels by the driver, as the checks want it.
type onDriver struct{ module }

func (m onDriver) Run(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
	values := make([]any, len(arguments))
	for i, a := range arguments {
		if values[i] = a; a == nil {
			values[i] = uint64(0) // a null pointer
		}
	}
	m.run(kernel, Shape{Grid: [3]int{grid.X, grid.Y, grid.Z}, Block: [3]int{block.X, block.Y, block.Z}, SharedBytes: sharedBytes}, values...)
}

func TestArgmaxKernels(t *testing.T)  { checkSampling(t, "argmax") }
func TestSoftmaxKernels(t *testing.T) { checkSampling(t, "softmax") }
func TestRejectKernels(t *testing.T)  { checkSampling(t, "reject") }
func TestExactKernels(t *testing.T)   { checkSampling(t, "exact") }
func TestBlockKernels(t *testing.T)   { checkSampling(t, "block") }
func TestNucleusKernels(t *testing.T) { checkSampling(t, "nucleus") }
func TestEditKernels(t *testing.T)    { checkSampling(t, "edits") }
func TestRankingKernels(t *testing.T) { checkSampling(t, "ranking") }

func checkSampling(t *testing.T, module string) {
	d, seen := open(t), bits{}
	for _, check := range checks.All {
		if check.Module != module {
			continue
		}
		t.Run(check.Name, func(t *testing.T) {
			on(t, d, func() {
				check.Run(t, func(t testing.TB, name string) checks.Kernels {
					m := loadModule(d, name, get(cuda.PTX(name)))
					m.bits = seen
					return onDriver{m}
				})
			})
		})
	}
	seen.compare(t)
}
