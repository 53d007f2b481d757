package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Quantiles of the χ² distribution from tables, and the normal deviates of the same probability.
func TestDeviates(t *testing.T) {
	for _, c := range []struct {
		chi2    float64
		freedom int
		z       float64
	}{
		{18.307, 10, 1.645}, {3.940, 10, -1.645}, {29.588, 10, 3.090}, {124.342, 100, 1.645}, {149.449, 100, 3.090},
	} {
		cells := Cells{Chi2: c.chi2, Freedom: c.freedom}
		if got := cells.Z(); math.Abs(got-c.z) > 0.02 {
			t.Errorf("χ² %g with %d degrees: z = %.3f, want %.3f", c.chi2, c.freedom, got, c.z)
		}
	}
}

func TestCells(t *testing.T) {
	var c Cells
	c.Add([]int{60, 40}, []float64{0.5, 0.5})
	if c.Chi2 != 4 || c.Freedom != 1 {
		t.Errorf("60 to 40: χ² %g with %d degrees, want 4 with 1", c.Chi2, c.Freedom)
	}
	c = Cells{}
	c.Add([]int{50, 44, 3, 3}, []float64{0.5, 0.44, 0.03, 0.03})
	if c.Freedom != 2 {
		t.Errorf("two rare cells make %d degrees, want them merged: 2", c.Freedom)
	}
	c = Cells{}
	c.Add([]int{99, 1}, []float64{1, 0})
	if !math.IsInf(c.Z(), 1) {
		t.Errorf("what cannot be was seen, and z is %g", c.Z())
	}
}

func TestLimitAndTailAreInverse(t *testing.T) {
	for _, c := range []struct{ probability, z float64 }{{0.5, 0}, {0.05, 1.6449}, {0.001, 3.0902}, {1e-6, 4.7534}} {
		if got := Limit(c.probability); math.Abs(got-c.z) > 1e-3 {
			t.Errorf("probability %g: limit %.4f, want %.4f", c.probability, got, c.z)
		}
		if got := UpperTail(c.z); math.Abs(got-c.probability) > 0.01*c.probability {
			t.Errorf("deviate %g: tail %g, want %g", c.z, got, c.probability)
		}
	}
}

// The figures of Noticed hold in an experiment. The fault that hides best moves mass in proportion
// to what is there; it is noticed about as often as promised. Other faults are noticed more often.
// Where there is no fault, none is found.
func TestPowerIsWhatAnExperimentFinds(t *testing.T) {
	const n, cells, trials, probability = 4000, 20, 1000, 0.9
	limit := Limit(1e-3)
	p := make([]float64, cells)
	for i := range p {
		p[i] = 1.0 / cells
	}
	// epsilon is the share that moves between cells: Σ δ²/p ≥ (2ε)².
	epsilon := math.Sqrt(Noticed(cells-1, limit, probability) / (4 * n))
	hidden, open := append([]float64{}, p...), append([]float64{}, p...)
	for i := range hidden {
		hidden[i] *= 1 + 2*epsilon*float64(1-2*(i%2))
	}
	open[0], open[1] = p[0]+epsilon, max(0, p[1]-epsilon)
	rng := rand.New(rand.NewPCG(1, 2))
	caught := func(truth []float64) float64 {
		found := 0
		for range trials {
			if c := draw(rng, truth, n, p); c.Z() > limit {
				found++
			}
		}
		return float64(found) / trials
	}
	if got := caught(hidden); math.Abs(got-probability) > 0.03 {
		t.Errorf("a hidden fault of %.4f is noticed with %.3f, promised was %g", epsilon, got, probability)
	}
	if got := caught(open); got < probability {
		t.Errorf("an open fault of %.4f is noticed with %.3f, promised were at least %g", epsilon, got, probability)
	}
	if got := caught(p); got > 0.006 {
		t.Errorf("no fault at all is noticed with %.4f, the limit allows 0.001", got)
	}
}

func draw(rng *rand.Rand, truth []float64, n int, expected []float64) *Cells {
	counts := make([]int, len(truth))
	for range n {
		u, i := rng.Float64(), 0
		for ; i < len(truth)-1 && u >= truth[i]; i++ {
			u -= truth[i]
		}
		counts[i]++
	}
	c := &Cells{}
	c.Add(counts, expected)
	return c
}
