package model_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights/gguf"
)

// countdown is a context that is cancelled once Err was called left times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

var errBroken = errors.New("the device broke")

// failing is a backend whose product number left fails, counted from 1; 0: none.
type failing struct {
	*host.Backend
	left int
}

func (f *failing) MatMul(dst, x compute.Buffer, m int, w compute.Matrix) error {
	if f.left--; f.left == 0 {
		return errBroken
	}
	return f.Backend.MatMul(dst, x, m, w)
}

func TestStoppedPassLeavesTheCache(t *testing.T) {
	const read = 4
	backend := &failing{Backend: newBackend(t, 1)}
	shape := &tiny{name: "stopped", arch: "qwen3", heads: 4, kvHeads: 2, headDim: 16, qkNorm: true, tied: true}
	m, err := model.Load(context.Background(), backend, shape.build(t), model.Options{MaxTokens: 40, MaxRows: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids, before := randomIDs(8, tinyVocab, 1), randomIDs(read, tinyVocab, 2)
	cache := newCache(t, m)
	if _, err := m.Prefill(context.Background(), cache, before, nil); err != nil {
		t.Fatal(err)
	}
	want := runSteps(t, m, cache, ids, 1)
	forward := func(ctx context.Context) error {
		_, err := m.Forward(ctx, cache, ids[:3])
		return err
	}
	prefill := func(ctx context.Context) error {
		_, err := m.Prefill(ctx, cache, ids, nil)
		return err
	}
	const products = 7 // per layer
	for _, c := range []struct {
		name    string
		run     func(context.Context) error
		stop    func() context.Context
		want    error
		advance int
	}{
		{"forward, cancelled at the first product", forward, func() context.Context { return &countdown{context.Background(), 0} }, context.Canceled, 0},
		{"forward, cancelled in a layer", forward, func() context.Context { return &countdown{context.Background(), 3} }, context.Canceled, 0},
		{"forward, cancelled at the scores", forward, func() context.Context { return &countdown{context.Background(), products * tinyLayers} }, context.Canceled, 0},
		{"prefill, cancelled in the third pass", prefill, func() context.Context { return &countdown{context.Background(), 2*products*tinyLayers + 1} }, context.Canceled, 6},
		{"forward, broken", forward, func() context.Context { backend.left = 5; return context.Background() }, errBroken, 0},
		{"forward, broken at the scores", forward, func() context.Context { backend.left = products*tinyLayers + 1; return context.Background() }, errBroken, 0},
		{"prefill, broken in the second pass", prefill, func() context.Context { backend.left = products*tinyLayers + 3; return context.Background() }, errBroken, 3},
		{"prefill, broken at the scores", prefill, func() context.Context { backend.left = 3*products*tinyLayers + 1; return context.Background() }, errBroken, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			if err := c.run(c.stop()); !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if cache.Len() != read+c.advance {
				t.Fatalf("the cache holds %d tokens, want %d", cache.Len(), read+c.advance)
			}
			if err := cache.Truncate(read); err != nil {
				t.Fatal(err)
			}
			backend.left = 0
			runSteps(t, m, cache, ids, 3).same(t, "after the stop", want)
		})
	}
}

func TestPassesThatDoNotFitAreRefused(t *testing.T) {
	backend := newBackend(t, 1)
	m, err := model.Load(context.Background(), backend, tinyModels()[0].build(t), model.Options{MaxTokens: 10, MaxRows: 4}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache := newCache(t, m)
	if _, err := m.Prefill(context.Background(), cache, randomIDs(8, tinyVocab, 1), nil); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		ids     []int32
		prefill bool
		full    bool
		text    string
	}{
		{"no tokens", nil, false, false, "a pass over 0 tokens: allowed are 1 to 4"},
		{"too many rows", make([]int32, 5), false, false, "a pass over 5 tokens: allowed are 1 to 4"},
		{"prefill of nothing", nil, true, false, "prefill of no tokens: there is nothing to give scores for"},
		{"forward beyond the context", make([]int32, 3), false, true, "the context is full: 3 more tokens do not fit after 8 of 10"},
		{"prefill beyond the context", make([]int32, 5), true, true, "the context is full: 5 more tokens do not fit after 8 of 10"},
		{"unknown token", []int32{1, tinyVocab}, false, false, "token 50 at 1 is outside the vocabulary of 50"},
		{"negative token", []int32{-1}, true, false, "token -1 at 0 is outside the vocabulary of 50"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var err error
			if c.prefill {
				_, err = m.Prefill(context.Background(), cache, c.ids, nil)
			} else {
				_, err = m.Forward(context.Background(), cache, c.ids)
			}
			if err == nil || err.Error() != c.text || errors.Is(err, model.ErrContextFull) != c.full {
				t.Errorf("error %q, want %q", fmt.Sprint(err), c.text)
			}
			if cache.Len() != 8 {
				t.Errorf("the cache holds %d tokens, want 8", cache.Len())
			}
		})
	}
	// A cache can be filled to its last token.
	if _, err := m.Forward(context.Background(), cache, randomIDs(2, tinyVocab, 1)); err != nil {
		t.Error(err)
	}
}

// A pass allocates no memory: otherwise every token would leave garbage to collect.
func TestPassAllocatesNothing(t *testing.T) {
	for i, typ := range []compute.DType{compute.F32, compute.F32, compute.F16, compute.Q8_0} {
		threads := 1 + i%2
		m := openModel(t, newBackend(t, threads), "../../assets/pair/draft.gguf", model.Options{MaxTokens: 64, CacheType: typ})
		cache := newCache(t, m)
		ids, best := randomIDs(5, m.Config().Vocab, 1), make([]int32, 5)
		allocations := testing.AllocsPerRun(20, func() {
			logits, err := m.Forward(context.Background(), cache, ids)
			if err != nil {
				t.Fatal(err)
			}
			if err := logits.Argmax(best); err != nil {
				t.Fatal(err)
			}
			if err := cache.Truncate(0); err != nil {
				t.Fatal(err)
			}
		})
		if allocations != 0 {
			t.Errorf("%d threads, cache %s: %v allocations a pass", threads, gguf.TypeName(typ), allocations)
		}
	}
}
