// Package model is the transformer, written once against compute.
//
// It is the decoder that Llama, Qwen2 and Qwen3 share, and forward.go reads like the paper: a residual stream to which every layer
// adds first what attention gathers from the tokens before, then what a gated feed-forward network makes of it. What differs between
// the families is a row in a table (architecture.go). Weights find their place by the tags of tensors.go.
//
// One pass takes m tokens, appends m rows to the cache and gives m rows of scores. Decoding is m = 1, verifying a draft of γ tokens
// is m = γ+1, reading a prompt is as many passes as it takes; there is no other path. By the law of package compute
// the bits of a row are the same in all three.
//
// A pass can leave hidden states behind on the device (tap.go), and on these guess the heads that others train for a model: a layer
// of EAGLE's (eagle.go), which is attention and feed-forward network of the same code, and the small networks of Medusa (medusa.go).
package model

import (
	"context"
	"errors"
	"fmt"

	"specula/engine/compute"
)

// ErrContextFull means that a cache has no room for the tokens of a pass.
var ErrContextFull = errors.New("the context is full")

// Model is a loaded transformer. It serves one goroutine at a time; several caches may take turns.
type Model struct {
	parameters
	layers      []layer
	backend     compute.Backend
	arch        architecture
	config      Config
	angles      ropeTables
	activations activations
	pass        pass
	ids         []int32 // of a pass, all parts behind each other
	matrices    []Matrix
	tap         *compute.Tap // nil: nobody listens
}

// Matrix is a weight matrix of a model as the backend holds it.
type Matrix struct {
	Taken compute.Matrix
	Type  string // in the file: "Q8_0"
	Bytes int64  // in the file
}

// activations are the buffers of a pass, (PrefillRows, cols); only as many rows as Forward takes have scores.
type activations struct {
	residual compute.Buffer // cols Dim
	normed   compute.Buffer // Dim
	output   compute.Buffer // Dim: what attention or the feed-forward network adds
	query    compute.Buffer // Heads·HeadDim
	attended compute.Buffer // Heads·HeadDim
	key      compute.Buffer // KVHeads·HeadDim
	value    compute.Buffer // KVHeads·HeadDim
	gate     compute.Buffer // FFN
	up       compute.Buffer // FFN
	scores   compute.Buffer // Vocab
}

// Config describes the model.
func (m *Model) Config() Config { return m.config }

// Matrices lists the weight matrices, for measurements of their products.
func (m *Model) Matrices() []Matrix { return m.matrices }

// NewCache makes an empty cache of MaxTokens.
func (m *Model) NewCache() (compute.Cache, error) {
	cache, err := m.backend.Cache(m.cacheShape(m.config.MaxTokens))
	if err != nil {
		return nil, fmt.Errorf("making a cache of %d tokens: %w", m.config.MaxTokens, err)
	}
	return cache, nil
}

func (m *Model) cacheShape(tokens int) compute.CacheShape {
	c := &m.config
	return compute.CacheShape{Layers: c.Layers, Tokens: tokens, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Type: c.CacheType}
}

// Forward appends 1 ≤ len(ids) ≤ MaxRows tokens to the cache and returns the scores behind each of them.
// On any error, cancellation included, the cache keeps its length.
// ErrContextFull is wrapped when the tokens do not fit.
func (m *Model) Forward(ctx context.Context, cache compute.Cache, ids []int32) (compute.Logits, error) {
	return m.ForwardParts(ctx, Part{cache, ids})
}

// Part is what one sequence has in a pass: tokens that go behind what its cache holds.
type Part struct {
	Cache compute.Cache
	IDs   []int32
}

// ForwardParts is Forward for several sequences in one pass, which reads the weights once. Their caches must be different ones.
// The scores have the rows of the first part, then those of the second and so on; MaxRows bounds all together.
func (m *Model) ForwardParts(ctx context.Context, parts ...Part) (compute.Logits, error) {
	rows := 0
	for _, part := range parts {
		rows += len(part.IDs)
	}
	if rows < 1 || rows > m.config.MaxRows {
		return nil, fmt.Errorf("a pass over %d tokens: allowed are 1 to %d", rows, m.config.MaxRows)
	}
	for i, part := range parts {
		if len(part.IDs) == 0 {
			return nil, fmt.Errorf("a pass over %d sequences: that at %d has no tokens", len(parts), i)
		}
		if err := m.check(part.Cache, part.IDs); err != nil {
			return nil, err
		}
	}
	if err := m.layersOver(ctx, parts...); err != nil {
		return nil, err
	}
	logits, err := m.score(rows)
	if err != nil {
		return nil, err
	}
	for _, part := range parts {
		err = errors.Join(err, part.Cache.Advance(len(part.IDs)))
	}
	return logits, err
}

// Prefill appends any number of tokens to the cache, PrefillRows at a time, and returns the scores behind the last one only.
// progress, which may be nil, gets tokens done. On an error, cancellation included, the cache keeps the passes completed before.
func (m *Model) Prefill(ctx context.Context, cache compute.Cache, ids []int32, progress func(done, total int)) (compute.Logits, error) {
	if len(ids) == 0 {
		return nil, errors.New("prefill of no tokens: there is nothing to give scores for")
	}
	if err := m.check(cache, ids); err != nil {
		return nil, err
	}
	for done := 0; ; {
		chunk := ids[done:min(done+m.config.PrefillRows, len(ids))]
		if err := m.layersOver(ctx, Part{cache, chunk}); err != nil {
			return nil, err
		}
		done += len(chunk)
		if done == len(ids) {
			return m.finishPrefill(cache, len(chunk), done, progress)
		}
		if err := cache.Advance(len(chunk)); err != nil {
			return nil, err
		}
		if progress != nil {
			progress(done, len(ids))
		}
	}
}

// finishPrefill scores the last of rows rows.
func (m *Model) finishPrefill(cache compute.Cache, rows, total int, progress func(done, total int)) (compute.Logits, error) {
	if err := m.lastRowFirst(rows); err != nil {
		return nil, err
	}
	logits, err := m.score(1)
	if err != nil {
		return nil, err
	}
	if err := cache.Advance(rows); err != nil {
		return nil, err
	}
	if progress != nil {
		progress(total, total)
	}
	return logits, nil
}

// lastRowFirst copies the last of rows rows of the residual stream to the first: those behind it are done.
func (m *Model) lastRowFirst(rows int) error {
	if rows == 1 {
		return nil
	}
	a := &m.activations
	return m.backend.Copy(a.residual, a.residual, 1, compute.Block{From: rows - 1})
}

// check refuses what cannot be computed before anything is.
func (m *Model) check(cache compute.Cache, ids []int32) error {
	if free := cache.Cap() - cache.Len(); len(ids) > free {
		return fmt.Errorf("%w: %d more tokens do not fit behind %d of %d", ErrContextFull, len(ids), cache.Len(), cache.Cap())
	}
	for i, id := range ids {
		if id < 0 || int(id) >= m.config.Vocab {
			return fmt.Errorf("token %d at %d is outside the vocabulary of %d", id, i, m.config.Vocab)
		}
	}
	return nil
}
