package checks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// checkMaskRows masks rows of every kind. The bits after the vocabulary are set, and must not matter.
func checkMaskRows(t testing.TB, load Load) {
	kernels := load(t, "edits")
	for _, vocab := range vocabularies {
		r := rand.New(rand.NewPCG(6, uint64(vocab)))
		rows, words := len(rowKinds), (vocab+63)/64
		scores := oddRows(4, vocab)
		allowed, masked, want := make([]uint64, rows*words), make([]float32, rows*vocab), slices.Clone(scores)
		for i := range allowed {
			allowed[i] = r.Uint64()
		}
		for i := range rows {
			allowed[(i+1)*words-1] |= ^uint64(0) << ((vocab-1)%64 + 1)
			ref.MaskRow(rowOf(want, i, vocab), rowOf(allowed, i, words))
		}
		for _, blocks := range []int{1, 3} {
			kernels.Run("mask_rows", simtest.Grid(blocks, rows), simtest.Block(64), 0, scores, allowed, masked, int32(vocab))
			simtest.Equal(t, fmt.Sprintf("V=%d", vocab), masked, want)
		}
	}
}
