package gpu

import (
	"fmt"
	"slices"
	"testing"

	"specula/engine/compute"
)

// A draft step under edits and masks waits once, and the token comes to the host in place of a row, with its
// probability if it is drawn.
func TestAPickIsOneWait(t *testing.T) {
	for _, drawn := range []bool{false, true} {
		d, b, m, cache := recorded(t)
		held := mustTokens(t, m)
		filters := compute.Filters{Temperature: 1, TopP: 1}
		edits := compute.NewEdits()
		edits.Repeat, edits.Allowed = 1.1, make([]uint64, compute.MaskWords(smallest.Vocab))
		down := "down 4"
		if drawn {
			down = "down 8"
		}
		for step := range 4 {
			must(t, held.Sample(compute.Sampling{Target: filters, Draft: filters, Drafts: 3, Vocab: smallest.Vocab}))
			scores, err := m.Prefill(t.Context(), cache, []int32{5}, nil)
			must(t, err)
			must(t, first(held.Edit(edits), b.device.Do(func() error { return nil }))) // the pass is queued
			d.log = nil
			_, err = scores.(compute.Picker).Pick(held, 2, drawn)
			must(t, err)
			want := []string{fmt.Sprintf("up %d", 8*len(edits.Allowed)), fmt.Sprintf("up %d", 4*editsWords), "graph", down, "wait"}
			got := slices.DeleteFunc(d.log, func(s string) bool { return s == "record" || s == "wait event" })
			if step >= 2 && !slices.Equal(got, want) {
				t.Errorf("step %d queued %q, want %q", step, got, want)
			}
			if bytes, waits := scores.Moved(); waits != 1 || fmt.Sprint("down ", bytes) != down {
				t.Errorf("step %d moved %d bytes with %d waits", step, bytes, waits)
			}
		}
		must(t, first(held.Close(), cache.Close(), b.Close()))
	}
}

// What a draft reserves that the device picks under edits and masks, with all its scores kept for the screen, is in
// the plan of the draft model.
func TestPickedDraftsFitThePlan(t *testing.T) {
	_, b, m, cache := recorded(t)
	held := mustTokens(t, m)
	reserved := func() (bytes int64) {
		for _, n := range b.allocated {
			bytes += n
		}
		return bytes
	}
	const drafts = 3
	filters := compute.Filters{Temperature: 1, TopP: 0.9}
	edits := compute.NewEdits()
	edits.Repeat, edits.Allowed = 1.1, make([]uint64, compute.MaskWords(smallest.Vocab))
	for id := range int32(smallest.Vocab) {
		edits.Tokens = append(edits.Tokens, compute.Edit{ID: id, Count: 1})
	}
	_, err := m.Prefill(t.Context(), cache, []int32{5}, nil) // reserves the angles of positions
	must(t, err)
	before := reserved()
	must(t, held.Sample(compute.Sampling{Target: filters, Draft: filters, Drafts: drafts, Vocab: smallest.Vocab, Keep: drafts}))
	for i := range drafts {
		scores, err := m.Prefill(t.Context(), cache, []int32{5}, nil)
		must(t, first(err, held.Edit(edits)))
		_, err = scores.(compute.Picker).Pick(held, i+1, true)
		must(t, err)
	}
	const rows = 4
	shape := compute.CacheShape{Layers: 1, Tokens: 64, KVHeads: 1, HeadDim: 32}
	planned := b.ScratchBytes([][2]int{{rows, smallest.Vocab}}, shape) - attentionBytes(shape, rows) - 2*roundedBytes(rows, smallest.Vocab)
	if took := reserved() - before; took > planned {
		t.Errorf("the draft reserved %d bytes, and %d are planned", took, planned)
	}
	must(t, first(held.Close(), cache.Close(), b.Close()))
}
