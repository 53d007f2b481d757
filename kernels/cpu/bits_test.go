package cpu

import (
	"math"
	"math/rand/v2"
	"testing"
)

// rowOf makes a row with every kind of number that an operation might treat differently.
func rowOf(r *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		switch r.IntN(12) {
		case 0:
			x[i] = math.Float32frombits(r.Uint32())
		case 1:
			x[i] = []float32{0, float32(math.Copysign(0, -1)), float32(math.Inf(1)),
				float32(math.Inf(-1)), 88.72283, -87.33654, 65504, 65520, 0x1p-24, 0x1p-25}[r.IntN(10)]
		case 2:
			x[i] = float32(r.NormFloat64() * 60)
		default:
			x[i] = float32(r.NormFloat64())
		}
	}
	return x
}

func equalBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s of %d numbers: number %d is %v (%08x), want %v (%08x)", what, len(want), i,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}
