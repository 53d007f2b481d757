package cuda_test

import (
	"math"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// unusual are numbers at the limits of the arithmetic.
var unusual = []float32{0, float32(math.Copysign(0, -1)), 1, -1, 88.7, -88.7, 88.73, -88.73, 103.9,
	-103.9, 104, -104, 3e38, -3e38, 1e-45, -1e-45, 1e-38,
	float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0.34657359, -0.34657359, 1e10, -1e10}

func operands(n int) (x, y []float32) {
	x, y = simtest.Normal(1, n), simtest.Normal(2, n)
	for i := range x {
		x[i] *= 20
		if i < len(unusual)*len(unusual) {
			x[i], y[i] = unusual[i%len(unusual)], unusual[i/len(unusual)]
		}
	}
	return x, y
}

func TestElementwise(t *testing.T) {
	kernels := simtest.Load(t, "elementwise")
	for _, c := range []struct {
		kernel string
		ref    func(x, y float32) float32
	}{{"add_rows", ref.AddRows}, {"swiglu", ref.SwiGLURows}} {
		for _, n := range []int{0, 1, 31, 257, 1000} {
			x, y := operands(n)
			want := make([]float32, n)
			for i := range want {
				want[i] = c.ref(x[i], y[i])
			}
			kernels.Run(c.kernel, simtest.Grid(3), simtest.Block(128), 0, x, y, int32(n))
			simtest.Equal(t, c.kernel, x, want)
		}
	}
}
