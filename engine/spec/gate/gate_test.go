package gate

import (
	"math/rand/v2"
	"testing"

	"specula/engine/sample"
)

var plain = sample.Params{Temperature: 1, TopP: 1}

// Plain sampling passes in every world. Sampling that is slightly wrong in one place does not.
func TestJudgeFindsSlightlyWrongSampling(t *testing.T) {
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
