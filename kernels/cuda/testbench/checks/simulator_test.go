package checks

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/sample"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

func load(t testing.TB, module string) Kernels { return simtest.Load(t, module) }

func TestOnTheSimulator(t *testing.T) {
	for _, check := range All {
		t.Run(check.Name, func(t *testing.T) { check.Run(t, load) })
	}
}

// These tests compare the reference with the host's own code, so that reference and kernels are
// not wrong together.

// The weights are those of a softmax, and a total is the sum of its weights.
func TestSoftmaxRowIsASoftmax(t *testing.T) {
	scores := simtest.Normal(3, 5000)
	row := ref.SoftmaxRow(scores, 0, ref.Filters{Temperature: 0.5, FilterTemperature: 0.5, TopP: 1})
	dist, err := sample.FromLogits(make([]float64, 5000), scores, sample.Params{Temperature: 0.5, TopP: 1})
	if err != nil {
		t.Fatal(err)
	}
	total := row.Total()
	for id, p := range dist.P {
		if got := float64(row.Chance(id, total)); math.Abs(got-p) > 2e-6*p {
			t.Fatalf("p(%d) = %g, want %g", id, got, p)
		}
	}
}

func TestUniformsAreTheHosts(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 0))
	for range 1000 {
		seed, reply, round, position := random.Uint64(), random.Uint32(), random.Uint32()>>1, random.IntN(64)
		r := ref.Round{Seed: [2]uint32{uint32(seed), uint32(seed >> 32)}, Reply: reply, Round: round}
		for stream := sample.DraftDraw; stream <= sample.TargetDraw; stream++ {
			want := sample.NewPhilox(seed, int(reply)).Uniform(stream, int(round), position)
			if got := r.Uniform(int(stream), position); got != want {
				t.Fatalf("stream %d: %v, want %v", stream, got, want)
			}
		}
	}
}

// The reference's filters keep the tokens that the host's keep, except tokens at the very edge of
// a share.
func TestFiltersAreTheHosts(t *testing.T) {
	const vocab = 2000
	for seed := range uint64(20) {
		scores := simtest.Normal(seed, vocab)
		for i := range scores {
			scores[i] *= 3
		}
		for name, f := range filterSettings(vocab) {
			params := sample.Params{Temperature: float64(f.Temperature), TopK: int(f.TopK),
				TopP: float64(f.TopP), MinP: float64(f.MinP),
				TemperatureLast: f.FilterTemperature != f.Temperature}
			dist, err := sample.FromLogits(make([]float64, vocab), scores, params)
			if err != nil {
				t.Fatal(err)
			}
			row := ref.SoftmaxRow(scores, ref.CutRow(scores, f), f)
			kept := 0
			for id, p := range dist.P {
				if p > 0 {
					kept++
				}
				if got := float64(row.Chance(id, row.Total())); got > 1.001*p+1e-6 || got < 0.999*p-1e-6 {
					t.Fatalf("%s: p(%d) = %g, want %g", name, id, got, p)
				}
			}
		}
	}
}
