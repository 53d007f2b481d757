package spec

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// After Begin, a model reads nothing until it is asked for a draft. If it then has many tokens to read, it
// reads them apart from drafting. The draft is the same.
func TestReadingIsPutOff(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for range 100 {
		m := &history{vocab: 50, capacity: 1000}
		d := newDraft(t, m, 50)
		context := random(rng, 1+rng.IntN(30))
		_, err := d.Begin(context)
		must(t, err)
		for range rng.IntN(4) {
			more := random(rng, 1+rng.IntN(5))
			must(t, d.Committed(more))
			context = append(context, more...)
		}
		missed := len(context) - 1
		if len(m.passes) != 0 || d.Unread() != missed {
			t.Fatalf("%d passes, %d tokens unread, want %d", len(m.passes), d.Unread(), missed)
		}
		want, told := 0, 0
		if missed > mostMissed {
			want = missed
		}
		draft, err := d.Propose(t.Context(), ask(3, 0))
		must(t, err)
		if told = draft.Unread; told > 0 {
			must(t, d.Read(t.Context(), nil))
			if len(draft.Tokens) > 0 || d.Len() != missed {
				t.Errorf("%d tokens drafted before reading, %d of %d read", len(draft.Tokens), d.Len(), missed)
			}
			draft, err = d.Propose(t.Context(), ask(3, 0))
			must(t, err)
		}
		if told != want || draft.Pending != len(context)-want || d.Unread() != 0 {
			t.Errorf("of %d tokens %d were to be read apart, %d pending, %d unread", len(context), told, draft.Pending, d.Unread())
		}
		if want := fresh(t, context, ask(3, 0)); !slices.Equal(draft.Tokens, want.Tokens) {
			t.Errorf("drafted %v, want %v", draft.Tokens, want.Tokens)
		}
	}
}

// What was read before an error stays in the cache; the next round reads the rest.
func TestReadingMayBeCutShort(t *testing.T) {
	m := &history{vocab: 50, capacity: 1000}
	d := newDraft(t, m, 50)
	context := random(rand.New(rand.NewPCG(6, 2)), 30)
	_, err := d.Begin(context)
	must(t, err)
	m.fault = func(length int) error {
		if length > 20 {
			return errCancelled
		}
		return nil
	}
	a := ask(2, 0)
	if err := d.Read(t.Context(), nil); err == nil {
		t.Fatal("reading did not fail")
	}
	must(t, d.Committed(nil))
	if d.Len() != 20 || d.Unread() != 9 {
		t.Errorf("%d tokens in the cache, %d unread", d.Len(), d.Unread())
	}
	m.fault = nil
	draft, err := readFirst(t, d, a)
	must(t, err)
	if want := fresh(t, context, ask(2, 0)); !slices.Equal(draft.Tokens, want.Tokens) {
		t.Errorf("drafted %v, want %v", draft.Tokens, want.Tokens)
	}
}
