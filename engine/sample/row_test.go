package sample_test

import (
	"errors"
	"math"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/kernels/cpu"
)

// kernels is the Arithmetic that the logits of the CPU backend offer.
type kernels struct{}

func (kernels) Best(scores []float32) (int, bool) { return cpu.Argmax(scores) }
func (kernels) Weights(dst []float64, scores []float32, peak float32, factor float64) float64 {
	return cpu.Weights(dst, scores, peak, factor)
}
func (kernels) Multiply(x []float64, factor float64) { cpu.Multiply(x, factor) }

func waves(n int) []float32 {
	logits := make([]float32, n)
	for i := range logits {
		logits[i] = float32(math.Sin(float64(i*i))) * 9
	}
	return logits
}

// With an Arithmetic a distribution differs from the definition in the last digits only.
func TestArithmeticKeepsTheDefinition(t *testing.T) {
	for _, vocab := range []int{1, 7, 100, 4096} {
		logits := waves(vocab)
		logits[vocab/2] = float32(math.Inf(-1))
		if vocab == 1 {
			logits[0] = 3
		}
		for _, p := range []sample.Params{
			{Temperature: 0.7, TopP: 1}, {Temperature: 0.02, TopP: 1}, {Temperature: 1.3, TopP: 0.9, TopK: 100}, {Temperature: 1, TopP: 1, MinP: 0.02},
		} {
			plain, fast := sample.Sampler{}, sample.Sampler{Arithmetic: kernels{}}
			want, err := plain.FromLogits(make([]float64, vocab+3), logits, p)
			if err != nil {
				t.Fatal(err)
			}
			got, err := fast.FromLogits(make([]float64, vocab+3), logits, p)
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for id := range want.P {
				sum += got.P[id]
				if math.Abs(got.P[id]-want.P[id]) > 1e-12*want.P[id] && want.P[id] > 1e-300 || want.P[id] == 0 && got.P[id] != 0 {
					t.Fatalf("%d ids, %+v: id %d has %g, want %g", vocab, p, id, got.P[id], want.P[id])
				}
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("%d ids, %+v: sums to %v", vocab, p, sum)
			}
		}
	}
	for _, bad := range [][]float32{{0, float32(math.NaN())}, {float32(math.Inf(1)), 0}, {float32(math.Inf(-1))}} {
		s := sample.Sampler{Arithmetic: kernels{}}
		if _, err := s.FromLogits(make([]float64, 2), bad, sample.Params{Temperature: 1, TopP: 1}); !errors.Is(err, compute.ErrNotFinite) {
			t.Errorf("scores %v: error %v", bad, err)
		}
	}
}

// Draw searches block by block, and must find the same token as adding one by one.
func TestDrawFindsWhatAddingOneByOneFinds(t *testing.T) {
	s := sample.Sampler{}
	d, err := s.FromLogits(make([]float64, 1000), waves(1000), sample.Params{Temperature: 2, TopP: 1, TopK: 300})
	if err != nil {
		t.Fatal(err)
	}
	sum := 0.0
	for id, p := range d.P {
		// Skip tiny probabilities: there the order of additions decides which id is drawn.
		if p > 1e-9 {
			if got := sample.Draw(d, sum+p/2); got != int32(id) {
				t.Fatalf("u in the middle of %d draws %d", id, got)
			}
		}
		sum += p
	}
}

func BenchmarkSoftmax(b *testing.B) {
	logits, dst, p := waves(4096), make([]float64, 4096), sample.Params{Temperature: 0.7, TopP: 1}
	for name, s := range map[string]*sample.Sampler{"plain Go": {}, "arithmetic": {Arithmetic: kernels{}}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.FromLogits(dst, logits, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	s := sample.Sampler{Arithmetic: kernels{}}
	d, err := s.FromLogits(dst, logits, p)
	if err != nil {
		b.Fatal(err)
	}
	q := sample.Dist{P: make([]float64, 4096)}
	for i := range q.P {
		q.P[i] = d.P[4095-i]
	}
	rest := make([]float64, 4096)
	b.Run("residual", func(b *testing.B) {
		for b.Loop() {
			sample.Residual(rest, d, q)
		}
	})
	b.Run("draw", func(b *testing.B) {
		for b.Loop() {
			sample.Draw(d, 0.99)
		}
	})
}
