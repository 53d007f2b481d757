package shape_test

import (
	"errors"
	"math"
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
	words := shape.NewVocabulary(slices.Repeat(vocabulary(10), vocab/10))
	rows := 0 // after draft tokens that may be written
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
			shape.NewBan(ids(2)), shape.NewAllow(ids(vocab)), shape.NewBadWords(words, []string{"ab", "cc"}), shape.NewMinTokens(rng.IntN(20), ids(2)),
		}
		if err := list.Reset(ids(rng.IntN(60)), ids(rng.IntN(9))); err != nil {
			t.Fatal(err)
		}
		if !list.Editable() {
			t.Fatal("a device cannot do what these shapers do")
		}
		draft := ids(drafts)
		told, err := list.Edits(draft, vocab)
		if err != nil {
			t.Fatal(err)
		}
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
			if err := list.Shape(want); err != nil && !errors.Is(err, sample.ErrNothingLeft) {
				t.Fatal(err)
			}
			ref.EditRow(row, edits, draft[:i])
			if ref.MaskRow(row, told.Allowed[i:i+1]); !slices.Equal(row, want) {
				t.Fatalf("seed %d, row %d: %v, want %v", seed, i, row, want)
			}
			if i == drafts || row[draft[i]] < -math.MaxFloat32 {
				rows += i
				break
			}
			list.Push(draft[i])
		}
	}
	if rows < 100 {
		t.Errorf("only %d rows stand after a draft token that may be written", rows)
	}
	short := sample.Shapers{shape.NewPenalties(1.1, 0, 0, drafts-1)}
	if short.Editable() || (sample.Shapers{shape.NewDry(0.8, 1.75, 2, -1, nil)}).Editable() {
		t.Error("a device is told to count tokens that leave the window within a round, or to look for repetitions")
	}
}
