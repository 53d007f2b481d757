package shape_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
	"specula/engine/shape"
	"specula/kernels/ref"
)

// What a device is told to do with the rows of a round gives the bits of Shape, whatever was drafted.
func TestEditsAreWhatShapersDo(t *testing.T) {
	const vocab, drafts = 40, compute.MostDrafts
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 3))
		ids := func(n int) []int32 {
			list := make([]int32, n)
			for i := range list {
				list[i] = int32(rng.IntN(vocab))
			}
			return list
		}
		list := sample.Shapers{
			shape.NewBias(map[int32]float64{int32(rng.IntN(vocab)): 3 * rng.NormFloat64(), int32(rng.IntN(vocab)): 1e300}),
			shape.NewPenalties(0.5+rng.Float64(), rng.NormFloat64(), rng.NormFloat64(), []int{-1, drafts, drafts + 5}[rng.IntN(3)]),
			shape.NewBan(ids(2)), shape.NewMinTokens(rng.IntN(20), ids(2)),
		}
		if err := list.Reset(ids(rng.IntN(60)), ids(rng.IntN(9))); err != nil {
			t.Fatal(err)
		}
		if !list.Editable() {
			t.Fatal("a device cannot do what these shapers do")
		}
		told, draft := list.Edits(), ids(drafts)
		edits := ref.Edits{Repeat: told.Repeat, Frequency: told.Frequency, Presence: told.Presence, Leaving: told.Leaving[:]}
		for _, e := range told.Tokens {
			edits.Tokens = append(edits.Tokens, ref.Edit(e))
		}
		for i := range drafts + 1 {
			row := make([]float32, vocab)
			for id := range row {
				row[id] = float32(10 * rng.NormFloat64())
			}
			want := slices.Clone(row)
			if err := list.Shape(want); err != nil {
				t.Fatal(err)
			}
			if ref.EditRow(row, edits, draft[:i]); !slices.Equal(row, want) {
				t.Fatalf("seed %d, row %d: %v, want %v", seed, i, row, want)
			}
			if i < drafts {
				list.Push(draft[i])
			}
		}
	}
	short := sample.Shapers{shape.NewPenalties(1.1, 0, 0, drafts-1)}
	if short.Editable() || (sample.Shapers{shape.NewAllow([]int32{1})}).Editable() {
		t.Error("a device is told to count tokens that leave the window within a round, or to allow a few tokens")
	}
}
