package gpu

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

// A round of edited rows, whatever their edits, waits once and copies what a round without edits does. It
// replays graphs, and restores the scores after the verdict.
func TestEditedRoundsAreOneWait(t *testing.T) {
	d := newRecorder(t)
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(t.Context(), b, file(t), model.Options{MaxTokens: 64, MaxRows: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	tokens := mustTokens(t, m)
	edits := compute.NewEdits()
	for round := range int32(4) {
		edits.Tokens = append(edits.Tokens, compute.Edit{ID: round, Count: 1 + round})
		filters := compute.Filters{Temperature: 1, TopP: 1}
		for _, by := range []*compute.Sampling{nil, {Target: filters, Draft: filters, Drafts: 3, Vocab: smallest.Vocab}} {
			if err := m.Chain(t.Context(), cache, []int32{5, 6}, 3, tokens, by); err != nil {
				t.Fatal(err)
			}
			if err := cache.Truncate(0); err != nil {
				t.Fatal(err)
			}
			logits, err := m.ForwardTokens(t.Context(), cache, tokens, 4)
			if err != nil {
				t.Fatal(err)
			}
			d.log = nil
			if err := tokens.Edit(edits); err != nil {
				t.Fatal(err)
			}
			want := []string{fmt.Sprintf("up %d", 4*(editsWords+editWords*len(edits.Tokens))), "graph"}
			judge := logits.(compute.Judge)
			if by == nil {
				_, err = judge.AcceptBest(tokens, make([]int32, 3))
				want = append(want, "peak_rows", "argmax_rows", "accept_greedy", "restore_rows", "down 16", "wait")
			} else {
				_, err = judge.AcceptDrawn(tokens)
				want = append(want, "down 32", "wait")
			}
			if err != nil {
				t.Fatal(err)
			}
			// The pass before may still be queued: its steps come first.
			if n := len(d.log) - len(want); round >= 2 && (n < 0 || !slices.Equal(d.log[n:], want)) {
				t.Errorf("round %d queued %q, want %q", round, d.log, want)
			}
			if _, syncs := logits.Moved(); syncs != 1 {
				t.Errorf("round %d waited %d times", round, syncs)
			}
			if err := cache.Truncate(0); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := first(tokens.Close(), cache.Close()); err != nil {
		t.Fatal(err)
	}
}
