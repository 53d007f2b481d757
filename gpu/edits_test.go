package gpu

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// A round of edited rows, whatever their edits, waits once and copies what a round without edits does. It
// replays graphs, and restores the scores after the verdict.
func TestEditedRoundsAreOneWait(t *testing.T) {
	d, b, m, cache := recorded(t)
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
			logits, err := m.ForwardTokens(t.Context(), tokens, 4, cache)
			if err != nil {
				t.Fatal(err)
			}
			if err := b.device.Do(func() error { return nil }); err != nil { // the pass before is queued
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

// edited is a pass over four tokens on the recorder, whose verdict will judge edited rows: the whole
// vocabulary is edited.
func edited(t *testing.T) (*recorder, *Backend, compute.Tokens, compute.Logits) {
	t.Helper()
	d, b, m, cache := recorded(t)
	tokens := mustTokens(t, m)
	logits, err := m.Forward(t.Context(), cache, []int32{1, 2, 3, 4})
	if err != nil {
		t.Fatal(err)
	}
	edits := compute.NewEdits()
	for id := range int32(smallest.Vocab) {
		edits.Tokens = append(edits.Tokens, compute.Edit{ID: id, Count: 1})
	}
	filters := compute.Filters{Temperature: 1, TopP: 1}
	err = first(tokens.Sample(compute.Sampling{Target: filters, Draft: filters, Drafts: 3, Vocab: smallest.Vocab, Certain: true}),
		tokens.Put(1, 2, 3, 4), tokens.Edit(edits))
	if err != nil {
		t.Fatal(err)
	}
	return d, b, tokens, logits
}

// Edits are of one verdict, and its kernel gets the draft, which follows the first token. The next verdict edits
// nothing.
func TestEditsAreOfOneVerdictAndItsDraft(t *testing.T) {
	d, b, held, logits := edited(t)
	var drafts []driver.Argument // of each edit
	d.onRun = func(kernel string, _ driver.Shape, arguments []driver.Argument) {
		if kernel == "edit_rows" {
			drafts = append(drafts, arguments[2])
		}
	}
	for range 2 {
		if _, err := logits.(compute.Judge).AcceptDrawn(held); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.device.Do(func() error { return nil }); err != nil { // all is queued
		t.Fatal(err)
	}
	if want := []driver.Argument{address(held.(*tokens).chosen(1))}; !slices.Equal(drafts, want) {
		t.Errorf("edits with the drafts %x, want %x", drafts, want)
	}
}

// A verdict for which there is no memory leaves the rows as the model gave them.
func TestAVerdictThatFailsRestoresItsRows(t *testing.T) {
	d, b, tokens, logits := edited(t)
	if err := b.device.Do(func() error { return nil }); err != nil { // the pass before is queued
		t.Fatal(err)
	}
	d.log = nil
	d.failAt, d.failure = d.calls+2, compute.ErrOutOfMemory // the first call reserves memory for the old scores
	if _, err := logits.(compute.Judge).AcceptDrawn(tokens); !errors.Is(err, compute.ErrOutOfMemory) {
		t.Fatalf("the error is %v", err)
	}
	if err := logits.Row(0, make([]float32, smallest.Vocab)); err != nil {
		t.Fatal(err)
	}
	edit, restore := slices.Index(d.log, "edit_rows"), slices.Index(d.log, "restore_rows")
	if edit < 0 || restore < edit || restore > slices.Index(d.log, "wait") {
		t.Errorf("queued %q before the rows are read", d.log)
	}
}

// What a round of edited and masked rows reserves is in the plan.
func TestThePlanHasEditedScores(t *testing.T) {
	_, b, held, logits := edited(t)
	held.(*tokens).editing.due.Allowed = make([]uint64, 4*compute.MaskWords(smallest.Vocab))
	reserved := func() (bytes int64) {
		for _, n := range b.allocated {
			bytes += n
		}
		return bytes
	}
	before := reserved()
	if _, err := logits.(compute.Judge).AcceptDrawn(held); err != nil {
		t.Fatal(err)
	}
	const rows = 4
	shape := compute.CacheShape{Layers: 1, Tokens: 64, KVHeads: 1, HeadDim: 32}
	planned := b.ScratchBytes([][2]int{{rows, smallest.Vocab}}, shape) - attentionBytes(shape, rows) - 2*roundedBytes(rows, smallest.Vocab)
	if took := reserved() - before; took > planned {
		t.Errorf("the verdict reserved %d bytes, and %d are planned for verdicts", took, planned)
	}
}
