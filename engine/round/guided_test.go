package round

import (
	"math"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/kernels/ref"
)

// twoRows stand for a pass of one token after each prompt.
type twoRows struct {
	compute.Logits
	rows [][]float32
}

func (r twoRows) Rows() int  { return len(r.rows) }
func (r twoRows) Vocab() int { return len(r.rows[0]) }
func (r twoRows) Row(i int, dst []float32) error {
	copy(dst, r.rows[i])
	return nil
}

func TestGuidedScores(t *testing.T) {
	masked := float32(math.Inf(-1))
	g := &guidedScores{twoRows{rows: [][]float32{{1, 2, masked, 5, 0}, {3, 2, 1, masked, -4}}}, 2, make([]float32, 5)}
	row := make([]float32, 5)
	if err := g.Row(0, row); err != nil {
		t.Fatal(err)
	}
	if want := []float32{-1, 2, masked, 5, 4}; !slices.Equal(row, want) {
		t.Errorf("guided scores %v, want %v", row, want)
	}
	for id, z := range row {
		if want := ref.GuideScore(g.Logits.(twoRows).rows[0][id], g.Logits.(twoRows).rows[1][id], 2); z != want {
			t.Errorf("token %d has %g, on a device %g", id, z, want)
		}
	}
	best := make([]int32, 1)
	if err := g.Argmax(best); err != nil || best[0] != 3 {
		t.Errorf("best token %d, error %v, want 3", best[0], err)
	}
}
