package sample_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/engine/oracle"
	"specula/engine/sample"
)

var (
	nan  = float32(math.NaN())
	inf  = float32(math.Inf(1))
	none = float32(math.Inf(-1))
)

// logs returns scores whose softmax at temperature 1 is p.
func logs(p ...float64) []float32 {
	scores := make([]float32, len(p))
	for i := range p {
		scores[i] = float32(math.Log(p[i]))
	}
	return scores
}

func near(t *testing.T, got sample.Dist, want []float64, tolerance float64) {
	t.Helper()
	for id, p := range want {
		if math.Abs(got.Prob(int32(id))-p) > tolerance || (p == 0) != (got.Prob(int32(id)) == 0) {
			t.Fatalf("token %d has %g, want %g\n got %v\nwant %v", id, got.Prob(int32(id)), p, got, want)
		}
	}
}

func TestFiltersByHand(t *testing.T) {
	scores := logs(.1, .4, .2, .2, .1)
	for _, c := range []struct {
		name   string
		params sample.Params
		want   []float64
	}{
		{"plain", sample.Params{Temperature: 1, TopP: 1}, []float64{.1, .4, .2, .2, .1}},
		{"temperature one half squares", sample.Params{Temperature: 0.5, TopP: 1}, []float64{.01 / .26, .16 / .26, .04 / .26, .04 / .26, .01 / .26}},
		{"temperature zero", sample.Params{}, []float64{0, 1, 0, 0, 0}},
		{"top-k", sample.Params{Temperature: 1, TopK: 3, TopP: 1}, []float64{0, .5, .25, .25, 0}},
		{"top-k, a tie goes to the lower id", sample.Params{Temperature: 1, TopK: 2, TopP: 1}, []float64{0, 2. / 3, 1. / 3, 0, 0}},
		{"top-k one", sample.Params{Temperature: 1, TopK: 1, TopP: 1}, []float64{0, 1, 0, 0, 0}},
		{"top-k beyond the vocabulary", sample.Params{Temperature: 1, TopK: 9, TopP: 1}, []float64{.1, .4, .2, .2, .1}},
		{"top-p takes the token that reaches it", sample.Params{Temperature: 1, TopP: .55}, []float64{0, 2. / 3, 1. / 3, 0, 0}},
		{"top-p keeps one at least", sample.Params{Temperature: 1, TopP: 1e-9}, []float64{0, 1, 0, 0, 0}},
		{"top-p counts what top-k left", sample.Params{Temperature: 1, TopK: 3, TopP: .7}, []float64{0, 2. / 3, 1. / 3, 0, 0}},
		{"min-p is relative to the best", sample.Params{Temperature: 1, TopP: 1, MinP: .45}, []float64{0, .5, .25, .25, 0}},
		{"temperature first narrows what the filters see", sample.Params{Temperature: .5, TopP: 1, MinP: .3}, []float64{0, 1, 0, 0, 0}},
		{"temperature last works on what they left", sample.Params{Temperature: .5, TopP: 1, MinP: .3, TemperatureLast: true}, []float64{0, 2. / 3, 1. / 6, 1. / 6, 0}},
		{"temperature last by itself is temperature", sample.Params{Temperature: .5, TopP: 1, TemperatureLast: true}, []float64{1. / 26, 16. / 26, 4. / 26, 4. / 26, 1. / 26}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := sample.FromLogits(make([]float64, 5), scores, c.params)
			if err != nil {
				t.Fatal(err)
			}
			near(t, got, c.want, 1e-7)
		})
	}
}

func TestFiltersEqualTheReference(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var s sample.Sampler
	for i := range 5000 {
		scores := make([]float32, 1+rng.IntN(60))
		for id := range scores {
			scores[id] = float32(3 * rng.NormFloat64())
			if rng.IntN(3) == 0 {
				scores[id] = float32(rng.IntN(3)) // ties
			}
			if rng.IntN(10) == 0 {
				scores[id] = none
			}
		}
		scores[rng.IntN(len(scores))] = 1
		p := sample.Params{Temperature: 0.1 + 2*rng.Float64(), TopP: 1}
		if rng.IntN(2) == 0 {
			p.TopK = rng.IntN(70)
		}
		if rng.IntN(2) == 0 {
			p.TopP = 1 - rng.Float64()
		}
		if rng.IntN(2) == 0 {
			p.MinP = rng.Float64()
		}
		p.TemperatureLast = rng.IntN(3) == 0
		got, err := s.FromLogits(make([]float64, len(scores)+rng.IntN(3)), scores, p)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(fmt.Sprint(i, p), func(t *testing.T) { near(t, got, oracle.Distribution(scores, p), 1e-12) })
	}
}

