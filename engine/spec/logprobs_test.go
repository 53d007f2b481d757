package spec

import (
	"errors"
	"math"
	"testing"

	"specula/engine/compute"
	"specula/engine/event"
	"specula/engine/sample"
)

// rankedRows are rows whose best tokens a device has found. They count which rows are read.
type rankedRows struct {
	rowsOf
	ranked []compute.Ranked
	read   []int
}

func (r *rankedRows) Ranked() []compute.Ranked { return r.ranked }
func (r *rankedRows) Row(i int, dst []float32) error {
	r.read = append(r.read, i)
	return r.rowsOf.Row(i, dst)
}

// What a device has found takes the place of rows. A row is read if the device has found nothing in it, if what it
// found is about another token, or if the row is not finite: then the error names the score.
func TestLogProbsOfRankedRows(t *testing.T) {
	nan := float32(math.NaN())
	target := &rankedRows{
		rowsOf: rowsOf{[][]float32{{0, 1, 2}, {3, 3, 0}, {5, 0, 0}, {1, 2, 3}, {0, nan, 0}}},
		ranked: []compute.Ranked{
			{Own: compute.Scored{ID: 1, Score: 1}, Top: []compute.Scored{{ID: 2, Score: 2}, {ID: 1, Score: 1}}, Sum: 1 + math.Exp(-1) + math.Exp(-2)},
			{Own: compute.Scored{ID: 0, Score: 3}, Top: []compute.Scored{{ID: 0, Score: 3}, {ID: 2, Score: -800}}, Sum: 2 + math.Exp(-3)},
			{Own: compute.Scored{ID: 1, Score: 0}, Top: []compute.Scored{{ID: 0, Score: 5}}, Sum: 1},
		},
	}
	out := Outcome{Accepted: 3, Draft: []Judged{{ID: 1}, {ID: 0}, {ID: 0}}, Commit: Judged{ID: 2, Verdict: event.Bonus}}
	v := NewVerifier()
	list, err := v.LogProbs(2, target, &out)
	must(t, err)
	want := []struct {
		own, sum float64
		top      int
	}{{1, math.E + math.E*math.E + 1, 2}, {3, 2*math.Exp(3) + 1, 1}, {5, math.Exp(5) + 2, 2}, {3, math.E + math.Exp(2) + math.Exp(3), 2}}
	for i, w := range want {
		if off := math.Abs(list[i].Own - (w.own - math.Log(w.sum))); off > 1e-12 || len(list[i].Top) != w.top {
			t.Errorf("row %d: %+v, want %+v", i, list[i], w)
		}
	}
	if len(target.read) != 2 || target.read[0] != 2 || target.read[1] != 3 {
		t.Errorf("the rows %v were read, want 2, about another token, and 3, not ranked", target.read)
	}
	out = Outcome{Accepted: 4, Draft: []Judged{{ID: 1}, {ID: 0}, {ID: 0}, {ID: 2}}, Commit: Judged{ID: 0, Verdict: event.Bonus}}
	target.ranked = make([]compute.Ranked, 5) // no row is finite, says the device
	if _, err := v.LogProbs(2, target, &out); !errors.Is(err, compute.ErrNotFinite) || err.Error() != "log-probabilities of row 4: "+notFinite(target.scores[4]).Error() {
		t.Errorf("the error is %v", err)
	}
}

func notFinite(row []float32) error {
	_, err := sample.Argmax(row)
	return err
}
