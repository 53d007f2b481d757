package gate

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/sample"
)

var plain = sample.Params{Temperature: 1, TopP: 1}

// Quantiles of the χ² distribution from its tables, and the normal deviates of the same probability.
func TestDeviates(t *testing.T) {
	for _, c := range []struct {
		chi2    float64
		freedom int
		z       float64
	}{
		{18.307, 10, 1.645}, {3.940, 10, -1.645}, {29.588, 10, 3.090}, {124.342, 100, 1.645}, {149.449, 100, 3.090},
	} {
		cells := cells{chi2: c.chi2, freedom: c.freedom}
		if got := cells.z(); math.Abs(got-c.z) > 0.02 {
			t.Errorf("χ² %g with %d degrees: z = %.3f, want %.3f", c.chi2, c.freedom, got, c.z)
		}
	}
}

func TestCells(t *testing.T) {
	var c cells
	c.add([]int{60, 40}, []float64{0.5, 0.5})
	if c.chi2 != 4 || c.freedom != 1 {
		t.Errorf("60 to 40: χ² %g with %d degrees, want 4 with 1", c.chi2, c.freedom)
	}
	c = cells{}
	c.add([]int{50, 44, 3, 3}, []float64{0.5, 0.44, 0.03, 0.03})
	if c.freedom != 2 {
		t.Errorf("two rare cells make %d degrees, want them merged: 2", c.freedom)
	}
	c = cells{}
	c.add([]int{99, 1}, []float64{1, 0})
	if !math.IsInf(c.z(), 1) {
		t.Errorf("what cannot be was seen, and z is %g", c.z())
	}
}

// Plain drawing passes, in every world, and drawing that is slightly wrong in one place does not.
func TestJudge(t *testing.T) {
	for _, pairing := range Pairings {
		w := NewWorld(10, 3, plain, pairing, 2)
		rng := rand.New(rand.NewPCG(1, 3))
		exact := func(int) Played {
			before, tokens := Root, []int32{}
			for i := range 3 {
				before = w.draw(i, before, rng.Float64())
				tokens = append(tokens, before)
			}
			return Played{Tokens: tokens, Bonus: 1}
		}
		if failed := w.Judge(100_000, 3, 1, exact).Failures(); failed != "" {
			t.Errorf("%s: plain drawing fails: %s", pairing, failed)
		}
	}
	w := NewWorld(10, 3, plain, Near, 2)
	rng := rand.New(rand.NewPCG(1, 3))
	for name, wrong := range map[string]func(tokens []int32){
		"one token in fifty is replaced":   func(x []int32) { x[1] = (x[1] + int32(min(1, rng.IntN(50))) + 9) % 10 },
		"two neighbours from two replies":  func(x []int32) { x[2] = w.draw(2, w.draw(1, x[0], rng.Float64()), rng.Float64()) },
		"a row later than its own":         func(x []int32) { x[0] = w.draw(1, Root, rng.Float64()) },
		"the bonus given the wrong prefix": func(x []int32) { x[1] = w.draw(1, w.draw(0, Root, rng.Float64()), rng.Float64()) },
	} {
		report := w.Judge(100_000, 3, 1, func(int) Played {
			before, tokens := Root, make([]int32, 3)
			for i := range tokens {
				before = w.draw(i, before, rng.Float64())
				tokens[i] = before
			}
			wrong(tokens)
			return Played{Tokens: tokens, Bonus: 1}
		})
		if report.Failures() == "" {
			t.Errorf("not caught: %s: %v", name, report)
		}
	}
}

func TestRowsAreTheWorldsOwn(t *testing.T) {
	w := NewWorld(5, 4, plain, Near, 1)
	rows := w.Rows(1, []int32{3, 4})
	got := make([]float32, 5)
	if err := rows.Row(1, got); err != nil {
		t.Fatal(err)
	}
	best := make([]int32, 2)
	if err := rows.Argmax(best); err != nil {
		t.Fatal(err)
	}
	for id, score := range w.TargetScores(2, 4) {
		if got[id] != score || score > got[best[1]] {
			t.Errorf("row 1 is %v with best %d, want %v", got, best[1], w.TargetScores(2, 4))
		}
	}
}
