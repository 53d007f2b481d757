package gpu

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/gpu/driver"
)

// A guided round, edited or not, waits once and copies what a round without guidance does. Its rows are
// mixed by one more launch, in the graph of the edits and of a sampled verdict where there is one.
func TestGuidedRoundsWaitOnce(t *testing.T) {
	d, b, m, cache := recorded(t)
	companion, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	held := mustTokens(t, m)
	edits := fmt.Sprintf("up %d", 4*editsWords)
	for _, c := range []struct {
		sampled, edited bool
		want            []string
	}{
		{false, false, []string{"graph", "peak_rows", "argmax_rows", "accept_greedy", "down 8", "wait"}},
		{false, true, []string{edits, "graph", "peak_rows", "argmax_rows", "accept_greedy", "restore_rows", "down 8", "wait"}},
		{true, false, []string{"graph", "down 16", "wait"}},
		{true, true, []string{edits, "graph", "down 16", "wait"}},
	} {
		for round := range 4 {
			logits := guidedPass(t, m, held, c.sampled, cache, companion)
			if err := b.device.Do(func() error { return nil }); err != nil { // the pass before is queued
				t.Fatal(err)
			}
			d.log = nil
			judge := logits.(compute.Judge)
			err := judge.Guide(1.5)
			if c.edited {
				err = first(err, held.Edit(compute.NewEdits()))
			}
			if c.sampled && err == nil {
				_, err = judge.AcceptDrawn(held)
			} else if err == nil {
				_, err = judge.AcceptBest(held, make([]int32, 1))
			}
			if err != nil {
				t.Fatal(err)
			}
			if round >= 2 && !slices.Equal(d.log, c.want) {
				t.Errorf("round %d queued %q, want %q", round, d.log, c.want)
			}
			if _, syncs := logits.Moved(); syncs != 1 || logits.Rows() != 2 {
				t.Errorf("a round of %d rows waited %d times", logits.Rows(), syncs)
			}
			if cache.Len() != 2 || companion.Len() != 2 {
				t.Errorf("the caches hold %d and %d tokens", cache.Len(), companion.Len())
			}
			if err := first(cache.Truncate(0), companion.Truncate(0)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := first(held.Close(), cache.Close(), companion.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
}

// guidedPass drafts a token on the device and reads it in both sequences, from their beginning.
func guidedPass(t *testing.T, m *model.Model, held compute.Tokens, sampled bool, caches ...compute.Cache) compute.Logits {
	t.Helper()
	var by *compute.Sampling
	if sampled {
		filters := compute.Filters{Temperature: 1, TopP: 1}
		by = &compute.Sampling{Target: filters, Draft: filters, Drafts: 1, Vocab: smallest.Vocab}
	}
	if err := m.Chain(t.Context(), caches[0], []int32{5, 6}, 1, held, by); err != nil {
		t.Fatal(err)
	}
	if err := caches[0].Truncate(0); err != nil {
		t.Fatal(err)
	}
	logits, err := m.ForwardTokens(t.Context(), held, 2, caches...)
	if err != nil {
		t.Fatal(err)
	}
	return logits
}

// Both sequences read the same tokens, and each row is guided by that of the companion at its place. Afterwards the
// pass has half as many rows.
func TestGuidanceTakesTheRowsOfTheCompanion(t *testing.T) {
	d, b, m, cache := recorded(t)
	companion, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	held := mustTokens(t, m)
	if err := held.Put(0, 5, 6); err != nil {
		t.Fatal(err)
	}
	var launched []driver.Argument
	d.onRun = func(kernel string, _ driver.Shape, arguments []driver.Argument) {
		if kernel == "guide_rows" || kernel == "copy_block" {
			launched = append(launched, arguments...)
		}
	}
	scores, err := m.ForwardTokens(t.Context(), held, 2, cache, companion)
	if err != nil {
		t.Fatal(err)
	}
	l := scores.(*logits)
	if err := l.Guide(1.5); err != nil {
		t.Fatal(err)
	}
	if err := l.Row(0, make([]float32, smallest.Vocab)); err != nil {
		t.Fatal(err)
	}
	var residual driver.Pointer
	if len(launched) == 9 {
		residual = driver.Pointer(launched[1])
	}
	want := []driver.Argument{
		address(residual + 4*2*driver.Pointer(smallest.Dim)), address(residual), whole(smallest.Dim), whole(smallest.Dim), whole(0),
		address(l.x.memory), address(l.x.row(2)), real(1.5), whole(2 * smallest.Vocab),
	}
	if !slices.Equal(launched, want) {
		t.Errorf("launched with %x, want %x", launched, want)
	}
	if down := fmt.Sprintf("down %d", 4*2*smallest.Vocab); !slices.Contains(d.log, down) || l.Rows() != 2 {
		t.Errorf("reading the first of %d rows queued %q", l.Rows(), d.log)
	}
	if err := first(held.Close(), cache.Close(), companion.Close(), b.Close()); err != nil {
		t.Fatal(err)
	}
}
