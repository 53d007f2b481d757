package spec

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/sample"
)

// chaining is a Chainer: a model that drafts several tokens by itself, as on a device.
type chaining struct {
	*history
	chains int
}

// onDevice are tokens on a pretended device: only Get shows them.
type onDevice struct {
	compute.Tokens
	ids    []int32
	closed bool
}

func (t *onDevice) Get(at int, dst []int32) error { copy(dst, t.ids[at:]); return nil }
func (t *onDevice) Close() error                  { t.closed = true; return nil }

func (m *chaining) Feeds() bool { return true }
func (m *chaining) Tokens(n int) (compute.Tokens, error) {
	return &onDevice{ids: make([]int32, n)}, nil
}

func (m *chaining) Chain(ctx context.Context, cache compute.Cache, ids []int32, n int, t compute.Tokens, _ *compute.Sampling) error {
	m.chains++
	start, to := cache.Len(), t.(*onDevice).ids
	to[0] = ids[len(ids)-1]
	for i := range n {
		logits, err := m.Prefill(ctx, cache, ids, nil)
		if err != nil {
			return errors.Join(err, cache.Truncate(start))
		}
		if err := logits.Argmax(to[i+1 : i+2]); err != nil {
			to[i+1] = -1
			ids = []int32{0}
			continue
		}
		ids = to[i+1 : i+2]
	}
	return nil
}

func greedyAsk(gamma, round int) Ask {
	a := ask(gamma, round)
	a.Params = sample.Params{TopP: 1}
	return a
}

// Whatever was accepted, abandoned or begun anew, a chain drafts what single steps would draft,
// with or without a queued pass of the target.
func TestAChainDraftsLikeSingleSteps(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 1))
	m := &chaining{history: &history{vocab: 50, capacity: 1000}}
	d := newDraft(t, m, 50)
	var committed []int32
	for round := range 300 {
		if round == 0 || rng.IntN(25) == 0 {
			keep := rng.IntN(len(committed) + 1)
			committed = append(committed[:keep:keep], random(rng, 1+rng.IntN(9))...)
			_, err := d.Begin(committed)
			must(t, err)
		}
		a, shown := greedyAsk(rng.IntN(6), round), []int32(nil)
		a.IsStop = func(id int32) bool { return id%7 == 3 }
		want := fresh(t, committed, a)
		if round%2 == 0 {
			a.OnDevice = true
		}
		if countdown := rng.IntN(8); rng.IntN(6) == 0 {
			m.fault = func(int) error {
				if countdown--; countdown < 0 {
					return context.Canceled
				}
				return nil
			}
		}
		draft, err := readFirst(t, d, a)
		if on := draft.Device; on != nil && err == nil {
			shown = slices.Clone(on.Tokens.(*onDevice).ids[:on.N+1])
			err = on.Seen(&draft, shown[1:], nil)
		}
		m.fault = nil
		var news []int32
		switch {
		case err != nil && !errors.Is(err, context.Canceled):
			t.Fatal(err)
		case err == nil:
			if !slices.Equal(draft.Tokens, want.Tokens) || draft.Stop != want.Stop {
				t.Fatalf("round %d: drafted %v %q, want %v %q", round, draft.Tokens, draft.Stop, want.Tokens, want.Stop)
			}
			if a.OnDevice && a.Gamma > 0 && (len(shown) != a.Gamma+1 || shown[0] != committed[len(committed)-1]) {
				t.Fatalf("round %d: the device has %v after %v", round, shown, committed)
			}
			kept := rng.IntN(len(draft.Tokens) + 1)
			news = append(slices.Clone(draft.Tokens[:kept]), random(rng, rng.IntN(3))...)
		}
		committed = append(committed, news...)
		must(t, d.Committed(news))
		cached := d.cache.(*tape).ids
		if d.Len() > len(committed)-1 || !slices.Equal(cached, committed[:len(cached)]) {
			t.Fatalf("round %d: cache %v of committed %v", round, cached, committed)
		}
	}
	if m.chains < 200 {
		t.Errorf("only %d chains", m.chains)
	}
	tokens := d.tokens.(*onDevice)
	if err := d.Close(); err != nil || !tokens.closed {
		t.Errorf("closed %v, error %v", tokens.closed, err)
	}
}

func TestAChainStaysInsideItsCache(t *testing.T) {
	m := &chaining{history: &history{vocab: 50, capacity: 8}}
	d := newDraft(t, m, 50)
	_, err := d.Begin([]int32{1, 2, 3, 4, 5, 6})
	must(t, err)
	draft, err := d.Propose(t.Context(), greedyAsk(5, 0))
	must(t, err)
	if len(draft.Tokens) != 3 || draft.Stop != "draft context full: 8 tokens" {
		t.Errorf("%d tokens, stop %q; want 3", len(draft.Tokens), draft.Stop)
	}
	must(t, d.Committed(append(draft.Tokens, 7)))
	draft, err = d.Propose(t.Context(), greedyAsk(5, 1))
	if err != nil || len(draft.Tokens) != 0 {
		t.Errorf("after a full cache: %v, stop %q, %v", draft.Tokens, draft.Stop, err)
	}
}

func TestAChainOfScoresThatAreNoNumbersGivesNoDraft(t *testing.T) {
	m := &chaining{history: &history{vocab: 50, capacity: 100, poison: true}}
	d := newDraft(t, m, 50)
	_, err := d.Begin([]int32{1, 2, 3})
	must(t, err)
	if draft, err := d.Propose(t.Context(), greedyAsk(3, 0)); !errors.Is(err, ErrNoDraft) || len(draft.Tokens) != 0 {
		t.Errorf("%v, error %v", draft.Tokens, err)
	}
	must(t, d.Committed([]int32{4}))
	if d.Len() > 3 {
		t.Errorf("the cache holds %d tokens", d.Len())
	}
}

// If a token's scores are wanted, or a sampled draft is not for the device or has uniforms that no device can
// compute, the draft is made in single steps.
func TestWhoWantsScoresGetsNoChain(t *testing.T) {
	m := &chaining{history: &history{vocab: 50, capacity: 100}}
	d := newDraft(t, m, 50)
	_, err := d.Begin([]int32{1, 2, 3})
	must(t, err)
	inspected, here, ours := greedyAsk(2, 0), ask(2, 0), ask(2, 0)
	inspected.Inspect, inspected.OnDevice = true, true
	ours.Uniforms, ours.OnDevice = struct{ sample.Uniforms }{ours.Uniforms}, true // uniforms that no device can compute
	for _, a := range []Ask{inspected, here, ours} {
		if draft, err := d.Propose(t.Context(), a); err != nil || len(draft.Tokens) != 2 || m.chains > 0 {
			t.Errorf("%v in %d chains, error %v", draft.Tokens, m.chains, err)
		}
		must(t, d.Committed(nil))
	}
}
