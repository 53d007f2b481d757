package spec

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
)

func newCascade(t *testing.T, m Model, vocab int) Proposer {
	return NewCascade("combined", []Proposer{NewSuffix(nil)}, newDraft(t, m, vocab), true)
}

func TestACascadeAsksWhoIsSure(t *testing.T) {
	repeating := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8}
	for _, c := range []struct {
		name    string
		context []int32
		by      string
	}{
		{"a long match", repeating, "suffix"},
		{"a short one", []int32{1, 2, 3, 1}, "draft"},
		{"none", []int32{1, 2, 3}, "draft"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newCascade(t, &history{vocab: 50, capacity: 1000}, 50)
			_, err := p.Begin(c.context)
			must(t, err)
			a := ask(2, 0)
			a.Trust = 0.4
			draft, err := p.Propose(t.Context(), a)
			must(t, err)
			if draft.By != c.by || draft.ByWhy == "" || len(draft.Tokens) != 2 {
				t.Errorf("%d tokens by %q because of %q, want it by %s", len(draft.Tokens), draft.By, draft.ByWhy, c.by)
			}
		})
	}
}

// The model reads when it is asked for a draft, and then at once everything that it missed.
func TestACascadeReadsLazily(t *testing.T) {
	m := &history{vocab: 50, capacity: 1000}
	p := newCascade(t, m, 50)
	context := []int32{1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5}
	_, err := p.Begin(context)
	must(t, err)
	for round := range 3 {
		_, err := p.Propose(t.Context(), Ask{Gamma: 1, Trust: 0.2, Params: warm, Uniforms: ask(1, round).Uniforms})
		must(t, err)
		must(t, p.Committed([]int32{int32(6 + round)}))
	}
	if len(m.passes) != 0 || p.Len() != 0 {
		t.Fatalf("the model read %v before it was asked", m.passes)
	}
	must(t, p.Committed([]int32{30, 31})) // tokens that are new to both
	draft, err := readFirst(t, p, ask(2, 9))
	must(t, err)
	context = append(context, 6, 7, 8, 30, 31)
	if draft.By != "draft" || !slices.Equal(m.passes[0], context[:len(context)-1]) || draft.Pending != 1 {
		t.Errorf("drafted by %s, %d pending; the model's first pass read %v, want %v without the last", draft.By, draft.Pending, m.passes[0], context)
	}
	if want := fresh(t, context, ask(2, 9)); !slices.Equal(draft.Tokens, want.Tokens) {
		t.Errorf("drafted %v, want %v", draft.Tokens, want.Tokens)
	}
}

// Whatever happened in earlier rounds, the model drafts like one that has just read the context.
func TestACascadeFollowsLikeAFreshModel(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 2))
	by := map[string]int{}
	for range 60 {
		m := &history{vocab: 50, capacity: 1000}
		p := newCascade(t, m, 50)
		block := random(rng, 1+rng.IntN(10)) // a block of text that is repeated
		context, at := slices.Clone(block), 0
		_, err := p.Begin(context)
		must(t, err)
		for round := range 15 {
			a := ask(1+rng.IntN(4), round)
			a.Trust = 0.2
			if rng.IntN(5) == 0 {
				stop := len(context) + rng.IntN(2) // the pass to cancel: the first or a later one
				m.fault = func(length int) error {
					if length > stop {
						return errCancelled
					}
					return nil
				}
			}
			draft, err := readFirst(t, p, a)
			m.fault = nil
			if err != nil && !errors.Is(err, errCancelled) {
				t.Fatal(err)
			}
			by[draft.By]++
			if want := fresh(t, context, a); err == nil && draft.By == "draft" && !slices.Equal(draft.Tokens, want.Tokens) {
				t.Fatalf("round %d: %v, want %v", round, draft.Tokens, want.Tokens)
			}
			var committed []int32
			switch {
			case err != nil:
			case rng.IntN(5) > 0:
				committed = []int32{block[at%len(block)], block[(at+1)%len(block)]}
				at += 2
			default:
				committed = append(slices.Clone(draft.Tokens[:rng.IntN(len(draft.Tokens)+1)]), few(rng, 1)...)
			}
			must(t, p.Committed(committed))
			context = append(context, committed...)
		}
	}
	if by["suffix"] < 20 || by["draft"] < 20 {
		t.Errorf("rounds by %v, want many of each", by)
	}
}

// errCancelled is the error of a cancelled pass. (context.Canceled is hidden by the tests' variable
// context.)
var errCancelled = context.Canceled

func TestACascadePassesOnThatThereIsNoDraft(t *testing.T) {
	m := &history{vocab: 50, capacity: 1000, poison: true}
	p := newCascade(t, m, 50)
	_, err := p.Begin([]int32{1, 2, 3})
	must(t, err)
	if _, err := p.Propose(t.Context(), ask(2, 0)); !errors.Is(err, ErrNoDraft) || !errors.Is(err, compute.ErrNotFinite) {
		t.Errorf("error %v", err)
	}
	must(t, p.Committed(nil))
	must(t, p.Reset())
	if p.Len() != 0 {
		t.Errorf("%d tokens after a reset", p.Len())
	}
}
