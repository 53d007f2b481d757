package checks

import (
	"fmt"
	"slices"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// checkGuideRows mixes rows of every kind with rows of every kind.
func checkGuideRows(t testing.TB, load Load) {
	kernels := load(t, "edits")
	for _, c := range []struct{ vocab, rows, blocks int }{{1, 1, 1}, {33, 5, 1}, {1400, len(rowKinds), 3}} {
		for _, scale := range []float32{0, 0.4, 1.8, -2, 3e30} {
			n := c.rows * c.vocab
			with, negative := oddRows(3, c.vocab)[:n], oddRows(4, c.vocab)[:n]
			slices.Reverse(negative) // so that rows of different kinds meet
			scores, want := slices.Clone(with), make([]float32, n)
			for i := range want {
				want[i] = ref.GuideScore(with[i], negative[i], scale)
			}
			kernels.Run("guide_rows", simtest.Grid(c.blocks, 1), simtest.Block(64), 0, scores, negative, scale, int32(n))
			simtest.Equal(t, fmt.Sprintf("V=%d, %d rows, scale %g", c.vocab, c.rows, scale), scores, want)
		}
	}
}
