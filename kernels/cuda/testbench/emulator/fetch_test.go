package emulator_test

import (
	"slices"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/sim"
)

// Extra blocks of attention fetch each line of their ranges once.
func TestEveryLineIsFetchedOnce(t *testing.T) {
	only(t, "simulator")
	all, err := kernels()
	if err != nil {
		t.Fatal(err)
	}
	sizes := []int{3*cuda.LineBytes + 1, 1, 700 * cuda.LineBytes, 5 * cuda.LineBytes}
	want := []int{4, 1, 700, 5} // lines
	const splits, kvHeads, extra, parts = 2, 1, 2, 3
	// One row of no keys, for which the other blocks compute nothing.
	args := []any{make([]float32, 64*splits), make([]float32, 2*splits), make([]float32, 64), make([]uint16, 64*256), make([]uint16, 64*256), []int32{-1},
		int32(0), int32(1), int32(kvHeads), int32(1), uint32(1 << 31), int32(256), float32(1), int32(0), float32(0), int32(cuda.NoOperand), nil, nil, int32(0), nil}
	for _, n := range sizes {
		args = append(args, make([]byte, n), int32(n))
	}
	m := sim.NewMachine()
	if err := simulate(m, all["attend_half_64_wide"], [3]int{splits, kvHeads + extra, parts}, [3]int{256, 1, 1}, args); err != nil {
		t.Fatal(err)
	}
	// The ranges are allocated in order, and far apart.
	fetched := m.Prefetched()
	slices.Sort(fetched)
	var got []int
	for i, p := range fetched {
		if i == 0 || p != fetched[i-1]+cuda.LineBytes {
			got = append(got, 0)
		}
		got[len(got)-1]++
	}
	if !slices.Equal(got, want) {
		t.Errorf("neighbouring lines that were fetched: %v, want %v", got, want)
	}
}
