package stat

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Quantiles of the χ² distribution from tables, and one far out: e^(−x/2) with two degrees of
// freedom.
func TestTail(t *testing.T) {
	for _, c := range []struct {
		chi2    float64
		freedom int
		want    float64
	}{
		{18.307, 10, 0.05}, {3.940, 10, 0.95}, {29.588, 10, 0.001}, {124.342, 100, 0.05}, {149.449, 100, 0.001}, {3.841, 1, 0.05},
		{40, 2, math.Exp(-20)}, {0, 5, 1}, {2000, 2, 0},
	} {
		if got := Tail(c.chi2, c.freedom); math.Abs(got-c.want) > 1e-3*c.want+1e-300 {
			t.Errorf("χ² %g with %d degrees: %.4g, want %.4g", c.chi2, c.freedom, got, c.want)
		}
	}
}

// Uniform values give a p below x at most about as often as x, also for small x. Values that are
// not uniform give a small p.
func TestUniformValues(t *testing.T) {
	const runs, n = 20_000, 400
	rng := rand.New(rand.NewPCG(1, 2))
	values := make([]float64, n)
	for name, test := range map[string]func([]float64) float64{
		"farthest": Farthest, "even": func(x []float64) float64 { return Even(x, n/20) },
	} {
		below := map[float64]int{0.1: 0, 0.01: 0, 0.001: 0}
		for range runs {
			for i := range values {
				values[i] = rng.Float64()
			}
			p := test(values)
			for x := range below {
				if p < x {
					below[x]++
				}
			}
		}
		for x, seen := range below {
			if expected := x * runs; float64(seen) > expected+4*math.Sqrt(expected) {
				t.Errorf("%s: %d of %d runs give a p below %g", name, seen, runs, x)
			}
		}
		for i := range values {
			values[i] = math.Pow(rng.Float64(), 1.8)
		}
		if p := test(values); p > 1e-6 {
			t.Errorf("%s: crooked values give %g", name, p)
		}
	}
}
