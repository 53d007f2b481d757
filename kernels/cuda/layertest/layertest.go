// Package layertest compares the kernels of a transformer's layer, all except the matrix products,
// with kernels/ref. The same checks run on the simulator, on the emulator and on a GPU: a check
// takes a [Launch], which runs a kernel on one of them.
package layertest

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cuda/emulate"
)

// Launch runs a kernel to its end. args are those of emulate.Emulator.Launch.
type Launch func(kernel string, grid, block [3]int, args ...any)

func across(n, threads int) [3]int { return [3]int{(n + threads - 1) / threads, 1, 1} }

// at is a pointer to element i of a buffer.
func at(buffer any, i int) emulate.At { return emulate.At{Buffer: buffer, Index: i} }

func line(n int) [3]int { return [3]int{n, 1, 1} }

// numbers draws n numbers around zero.
func numbers(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// garbage returns n NaN, for memory that nothing has been written to.
func garbage(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// sameBits compares bit by bit; NaN equals NaN.
func sameBits(t testing.TB, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d numbers, want %d", what, len(got), len(want))
		return
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Errorf("%s: number %d is %g (%#08x), want %g (%#08x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
			return
		}
	}
}
