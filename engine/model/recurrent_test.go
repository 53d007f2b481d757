package model_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

// A cache with states goes back to any length that it says it reaches: by rows of a short pass one by one, by a long
// pass as a whole, to a checkpoint, or to nothing. What is read from there has the bits that reading the whole text
// from its start gives. Passes that are cancelled in between leave no trace.
func TestStatesGoBack(t *testing.T) {
	for _, name := range []string{"qwen35", "lfm2", "granitehybrid-moe", "falcon-h1", "nemotron_h", "nemotron_h_moe"} {
		t.Run(name, func(t *testing.T) { statesGoBack(t, &fixture{name: name}) })
	}
}

func statesGoBack(t *testing.T, f *fixture) {
	const most = 120
	backend := newBackend(t, 1)
	open := func() (*model.Model, compute.Cache) {
		m := f.open(t, backend, model.Options{MaxTokens: most, MaxRows: 6, PrefillRows: 16})
		return m, newCache(t, m)
	}
	m, cache := open()
	whole, reference := open()
	rng := rand.New(rand.NewPCG(4, 4))
	text := randomIDs(most, m.Config().Vocab, 3)
	reached := map[bool]int{}
	for range 300 {
		n := 1 + rng.IntN(most-1)
		if rng.IntN(2) == 0 {
			n = max(1, cache.Len()-rng.IntN(6))
		}
		if n <= cache.Len() {
			reach := compute.Reach(cache, n)
			reached[reach > 0]++
			if reach > n || reach < n && cache.Truncate(n) == nil {
				t.Fatalf("of %d tokens to %d: reaches %d", cache.Len(), n, reach)
			}
			if err := cache.Truncate(reach); err != nil {
				t.Fatal(err)
			}
			copy(text[reach:], randomIDs(most-reach, m.Config().Vocab, rng.Uint64())) // another text goes on from there
		}
		if rng.IntN(4) == 0 {
			cancelled(t, m, cache, text[cache.Len():min(most, cache.Len()+1+rng.IntN(16))])
		}
		if rng.IntN(3) == 0 {
			checkpoint(t, cache)
		}
		if n > cache.Len() {
			if _, err := m.Prefill(context.Background(), cache, text[cache.Len():n], nil); err != nil {
				t.Fatal(err)
			}
		}
		if cache.Len() == 0 || cache.Len() == most {
			continue
		}
		next := text[cache.Len() : cache.Len()+1]
		logits, err := m.Forward(context.Background(), cache, next)
		if err != nil {
			t.Fatal(err)
		}
		got := scoresOf(t, logits)
		if err := reference.Truncate(0); err != nil {
			t.Fatal(err)
		}
		logits, err = whole.Prefill(context.Background(), reference, text[:cache.Len()], nil)
		if err != nil {
			t.Fatal(err)
		}
		sameRows(t, "after going back", got, scoresOf(t, logits))
	}
	if reached[true] < 20 || reached[false] < 5 {
		t.Fatalf("to a length above 0 the cache went back %d times, to 0 %d times", reached[true], reached[false])
	}
}

// cancelled begins a pass that ends in one of the layers.
func cancelled(t *testing.T, m *model.Model, cache compute.Cache, ids []int32) {
	t.Helper()
	if len(ids) == 0 {
		return
	}
	before := cache.Len()
	ctx := &countdown{Context: context.Background(), left: 2 + len(ids)/2}
	if _, err := m.Prefill(ctx, cache, ids, nil); err == nil {
		t.Fatal("the pass was not cancelled")
	}
	if cache.Len() != before {
		t.Fatalf("a pass that was cancelled left %d tokens of %d", cache.Len(), before)
	}
}
