package checks

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// batch is the input of reject: sequences with up to rows draft tokens each.
type batch struct {
	sequences, rows, vocab, draftVocab int
	p, q                               []ref.WeightRow // (sequences·(rows+1)), (sequences·rows)
	ids                                []int32         // (sequences·rows)
	rounds                             []ref.Round
}

// want returns the expected words, by the reference.
func (b *batch) want() []uint64 {
	return concat(b.sequences, func(s int) []uint64 {
		ids := rowOf(b.ids, s, b.rows)
		return ref.Reject(rowOf(b.p, s, b.rows+1), rowOf(b.q, s, b.rows), ids, b.rounds[s]).Pack(ids, b.rows)
	})
}

// run returns the kernel's words.
func (b *batch) run(t testing.TB, kernels Kernels, blocks, threads int) []uint64 {
	t.Helper()
	results := make([]uint64, b.sequences*(b.rows+1))
	rest, arrived := make([]uint64, 2*b.sequences*ref.Slices(b.vocab)), make([]int32, b.sequences)
	kernels.Run("reject", simtest.Grid(blocks, b.sequences), simtest.Block(threads), 0,
		weightsOf(b.p), sumsOf(b.p), weightsOf(b.q), sumsOf(b.q),
		b.ids, b.rounds, rest, arrived, results, int32(b.rows), int32(b.vocab), int32(b.draftVocab))
	simtest.Equal(t, "counters of blocks", arrived, make([]int32, b.sequences))
	return results
}

func weightsOf(rows []ref.WeightRow) []float32 {
	return concat(len(rows), func(i int) []float32 { return rows[i].Weights })
}

func sumsOf(rows []ref.WeightRow) []uint64 {
	return concat(len(rows), func(i int) []uint64 { return rows[i].Sums })
}

// newBatch draws drafts from q, which resembles p. It changes some rows (pair), and makes some drafts short,
// one-hot, or of ids that are no tokens.
func newBatch(seed uint64, sequences, rows, vocab, draftVocab int) *batch {
	random := rand.New(rand.NewPCG(seed, uint64(vocab)))
	b := &batch{sequences: sequences, rows: rows, vocab: vocab, draftVocab: draftVocab}
	for s := range sequences {
		round := ref.Round{Seed: [2]uint32{uint32(seed), 1}, Reply: uint32(s), Round: 3, Drafts: int32(rows)}
		if random.IntN(4) == 0 {
			round.Drafts = int32(random.IntN(rows + 1))
		}
		for i := range rows + 1 {
			target, draft := make([]float32, vocab), make([]float32, draftVocab)
			each(target, func(int) float32 { return float32(2 * random.NormFloat64()) })
			each(draft, func(id int) float32 { return float32(random.NormFloat64() / 2) })
			for id := range min(vocab, draftVocab) {
				draft[id] += target[id]
			}
			pair(random, target, draft)
			b.p = append(b.p, ref.SoftmaxRow(target, 0, filters))
			if i == rows {
				break
			}
			q := ref.SoftmaxRow(draft, 0, filters)
			b.q = append(b.q, q)
			id := int32(q.Draw(round, ref.DraftDraw, i))
			switch random.IntN(12) {
			case 0:
				round.Certain |= 1 << i
				id = int32(random.IntN(vocab))
			case 1:
				id = []int32{-1, int32(vocab), int32(vocab - 1)}[random.IntN(3)]
			}
			b.ids = append(b.ids, id)
		}
		b.rounds = append(b.rounds, round)
	}
	return b
}

// pair makes some rows equal, disjoint, one-hot or not finite.
func pair(random *rand.Rand, target, draft []float32) {
	both := min(len(target), len(draft))
	switch random.IntN(16) {
	case 0, 1, 2, 3:
		copy(draft, target) // equal rows: mostly accepted, and without a residual
	case 4:
		for id := range both {
			if id%2 == 0 {
				target[id] = none
			} else {
				draft[id] = none
			}
		}
	case 5:
		target[random.IntN(len(target))] = nan
	case 6:
		draft[random.IntN(len(draft))] = inf
	case 7:
		target[random.IntN(len(target))] = 200
	}
}

func checkReject(t testing.TB, load Load) {
	kernels := load(t, "reject")
	sawResidual, sawBonus, sawNone := 0, 0, 0
	for _, c := range []struct{ sequences, rows, vocab, draftVocab, blocks, threads int }{
		{400, 5, 10, 10, 1, 32},
		{100, 8, 33, 33, 2, 64},
		{40, 32, 7, 7, 1, 1024},
		{40, 3, 1025, 1025, 2, 32},
		{20, 4, 2500, 2100, 1, 256},
		{20, 4, 2100, 2500, 3, 32},
		{8, 5, 5000, 5000, 2, 64},
		{20, 1, 1, 1, 1, 32},
		{3, 2, 70_000, 69_000, 18, 128},
	} {
		name := fmt.Sprintf("%d×%d×%d/%d", c.sequences, c.rows, c.vocab, c.draftVocab)
		b := newBatch(7, c.sequences, c.rows, c.vocab, c.draftVocab)
		got := b.run(t, kernels, c.blocks, c.threads)
		simtest.Equal(t, name, got, b.want())
		for s := range c.sequences {
			word := got[s*(c.rows+1)]
			switch accepted := int32(word >> 24 & 0xff); {
			case word&0xffffff == 0xffffff:
				sawNone++
			case accepted == b.rounds[s].Drafts:
				sawBonus++
			default:
				sawResidual++
			}
		}
	}
	if sawResidual < 100 || sawBonus < 90 || sawNone < 10 {
		t.Errorf("%d residual and %d bonus tokens, %d sequences without one: too few to say much",
			sawResidual, sawBonus, sawNone)
	}
}

// A plain round has no draft: q and the ids are never read.
func checkRejectWithoutDrafts(t testing.TB, load Load) {
	kernels := load(t, "reject")
	b := newBatch(8, 4, 1, 100, 100)
	for i := range b.rounds {
		b.rounds[i].Drafts = 0
	}
	p := []ref.WeightRow{b.p[0], b.p[2], b.p[4], b.p[6]}
	results := make([]uint64, 4)
	kernels.Run("reject", simtest.Grid(2, 4), simtest.Block(64), 0,
		concat(4, func(i int) []float32 { return p[i].Weights }),
		concat(4, func(i int) []uint64 { return p[i].Sums }),
		nil, nil, nil, b.rounds, nil, nil, results, int32(0), int32(100), int32(100))
	simtest.Equal(t, "plain rounds", results,
		concat(4, func(i int) []uint64 { return ref.Reject(p[i:], nil, nil, b.rounds[i]).Pack(nil, 0) }))
}
