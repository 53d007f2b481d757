package checks

import (
	"fmt"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// judgeBlocks lets judge_blocks judge the batch and returns the kernel's words and bounds.
func (b *batch) judgeBlocks(t testing.TB, kernels Kernels, blocks, rowBlocks, threads int) ([]uint64, []float32) {
	t.Helper()
	results, bounds := make([]uint64, b.sequences*(b.rows+1)), make([]float32, b.sequences*b.rows)
	rest, arrived := make([]uint64, 2*b.sequences*b.rows*ref.Slices(b.vocab)), make([]int32, b.sequences)
	grid := simtest.Grid(blocks, rowBlocks)
	grid.Z = b.sequences
	kernels.Run("judge_blocks", grid, simtest.Block(threads), 0,
		weightsOf(b.p), sumsOf(b.p), weightsOf(b.q), sumsOf(b.q), b.ids, b.rounds, rest, arrived, results, bounds,
		int32(b.rows), int32(b.vocab), int32(b.draftVocab))
	simtest.Equal(t, "counters of blocks", arrived, make([]int32, b.sequences))
	return results, bounds
}

// judged returns the expected words and bounds, by the reference.
func (b *batch) judged() (words []uint64, bounds []float32) {
	for s := range b.sequences {
		ids := rowOf(b.ids, s, b.rows)
		r := ref.JudgeBlock(rowOf(b.p, s, b.rows+1), rowOf(b.q, s, b.rows), ids, b.rounds[s])
		words, bounds = append(words, r.Pack(ids, b.rows)...), append(bounds, r.Bounds...)
		for range b.rows - len(r.Bounds) {
			bounds = append(bounds, -1)
		}
	}
	return words, bounds
}

func checkJudgeBlocks(t testing.TB, load Load) {
	kernels := load(t, "block")
	refused, whole, none, later := 0, 0, 0, 0
	for _, c := range []struct{ sequences, rows, vocab, draftVocab, blocks, rowBlocks, threads int }{
		{150, 5, 10, 10, 1, 1, 32},
		{60, 8, 33, 33, 2, 3, 64},
		{20, 32, 7, 7, 1, 2, 256},
		{20, 3, 1025, 1025, 2, 3, 32},
		{8, 4, 2500, 2100, 1, 4, 96},
		{8, 4, 2100, 2500, 3, 1, 32},
		{4, 5, 5000, 5000, 2, 2, 64},
		{20, 1, 1, 1, 1, 1, 32},
		{1, 2, 70_000, 69_000, 18, 2, 128},
	} {
		b := newBatch(13, c.sequences, c.rows, c.vocab, c.draftVocab)
		name := fmt.Sprintf("%d×%d×%d/%d", c.sequences, c.rows, c.vocab, c.draftVocab)
		got, bounds := b.judgeBlocks(t, kernels, c.blocks, c.rowBlocks, c.threads)
		want, wanted := b.judged()
		simtest.Equal(t, name, got, want)
		simtest.Equal(t, name+", bounds", bounds, wanted)
		for s := range c.sequences {
			word := got[s*(c.rows+1)]
			kept := int32(word >> 24 & 0xff)
			switch {
			case word&0xffffff == 0xffffff:
				none++
			case kept == b.rounds[s].Drafts:
				whole++
			default:
				refused++
			}
			for i := range int(kept) {
				if bound := bounds[s*c.rows+i]; i+1 < int(kept) && b.rounds[s].Uniform(ref.AcceptTest, i) > float64(bound) {
					later++ // a token stays although the block could not end after it
					break
				}
			}
		}
	}
	if refused < 60 || whole < 40 || none < 5 || later < 20 {
		t.Errorf("%d drafts refused and %d accepted whole, %d without a token, %d saved by later tokens: too few to say much", refused, whole, none, later)
	}
}
