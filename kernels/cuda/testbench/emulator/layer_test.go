package emulator_test

import (
	"fmt"
	"math"
	"testing"

	"specula/kernels/cuda/testbench/checks"
)

func TestNorms(t *testing.T)       { onEveryMachine(t, checks.Norms) }
func TestRope(t *testing.T)        { onEveryMachine(t, checks.Rope) }
func TestElementwise(t *testing.T) { onEveryMachine(t, checks.Elementwise) }
func TestLayerNorms(t *testing.T)  { onEveryMachine(t, checks.LayerNorms) }
func TestActivations(t *testing.T) { onEveryMachine(t, checks.Activations) }
func TestCopy(t *testing.T)        { onEveryMachine(t, checks.Copy) }
func TestHeads(t *testing.T)       { onEveryMachine(t, checks.Heads) }
func TestFreshRows(t *testing.T) {
	onEveryMachine(t, func(t *testing.T, launch checks.Launch) { checks.FreshRows(t, launch, 64, 80, 96, 128, 256) })
}
func TestFetchAhead(t *testing.T) {
	onEveryMachine(t, func(t *testing.T, launch checks.Launch) { checks.FetchAhead(t, launch, 64, 128) })
}
func TestRecurrencesAreExact(t *testing.T) { checks.RecurrencesAreExact(t) }
func TestRecurrences(t *testing.T) {
	for seed := range uint64(3) {
		t.Run(fmt.Sprintf("emulator, seed %d", seed), func(t *testing.T) { checks.Recurrences(t, emulated(t, seed), 0, 1) })
		t.Run(fmt.Sprintf("simulator, seed %d", seed), func(t *testing.T) { checks.Recurrences(t, simulated(t, seed), int(seed), 3) })
	}
}
func TestShortConvolutions(t *testing.T) { onEveryMachine(t, checks.ShortConvolutions) }
func TestExperts(t *testing.T)           { onEveryMachine(t, checks.Experts) }

// These kernels belong to the matrix products (they convert rows to operands, or measure the
// peak). The emulator of this package does not have them.
func TestOperands(t *testing.T) { checks.Operands(t, simulated(t, 1)) }
func TestPeak(t *testing.T)     { checks.Peak(t, simulated(t, 1)) }

func TestWindows(t *testing.T) {
	for _, c := range caches {
		t.Run(c.name, func(t *testing.T) {
			onEveryMachine(t, func(t *testing.T, launch checks.Launch) { checks.Windows(t, launch, c.half, 64, true) })
		})
	}
}

func TestManySplits(t *testing.T) {
	onEveryMachine(t, func(t *testing.T, launch checks.Launch) { checks.ManySplits(t, launch, true) })
}

func TestScoresAtTheEdges(t *testing.T) {
	onEveryMachine(t, func(t *testing.T, launch checks.Launch) { checks.ScoresAtTheEdges(t, launch, true) })
}

func TestTooSmallGrid(t *testing.T) { checks.TooSmallGrid(t, simulated(t, 0)) }

var caches = []struct {
	name string
	half bool
}{{"half", true}, {"float", false}}

func TestCache(t *testing.T) {
	for _, c := range caches {
		for _, dims := range [][2]int{{64, 64}, {80, 80}, {72, 40}, {40, 96}} {
			onEveryMachine(t, func(t *testing.T, launch checks.Launch) { checks.Cache(t, launch, c.half, dims[0], dims[1]) })
		}
	}
}

func TestAttention(t *testing.T) {
	for _, c := range caches {
		worst := 0.0
		check := func(t *testing.T, launch checks.Launch, headDim, length int) {
			worst = math.Max(worst, checks.Attention(t, launch, c.half, headDim, length, true))
		}
		for i, headDim := range []int{64, 80, 96, 128, 256, 512} {
			for j, length := range []int{0, 254, 520} {
				seed := uint64(3*i + j)
				name := fmt.Sprintf("%s %d after %d", c.name, headDim, length)
				if (i+j)%2 == 0 || headDim == 64 {
					t.Run(name+", simulator",
						func(t *testing.T) { check(t, simulated(t, seed), headDim, length) })
				}
				if (i+j)%2 == 1 || headDim == 64 {
					t.Run(name+", emulator", func(t *testing.T) { check(t, emulated(t, seed), headDim, length) })
				}
			}
		}
		t.Logf("%s: at most %.2g from the exact attention", c.name, worst)
		if bound := checks.Bound(c.half); !(worst < bound) {
			t.Errorf("%s: %g from the exact attention, want below %g", c.name, worst, bound)
		}
	}
}

// Values may have another length than keys. A float32 cache also has keys wider than those of any tensor-core
// kernel.
func TestUnlikeAttention(t *testing.T) {
	for _, c := range caches {
		widths := [][2]int{{576, 512}}
		if !c.half {
			widths = append(widths, [2]int{512, 512}, [2]int{24, 40})
		}
		for _, dims := range widths {
			for _, length := range []int{3, 300} {
				onEveryMachine(t, func(t *testing.T, launch checks.Launch) {
					if d := checks.UnlikeAttention(t, launch, c.half, dims[0], dims[1], length, true); !(d < checks.Bound(c.half)) {
						t.Errorf("%s, %d, %d: %g from the exact attention", c.name, dims[0], dims[1], d)
					}
				})
			}
		}
	}
}

func TestRowCounts(t *testing.T) {
	all := []int{33, 130} // the last as in a prefill
	for m := range 17 {
		all = append(all, m+1)
	}
	for _, c := range caches {
		t.Run(c.name+", simulator",
			func(t *testing.T) { checks.RowCounts(t, simulated(t, 0), c.half, []int{1, 5, 9}) })
		t.Run(c.name+", emulator", func(t *testing.T) { checks.RowCounts(t, emulated(t, 1), c.half, all) })
	}
}
