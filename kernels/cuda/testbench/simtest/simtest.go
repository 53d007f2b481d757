// Package simtest runs kernels in tests: on the simulator, with Go slices for device memory. A
// kernel's test is then
//
//	k := simtest.Load(t, "elementwise")
//	x, y := simtest.Normal(1, n), simtest.Normal(2, n)
//	want := … // by kernels/ref, from copies of x and y
//	k.Run("add_rows", simtest.Grid(3), simtest.Block(128), 0, x, y, int32(n))
//	simtest.Equal(t, "add_rows", x, want)
package simtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/sim"
)

// Kernels are the kernels of one module.
type Kernels struct {
	t       testing.TB
	module  *sim.Module
	noted   map[string]bool
	workers int
}

// Load parses and checks an embedded module.
func Load(t testing.TB, module string) Kernels {
	t.Helper()
	text, err := cuda.PTX(module)
	if err != nil {
		t.Fatal(err)
	}
	return Parse(t, text)
}

// Parse is Load for any PTX text.
func Parse(t testing.TB, ptx string) Kernels {
	t.Helper()
	m, err := sim.Load(ptx)
	if err != nil {
		t.Fatal(err)
	}
	return Kernels{t: t, module: m, noted: map[string]bool{}}
}

// Grid is the number of blocks in x, y and z. Missing numbers are 1.
func Grid(size ...int) sim.Dim { return dim(size) }

// Block is the number of threads of a block in x, y and z. Missing numbers are 1.
func Block(size ...int) sim.Dim { return dim(size) }

func dim(size []int) sim.Dim {
	size = append(size, 1, 1, 1)
	return sim.Dim{X: size[0], Y: size[1], Z: size[2]}
}

// Run runs a kernel to its end, and fails the test if that is not possible. A slice among the
// arguments is copied to device memory, and back afterwards. nil is a null pointer. Numbers must have
// the exact size of the parameter: int32(n).
func (k Kernels) Run(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) {
	k.t.Helper()
	if err := k.Try(kernel, grid, block, sharedBytes, arguments...); err != nil {
		k.t.Fatal(err)
	}
}

// fewSteps is the largest number of instructions for which a launch runs a second time, with
// blocks and warps in another order.
const fewSteps = 1 << 17

// Try is Run, but returns the error. A short launch runs twice, in different orders; if the
// results differ, the test fails.
func (k Kernels) Try(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any) error {
	k.t.Helper()
	entry, err := k.module.Kernel(kernel)
	if err != nil {
		return err
	}
	if !k.noted[kernel] { // .ci/run looks for kernels that no test runs
		k.noted[kernel] = true
		k.t.Logf("simulated kernel %s", kernel)
	}
	first, steps, err := k.once(entry, 0, grid, block, sharedBytes, arguments)
	if err != nil {
		return err
	}
	if steps <= fewSteps {
		second, _, err := k.once(entry, 1, grid, block, sharedBytes, arguments)
		if err != nil {
			return err
		}
		for i := range first {
			if !bytes.Equal(first[i], second[i]) {
				k.t.Errorf("%s: argument %d depends on the order in which blocks and warps run", kernel, i)
			}
		}
	}
	for i, data := range first {
		if data == nil {
			continue
		}
		if _, err := binary.Decode(data, binary.LittleEndian, arguments[i]); err != nil {
			return err
		}
	}
	return nil
}

// once launches a kernel on a new machine, and returns the memory of each slice afterwards.
func (k Kernels) once(entry *sim.Kernel, seed uint64, grid, block sim.Dim, sharedBytes int,
	arguments []any) ([][]byte, uint64, error) {
	k.t.Helper()
	m := sim.NewMachine()
	m.Seed, m.Workers = seed, k.workers
	given := make([]any, len(arguments))
	memory := make([][]byte, len(arguments))
	for i, a := range arguments {
		given[i] = a
		if a == nil {
			given[i] = sim.Pointer(0)
		} else if reflect.TypeOf(a).Kind() == reflect.Slice {
			data, err := binary.Append(nil, binary.LittleEndian, a)
			if err != nil {
				return nil, 0, err
			}
			p := m.Alloc(len(data))
			if err := m.Write(p, data); err != nil {
				return nil, 0, err
			}
			given[i], memory[i] = p, data
		}
	}
	if err := m.Launch(entry, grid, block, sharedBytes, given...); err != nil {
		return nil, 0, err
	}
	for i, data := range memory {
		if data == nil {
			continue
		}
		if err := m.Read(given[i].(sim.Pointer), data); err != nil {
			return nil, 0, err
		}
	}
	return memory, m.Steps(), nil
}

// Equal compares bit by bit and reports the first difference. All NaN count as equal, because
// their bits differ between processors.
func Equal[T any](t testing.TB, what string, got, want []T) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	wrong, first := 0, 0
	for i := range got {
		if !same(got[i], want[i]) {
			if wrong == 0 {
				first = i
			}
			wrong++
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d of %d differ, first element %d: %v, want %v", what, wrong, len(got), first,
			got[first], want[first])
	}
}

func same(a, b any) bool {
	switch x := a.(type) {
	case float32:
		y := b.(float32)
		return math.Float32bits(x) == math.Float32bits(y) || x != x && y != y
	case float64:
		y := b.(float64)
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	}
	return a == b
}

// Normal returns n numbers with mean 0 and variance 1, the same for the same seed.
func Normal(seed uint64, n int) []float32 {
	random := rand.New(rand.NewPCG(seed, 0))
	list := make([]float32, n)
	for i := range list {
		list[i] = float32(random.NormFloat64())
	}
	return list
}

// Filled returns n elements of value v.
func Filled[T any](n int, v T) []T {
	list := make([]T, n)
	for i := range list {
		list[i] = v
	}
	return list
}

// Witness records what Errorf reports instead of failing. Helper and Logf do nothing; every other method is
// that of TB. Tests use a Witness to see that a check notices a fault.
type Witness struct {
	testing.TB
	Says []string // the messages of Errorf
}

// Helper does nothing.
func (w *Witness) Helper() {}

// Logf does nothing.
func (w *Witness) Logf(string, ...any) {}

// Errorf notes a failure.
func (w *Witness) Errorf(format string, arguments ...any) {
	w.Says = append(w.Says, fmt.Sprintf(format, arguments...))
}
