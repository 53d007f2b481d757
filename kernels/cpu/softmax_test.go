package cpu

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/ref"
)

func TestWeightsAreASoftmaxAtEveryLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, l := range Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer SetLevel(l)()
			for range 300 {
				n := 1 + r.IntN(100)
				scores, want := make([]float32, n), make([]float64, n)
				factor := math.Exp(2 * r.NormFloat64())
				peak := float32(math.Inf(-1))
				for i := range scores {
					scores[i] = float32(r.NormFloat64() * 12)
					peak = max(peak, scores[i])
					want[i] = float64(scores[i]) * factor
				}
				ref.Softmax(want)
				got := make([]float64, n)
				Multiply(got, 1/Weights(got, scores, peak, factor))
				for i := range want {
					// The reference rounds its argument, up to 700, before the exponential.
					if math.Abs(got[i]-want[i]) > 3e-13*want[i]+1e-306 {
						t.Fatalf("factor %g, score %g under %g: %g, want %g", factor, scores[i], peak,
							got[i], want[i])
					}
				}
			}
		})
	}
}

func TestDoubleRowsHaveTheSameBitsAtEveryLevel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	inf := float32(math.Inf(-1))
	for range 500 {
		n := 1 + r.IntN(70)
		scores := make([]float32, n)
		for i := range scores {
			scores[i] = []float32{float32(-60 * r.ExpFloat64()), inf, 0, -math.MaxFloat32, -0x1p-149,
				-707, -706.9999}[r.IntN(7)]
		}
		var bits []uint64
		for _, l := range Levels() {
			restore := SetLevel(l)
			weights := make([]float64, n)
			now := []uint64{math.Float64bits(Weights(weights, scores, 0, 1.25))}
			Multiply(weights, 1/3.0)
			restore()
			for _, x := range weights {
				now = append(now, math.Float64bits(x))
			}
			for i := range bits {
				if now[i] != bits[i] {
					t.Fatalf("%v differs from the level before it at number %d of %d: %x, want %x", l, i, n,
						now[i], bits[i])
				}
			}
			bits = now
		}
	}
}

func TestExp64(t *testing.T) {
	worst := 0.0
	for x := -706.9; x < 700; x += 0.00937 {
		want := math.Exp(x)
		worst = max(worst, math.Abs(exp64(x)-want)/want)
	}
	if worst > 1e-14 {
		t.Errorf("relative error up to %g, allowed is 1e-14", worst)
	}
	for _, c := range []struct{ x, want float64 }{{0, 1}, {math.Inf(-1), 0}, {-708, 0},
		{math.Copysign(0, -1), 1}} {
		if got := exp64(c.x); got != c.want {
			t.Errorf("exp64(%g) is %g, want %g", c.x, got, c.want)
		}
	}
}

func BenchmarkWeights(b *testing.B) {
	scores, dst := make([]float32, 4096), make([]float64, 4096)
	for i := range scores {
		scores[i] = -float32(i%100) / 5
	}
	for _, l := range Levels() {
		b.Run(l.String(), func(b *testing.B) {
			defer SetLevel(l)()
			for b.Loop() {
				Weights(dst, scores, 0, 1.4)
			}
		})
	}
}
