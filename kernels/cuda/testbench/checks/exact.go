package checks

import (
	"fmt"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// drawOwn lets match_draws judge the batch and returns the kernel's words.
func (b *batch) drawOwn(kernels Kernels, threads int) []uint64 {
	results := make([]uint64, b.sequences*(b.rows+1))
	kernels.Run("match_draws", simtest.Grid(b.sequences), simtest.Block(threads), 0,
		weightsOf(b.p), sumsOf(b.p), weightsOf(b.q), sumsOf(b.q), b.ids, b.rounds, results,
		int32(b.rows), int32(b.vocab), int32(b.draftVocab))
	return results
}

// drawnAgain replaces some draft tokens by what the target draws there, so that they are accepted.
func (b *batch) drawnAgain() {
	for s := range b.sequences {
		p, ids := rowOf(b.p, s, b.rows+1), rowOf(b.ids, s, b.rows)
		for range b.rows {
			if r := ref.MatchDraws(p, rowOf(b.q, s, b.rows), ids, b.rounds[s]); r.Commit >= 0 && r.Accepted < int(b.rounds[s].Drafts) && s%4 > 0 {
				ids[r.Accepted] = int32(r.Commit)
			}
			if s%4 == 1 {
				break
			}
		}
	}
}

func checkMatchDraws(t testing.TB, load Load) {
	kernels := load(t, "exact")
	refused, whole, none := 0, 0, 0
	for _, c := range []struct{ sequences, rows, vocab, draftVocab, threads int }{
		{80, 5, 10, 10, 32},
		{40, 8, 33, 33, 64},
		{12, 32, 7, 7, 1024},
		{12, 3, 1025, 1025, 32},
		{8, 4, 2500, 2100, 160},
		{8, 4, 2100, 2500, 32},
		{8, 1, 1, 1, 32},
		{1, 2, 70_000, 69_000, 96},
	} {
		b := newBatch(9, c.sequences, c.rows, c.vocab, c.draftVocab)
		for i := range b.rounds {
			b.rounds[i].Written = int32(5 * i)
		}
		b.drawnAgain()
		got := b.drawOwn(kernels, c.threads)
		simtest.Equal(t, fmt.Sprintf("%d×%d×%d/%d", c.sequences, c.rows, c.vocab, c.draftVocab), got,
			concat(b.sequences, func(s int) []uint64 {
				ids := rowOf(b.ids, s, b.rows)
				return ref.MatchDraws(rowOf(b.p, s, b.rows+1), rowOf(b.q, s, b.rows), ids, b.rounds[s]).Pack(ids, b.rows)
			}))
		for s := range c.sequences {
			switch word := got[s*(c.rows+1)]; {
			case word&0xffffff == 0xffffff:
				none++
			case int32(word>>24&0xff) == b.rounds[s].Drafts:
				whole++
			default:
				refused++
			}
		}
	}
	if refused < 40 || whole < 40 || none < 5 {
		t.Errorf("%d drafts refused and %d accepted whole, %d sequences without a token: too few to say much", refused, whole, none)
	}
}
