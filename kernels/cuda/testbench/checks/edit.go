package checks

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// editedDrafts is the length of the list of leaving tokens. See kernels/cuda/src/edits.cu.
const editedDrafts = 32

// editWords are edits as the kernels read them.
func editWords(e ref.Edits) []int32 {
	bits := func(f float32) int32 { return int32(math.Float32bits(f)) }
	words := []int32{int32(len(e.Tokens)), bits(e.Repeat), bits(e.Frequency), bits(e.Presence)}
	words = append(words, e.Leaving...)
	for range editedDrafts - len(e.Leaving) {
		words = append(words, -1)
	}
	for _, t := range e.Tokens {
		words = append(words, t.ID, t.Count, bits(t.Bias), t.Banned)
	}
	return words
}

// someEdits makes edits of a vocabulary, and a draft that repeats listed and other tokens.
func someEdits(r *rand.Rand, vocab, listed, drafts int) (e ref.Edits, draft []int32) {
	e = ref.Edits{Repeat: 1.3, Frequency: 0.4, Presence: -0.7}
	ids := map[int32]bool{}
	for range listed {
		ids[int32(r.IntN(vocab+2))] = true // some are outside the vocabulary
	}
	var counted []int32
	for _, id := range slices.Sorted(maps.Keys(ids)) { // in this order, so that all runs draw the same edits
		t := ref.Edit{ID: id, Count: int32(r.IntN(4))}
		for range t.Count {
			counted = append(counted, id)
		}
		switch r.IntN(6) {
		case 0:
			t.Bias = float32(10 * r.NormFloat64())
		case 1:
			t.Bias = float32(math.Copysign(3e38, r.NormFloat64()))
		case 2:
			t.Banned = int32(r.IntN(drafts + 2))
		}
		e.Tokens = append(e.Tokens, t)
	}
	r.Shuffle(len(counted), func(i, j int) { counted[i], counted[j] = counted[j], counted[i] })
	for i := range drafts {
		draft = append(draft, int32(r.IntN(vocab)))
		if i%3 == 2 {
			draft[i] = draft[i-1]
		}
		leaves := int32(-1)
		if i < len(counted) && r.IntN(3) > 0 {
			leaves = counted[i]
		}
		e.Leaving = append(e.Leaving, leaves)
	}
	if drafts > 3 {
		draft[drafts-1] = -1 // no token could be drawn
	}
	return e, draft
}

func checkEditRows(t testing.TB, load Load) {
	kernels := load(t, "edits")
	for _, c := range []struct{ vocab, listed, drafts, blocks int }{
		{1, 0, 0, 1}, {10, 4, 1, 1}, {33, 20, 3, 2}, {1400, 300, len(rowKinds) - 1, 1}, {1400, 700, len(rowKinds) - 1, 3},
	} {
		r := rand.New(rand.NewPCG(5, uint64(c.vocab+c.listed)))
		e, draft := someEdits(r, c.vocab, c.listed, c.drafts)
		for _, off := range []bool{false, true} {
			if off {
				e.Repeat = 0
			}
			rows := c.drafts + 1
			before := oddRows(3, c.vocab)[:rows*c.vocab]
			for _, t := range e.Tokens {
				if t.Bias > 1e38 && int(t.ID) < c.vocab { // the sum is no float32
					rowOf(before, 0, c.vocab)[t.ID] = t.Bias
				}
			}
			scores, want := slices.Clone(before), slices.Clone(before)
			for i := range rows {
				ref.EditRow(rowOf(want, i, c.vocab), e, draft[:i])
			}
			most := len(e.Tokens) + rows
			saved, words := make([]int32, 2*rows*most), editWords(e)
			name := fmt.Sprintf("V=%d, %d listed, %d drafted, penalties %v", c.vocab, len(e.Tokens), c.drafts, !off)
			grid := simtest.Grid(c.blocks, rows)
			kernels.Run("edit_rows", grid, simtest.Block(64), 0, scores, words, draft, saved, int32(most), int32(c.vocab))
			simtest.Equal(t, name, scores, want)
			kernels.Run("restore_rows", grid, simtest.Block(64), 0, scores, words, saved, int32(most), int32(c.vocab))
			simtest.Equal(t, name+" restored", scores, before)
		}
	}
}
