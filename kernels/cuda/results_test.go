package cuda_test

import (
	"math"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/ref"
)

func TestRejectionReadsWhatWasPacked(t *testing.T) {
	ids := []int32{0, 151_935, -1}
	r := ref.Rejection{Accepted: 2, Commit: 151_935, Chance: 0.25, P: []float32{1, 1e-30, 0},
		Q: []float32{0.3, 1, 0}}
	accepted, next, p, judged := cuda.Rejection(r.Pack(ids, 4), 3)
	if accepted != 2 || next != 151_935 || p != 0.25 {
		t.Errorf("%d accepted, then %d with p %v", accepted, next, p)
	}
	for i, j := range judged {
		if j.ID != ids[i] || !near(j.P, r.P[i]) || !near(j.Q, r.Q[i]) {
			t.Errorf("token %d is %+v, want %d, %v, %v", i, j, ids[i], r.P[i], r.Q[i])
		}
	}
	r.Commit = -1
	if _, next, _, _ := cuda.Rejection(r.Pack(ids, 3), 3); next != cuda.NoToken {
		t.Errorf("no token is read as %d", next)
	}
}

func near(got, want float32) bool { return math.Abs(float64(got-want)) <= float64(want)/4096 }

func TestGreedyReadsItsWords(t *testing.T) {
	draft, accepted, next := cuda.Greedy([]uint32{5, 0xffffffff, 1<<24 | 0xffffff})
	if draft[0] != 5 || draft[1] != -1 || accepted != 1 || next != cuda.NoToken {
		t.Errorf("%v, %d accepted, then %d", draft, accepted, next)
	}
}
