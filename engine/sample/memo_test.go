package sample

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
)

// doubled is an Arithmetic whose results differ from plain Go's.
type doubled struct{}

func (doubled) Best(scores []float32) (int, bool) {
	best, err := Argmax(scores)
	return int(best), err == nil
}

func (doubled) Weights(dst []float64, scores []float32, peak float32, factor float64) (sum float64) {
	for i, score := range scores {
		dst[i] = math.Exp(2 * factor * float64(score-peak))
		sum += dst[i]
	}
	return sum
}

func (doubled) Multiply(x []float64, factor float64) {
	for i := range x {
		x[i] *= factor
	}
}

// With a Memo every distribution has the same bits as without one, for any mix of rows and
// parameters.
func TestMemoChangesNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	var rows [][]float32
	for range 5 {
		row := make([]float32, 37)
		for i := range row {
			row[i] = float32(3 * rng.NormFloat64())
		}
		rows = append(rows, row)
	}
	params := []Params{{TopP: 1}, {Temperature: 1, TopP: 1}, {Temperature: 0.5, TopK: 7, TopP: 0.9, MinP: 0.01}}
	memo := &Memo{}
	for range 400 {
		row, p := rows[rng.IntN(len(rows))], params[rng.IntN(len(params))]
		width := len(row) + 3*rng.IntN(2)
		var arithmetic compute.Arithmetic
		if rng.IntN(2) == 0 {
			arithmetic = doubled{}
		}
		plain, keeping := Sampler{Arithmetic: arithmetic}, Sampler{Arithmetic: arithmetic, Memo: memo}
		want, err := plain.FromLogits(make([]float64, width), row, p)
		if err != nil {
			t.Fatal(err)
		}
		dst := make([]float64, width)
		got, err := keeping.FromLogits(dst, row, p)
		if err != nil || got.Hot != want.Hot || !slices.Equal(got.P, want.P) {
			t.Fatalf("%+v: got %v, %v, want %v", p, got, err, want)
		}
		clear(dst) // the caller may overwrite what it got
	}
	bad := []float32{1, float32(math.NaN())}
	for range 2 {
		s := Sampler{Memo: memo}
		if _, err := s.FromLogits(make([]float64, 2), bad, params[1]); err == nil {
			t.Error("scores that are not finite were taken")
		}
	}
}

func TestMemoIsBounded(t *testing.T) {
	s := Sampler{Memo: &Memo{}}
	for i := range 3 * mostRemembered {
		if _, err := s.FromLogits(make([]float64, 2), []float32{0, float32(i)}, Params{Temperature: 1, TopP: 1}); err != nil {
			t.Fatal(err)
		}
		if n := len(s.Memo.entries); n > mostRemembered {
			t.Fatalf("%d rows are remembered, at most %d", n, mostRemembered)
		}
	}
}