func TestExtremeTemperaturesGiveProbabilities(t *testing.T) {
	for _, temperature := range []float64{math.SmallestNonzeroFloat64, 1e-30, 1e30, math.MaxFloat64} {
		for _, scores := range [][]float32{{-math.MaxFloat32, math.MaxFloat32, 0}, {none, 0, 1e-30}} {
			d, err := sample.FromLogits(make([]float64, 3), scores, sample.Params{Temperature: temperature, TopK: 2, TopP: .9, MinP: .1})
			if err != nil {
				t.Fatal(err)
			}
			sum := 0.0
			for _, p := range d.P {
				sum += p
			}
			if math.Abs(sum-1) > 1e-12 {
				t.Errorf("temperature %g, scores %v: probabilities %v, want a sum of 1", temperature, scores, d.P)
			}
		}
	}
}

func TestScoresThatAreNotFinite(t *testing.T) {
	for name, scores := range map[string][]float32{
		"NaN first":  {nan, 0, 0},
		"NaN last":   {0, 0, nan},
		"+Inf":       {0, inf, 0},
		"all masked": {none, none, none},
		"no scores":  {},
	} {
		for _, params := range []sample.Params{{}, {Temperature: 1, TopP: 1}} {
			if _, err := sample.FromLogits(make([]float64, 3), scores, params); !errors.Is(err, compute.ErrNotFinite) {
				t.Errorf("%s, temperature %g: error %v", name, params.Temperature, err)
			}
		}
	}
}

func TestArgmaxTakesTheLowestIdOfATie(t *testing.T) {
	if best, err := sample.Argmax([]float32{none, 3, 2, 3}); best != 1 || err != nil {
		t.Errorf("%d, %v", best, err)
	}
}

func TestATokenAllocatesNothing(t *testing.T) {
	scores := make([]float32, 1000)
	for i := range scores {
		scores[i] = float32(i % 97)
	}
	var s sample.Sampler
	dst := make([]float64, len(scores))
	run := func() {
		d, err := s.FromLogits(dst, scores, sample.Params{Temperature: 1, TopK: 50, TopP: .9, MinP: .01})
		if err != nil {
			t.Fatal(err)
		}
		sample.Draw(d, .5)
	}
	run()
	if n := testing.AllocsPerRun(50, run); n > 0 {
		t.Errorf("%g allocations a token", n)
	}
}

func TestTop(t *testing.T) {
	var s sample.Sampler
	for _, c := range []struct {
		name   string
		params sample.Params
		n      int
		want   []sample.Candidate
	}{
		{"the plain softmax at temperature 0", sample.Params{TopK: 1}, 2, []sample.Candidate{{ID: 1, P: .5}, {ID: 0, P: .3}}},
		{"as drawn otherwise", sample.Params{Temperature: 1, TopK: 2, TopP: 1}, 5, []sample.Candidate{{ID: 1, P: .625}, {ID: 0, P: .375}}},
	} {
		got, err := s.Top(logs(.3, .5, .2), c.n, c.params)
		if err != nil || len(got) != len(c.want) {
			t.Fatalf("%s: %v, %v", c.name, got, err)
		}
		for i := range got {
			if got[i].ID != c.want[i].ID || math.Abs(got[i].P-c.want[i].P) > 1e-7 {
				t.Errorf("%s: %v, want %v", c.name, got, c.want)
			}
		}
	}
}

func TestConfidence(t *testing.T) {
	if got := new(sample.Sampler).Confidence(logs(.3, .5, .2), 1); math.Abs(got-.5) > 1e-7 {
		t.Errorf("%g, want 0.5", got)
	}
}

func BenchmarkFromLogits(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	scores := make([]float32, 151936)
	for i := range scores {
		scores[i] = float32(3 * rng.NormFloat64())
	}
	dst := make([]float64, len(scores))
	for _, p := range []sample.Params{{Temperature: 1, TopP: 1}, {Temperature: .7, TopK: 20, TopP: .9}, {Temperature: .7, TopP: .9}} {
		b.Run(fmt.Sprintf("%+v", p), func(b *testing.B) {
			var s sample.Sampler
			for b.Loop() {
				if _, err := s.FromLogits(dst, scores, p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
