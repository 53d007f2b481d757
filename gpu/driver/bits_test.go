//go:build cuda && linux && cgo

package driver

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"specula/gpu/driver/emulated"
)

var updateBits = flag.Bool("update-bits", false,
	"write what the emulator's kernels give to testdata/bits.txt")

// bits are hashes of what kernels computed in a test, by kernel name. testdata/bits.txt has those
// of the emulator, so that a real GPU can be compared with it where only the hashes are at hand.
// The hashes of several runs are added, so their order does not matter. A nil map records nothing.
type bits map[string]uint64

// note adds a buffer as a kernel left it. All NaN count as one, because their bits differ between
// processors.
func (b bits) note(kernel string, buffer any) {
	if b == nil {
		return
	}
	switch list := buffer.(type) {
	case []float32:
		buffer = oneNaN(list, float32(math.NaN()))
	case []float64:
		buffer = oneNaN(list, math.NaN())
	}
	h := fnv.New64a()
	must(binary.Write(h, binary.LittleEndian, buffer))
	b[kernel] += h.Sum64()
}

func oneNaN[T float32 | float64](list []T, nan T) []T {
	out := slices.Clone(list)
	for i, v := range out {
		if v != v {
			out[i] = nan
		}
	}
	return out
}

const bitsFile = "testdata/bits.txt"

// compare reports for each kernel whether it gave the emulator's bits. On the emulator it must. On
// a GPU it need not where tensor cores add floats in an order of their own; the report of
// gpu/check lists which kernels differed.
func (b bits) compare(t *testing.T) {
	t.Helper()
	known := map[string]string{}
	text, err := os.ReadFile(bitsFile)
	if err != nil && !*updateBits {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		name, sum, _ := strings.Cut(strings.TrimSpace(line), " ")
		known[name] = sum
	}
	for _, kernel := range slices.Sorted(maps.Keys(b)) {
		name, sum := t.Name()+"/"+kernel, fmt.Sprintf("%016x", b[kernel])
		switch want := known[name]; {
		case *updateBits:
			known[name] = sum
		case want == sum:
			t.Logf("bits %s equal", name)
		case emulated.Emulated():
			t.Errorf("%s gave the bits %s, and %q before: if that is meant, run this test with -update-bits", name, sum, want)
		default:
			t.Logf("bits %s differ", name)
		}
	}
	if !*updateBits {
		return
	}
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(known)) {
		fmt.Fprintf(&out, "%s %s\n", name, known[name])
	}
	if err := os.WriteFile(bitsFile, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
