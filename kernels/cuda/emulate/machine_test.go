package emulate_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"specula/kernels/cuda/emulate"
)

// program is the emulator with every kernel, built once; empty without a compiler.
var program string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	dir, err := os.MkdirTemp("", "emulate")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "kernels")
	if err := emulate.Build("../src", program); errors.Is(err, emulate.ErrNoCompiler) {
		program = ""
	} else if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// onEverySchedule runs a test with threads in order and in a few drawn orders.
func onEverySchedule(t *testing.T, test func(t *testing.T, launch launcher)) {
	for _, seed := range []uint64{0, 1, 2, 3} {
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { test(t, start(t, seed)) })
	}
}

// launcher launches a kernel and fails the test if that fails.
type launcher func(kernel string, grid, block [3]int, args ...any)

func start(t *testing.T, seed uint64) launcher {
	t.Helper()
	if program == "" {
		t.Skip("there is no g++ to compile the emulator")
	}
	e, err := emulate.Start(program)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	e.Seed = seed
	return func(kernel string, grid, block [3]int, args ...any) {
		t.Helper()
		if err := e.Launch(kernel, grid, block, 0, args...); err != nil {
			t.Fatal(err)
		}
	}
}

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

// garbage is n numbers that nobody wrote.
func garbage(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(math.NaN())
	}
	return x
}

// sameBits compares, NaN being equal to NaN.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	for i := range got {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: number %d is %g (%#08x), want %g (%#08x)", what, i, got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
