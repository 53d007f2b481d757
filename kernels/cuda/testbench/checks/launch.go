// Package checks checks every kernel on any machine that runs kernels: the simulator, the emulator,
// the emulated driver, a GPU. Most kernels are compared with kernels/ref, some with the launches that
// they replace. A check is given the machine as a function: a [Launch] for the kernels of a layer, a
// [Run] for matrix products ([Matmuls]), and a [Load] for verification and sampling ([All]). The rows
// of scores are of kinds that are likely to show a bug.
package checks

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cuda/testbench/emulator"
)

// Launch runs a kernel to its end. args are those of emulator.Emulator.Launch.
type Launch func(kernel string, grid, block [3]int, args ...any)

func across(n, threads int) [3]int { return [3]int{(n + threads - 1) / threads, 1, 1} }

// at is a pointer to element i of a buffer.
func at(buffer any, i int) emulator.At { return emulator.At{Buffer: buffer, Index: i} }

func line(n int) [3]int { return [3]int{n, 1, 1} }

// numbers returns n random numbers around zero.
func numbers(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64())
	}
	return x
}

// garbage returns n NaN, as the content of memory that was never written.
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
			t.Errorf("%s: number %d is %g (%#08x), want %g (%#08x)", what, i, got[i],
				math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
			return
		}
	}
}
