package sample

import (
	"math"
	"testing"
)

func TestExp32IsNearEnough(t *testing.T) {
	worst := 0.0
	for x := float32(0); x > -86.9; x -= 1.0 / 8192 {
		want := math.Exp(float64(x))
		off := math.Abs(float64(exp32(x))-want) / want
		worst = max(worst, off)
	}
	if worst > 1e-5 {
		t.Errorf("off by %g of its value, want at most 1e-5", worst)
	}
	if got := exp32(0); got != 1 {
		t.Errorf("exp32(0) = %v, want exactly 1", got)
	}
	for _, x := range []float32{-87.5, -1e30, float32(math.Inf(-1))} {
		if got := exp32(x); got != 0 {
			t.Errorf("exp32(%v) = %v, want 0", x, got)
		}
	}
}

// A draft may be drawn from any distribution, as long as that one is recorded: this one is the softmax but for a few parts in
// 100,000, sums to 1, and keeps to the filters.
func TestRoughIsNearlyTheSoftmax(t *testing.T) {
	logits := make([]float32, 4096)
	for i := range logits {
		logits[i] = float32(math.Sin(float64(i*i))) * 9
	}
	logits[7] = float32(math.Inf(-1))
	for _, p := range []Params{{Temperature: 0.7, TopP: 1}, {Temperature: 1.3, TopP: 0.9, TopK: 100}, {Temperature: 1, TopP: 1, MinP: 0.02}} {
		rough, exact := Sampler{Rough: true}, Sampler{}
		got, err := rough.FromLogits(make([]float64, 4096), logits, p)
		if err != nil {
			t.Fatal(err)
		}
		want, err := exact.FromLogits(make([]float64, 4096), logits, p)
		if err != nil {
			t.Fatal(err)
		}
		sum, apart := 0.0, 0.0
		for id := range got.P {
			sum += got.P[id]
			apart += math.Abs(got.P[id]-want.P[id]) / 2
		}
		if math.Abs(sum-1) > 1e-12 || apart > 1e-4 || got.P[7] != 0 {
			t.Errorf("%+v: sums to %v, total variation %g", p, sum, apart)
		}
	}
}

func BenchmarkSoftmax(b *testing.B) {
	logits := make([]float32, 4096)
	for i := range logits {
		logits[i] = float32(math.Sin(float64(i*i))) * 9
	}
	dst := make([]float64, 4096)
	for name, s := range map[string]*Sampler{"exact": {}, "rough": {Rough: true}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.FromLogits(dst, logits, Params{Temperature: 0.7, TopP: 1}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
