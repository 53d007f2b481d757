package gpu

import (
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

// A sampled round, whatever its seed, its number and the values of its filters, is three graphs
// (draft, pass, verdict), one copy of eight bytes per row, and one wait. The same holds when the
// draft comes from the host.
func TestADrawnDraftAndItsVerdictAreOneWait(t *testing.T) {
	d, b, m, draftCache := recorded(t)
	targetCache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	drawn, put := mustTokens(t, m), mustTokens(t, m)
	var by compute.Sampling
	judge := func(l compute.Logits, tokens compute.Tokens) {
		t.Helper()
		d.down = 1 // every byte
		verdict, err := l.(compute.Judge).AcceptDrawn(tokens)
		if err != nil || verdict.Accepted != 1 || verdict.Follows != 0x010101 ||
			len(verdict.Draft) != 3 || verdict.Draft[2].ID != 0x010101 {
			t.Errorf("verdict %+v, error %v", verdict, err)
		}
		want := int64(32)
		if by.Judgement == compute.WholeBlock {
			want += 4 * 3 // bounds
		}
		if bytes, syncs := l.Moved(); bytes != want || syncs != 1 {
			t.Errorf("%d bytes moved with %d waits", bytes, syncs)
		}
		if err := first(draftCache.Truncate(0), targetCache.Truncate(0)); err != nil {
			t.Fatal(err)
		}
	}
	for i := range uint32(4 * len(judgements)) {
		round, judgement := i%4, judgements[i/4]
		filters := compute.Filters{Temperature: 0.5 + float64(round), TopP: 0.9, TopK: int(round)}
		by = compute.Sampling{Target: filters, Draft: filters, Seed: uint64(round) << 33, Reply: 2,
			Round: round, Drafts: 3, Vocab: smallest.Vocab, Judgement: judgement, Written: int(5 * i)}
		down := "down 32"
		if judgement == compute.WholeBlock {
			down = "down 44"
		}
		d.log = nil
		if err := m.Chain(t.Context(), draftCache, []int32{5, 6}, 3, drawn, &by); err != nil {
			t.Fatal(err)
		}
		logits, err := m.ForwardTokens(t.Context(), drawn, 4, targetCache)
		if err != nil {
			t.Fatal(err)
		}
		judge(logits, drawn)
		if want := []string{"up 92", "graph", "up 4", "graph", "graph", down, "wait"}; round >= 2 &&
			!slices.Equal(d.log, want) {
			t.Errorf("judgement %d, round %d queued %q, want %q", judgement, round, d.log, want)
		}

		d.log = nil
		by.Certain = true
		if logits, err = m.Forward(t.Context(), targetCache, []int32{5, 6, 7, 8}); err != nil {
			t.Fatal(err)
		}
		if err := first(put.Sample(by), put.Put(1, 6, 7, 8)); err != nil {
			t.Fatal(err)
		}
		judge(logits, put)
		if want := []string{"up 20", "graph", "up 80", "graph", down, "wait"}; round >= 2 &&
			!slices.Equal(d.log, want) {
			t.Errorf("judgement %d, round %d with a draft of the host's queued %q, want %q", judgement, round, d.log, want)
		}
	}
	for _, end := range []func() error{drawn.Close, put.Close, draftCache.Close, targetCache.Close, b.Close} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if kept := d.kept(); len(kept) > 0 {
		t.Errorf("left %v", kept)
	}
}

func mustTokens(t *testing.T, m *model.Model) compute.Tokens {
	tokens, err := m.Tokens(5)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// A round at temperature 0 is two graphs (the draft, with its tokens fed back, and the
// verification pass), one copy of four bytes per row, and one wait.
func TestADraftAndItsVerdictAreOneWait(t *testing.T) {
	d, b, draft, draftCache := recorded(t)
	target, err := model.Load(t.Context(), b, file(t), model.Options{MaxTokens: 64, MaxRows: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	targetCache, err := target.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := draft.Tokens(4)
	if err != nil {
		t.Fatal(err)
	}
	round := func() {
		d.log = nil
		if err := draft.Chain(t.Context(), draftCache, []int32{5, 6}, 3, tokens, nil); err != nil {
			t.Fatal(err)
		}
		logits, err := target.ForwardTokens(t.Context(), tokens, 4, targetCache)
		if err != nil {
			t.Fatal(err)
		}
		d.down = 1 // every byte
		drafts := make([]int32, 3)
		verdict, err := logits.(compute.Judge).AcceptBest(tokens, drafts)
		if err != nil || verdict.Accepted != 1 || verdict.Follows != 0x010101 || drafts[2] != 0x01010101 {
			t.Errorf("verdict %+v of %v, error %v", verdict, drafts, err)
		}
		if bytes, syncs := logits.Moved(); bytes != 16 || syncs != 1 {
			t.Errorf("%d bytes moved with %d waits", bytes, syncs)
		}
		if draftCache.Len() != 4 || targetCache.Len() != 4 {
			t.Errorf("the caches hold %d and %d tokens", draftCache.Len(), targetCache.Len())
		}
		if err := first(draftCache.Truncate(0), targetCache.Truncate(0)); err != nil {
			t.Fatal(err)
		}
	}
	for range 3 {
		round()
	}
	want := []string{"up 24", "graph", "up 4", "graph", "peak_rows", "argmax_rows", "accept_greedy",
		"down 16", "wait"}
	if !slices.Equal(d.log, want) {
		t.Errorf("a round queued %q, want %q", d.log, want)
	}
	for _, end := range []func() error{tokens.Close, draftCache.Close, targetCache.Close, b.Close} {
		if err := end(); err != nil {
			t.Error(err)
		}
	}
	if kept := d.kept(); len(kept) > 0 {
		t.Errorf("left %v", kept)
	}
}
