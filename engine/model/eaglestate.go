package model

import (
	"context"
	"fmt"
	"math"

	"specula/engine/compute"
)

// EagleState is what one conversation has of the head: a cache, hidden states of the target that were not read yet, and the state
// that the head made last. It can be used like a model that reads tokens one behind the other; every token then goes with the hidden
// state in front of it, the target's where it was kept, else the one that the head made last.
type EagleState struct {
	*Eagle
	tap   *compute.Tap
	kept  compute.Buffer // (rows, len(taps)·target's Dim): hidden states behind the tokens first … first+held−1
	last  compute.Buffer // (1, dim)
	first int
	held  int
}

// NewState makes room for one conversation.
func (e *Eagle) NewState() (*EagleState, error) {
	s := &EagleState{Eagle: e}
	var err error
	if s.tap, err = e.target.NewTap(e.taps...); err != nil {
		return nil, err
	}
	return s, allocateAll(e.layer.backend, []size{{&s.kept, e.layer.config.PrefillRows, s.tap.Rows.Cols()}, {&s.last, 1, e.layer.config.Dim}})
}

// Tap is what passes of the target must fill before Keep.
func (s *EagleState) Tap() *compute.Tap { return s.tap }

// Room is how many hidden states can be kept.
func (s *EagleState) Room() int { return s.kept.MaxRows() }

// Longest is how many tokens can be guessed in a row.
func (s *EagleState) Longest() int { return math.MaxInt }

// Embeddings is how many ids can be read.
func (s *EagleState) Embeddings() int { return s.embedding.Rows() }

// Keep takes the hidden states in the first rows of the tap, which are those behind token at and the ones that follow it. They join
// those kept before, which they must follow, unless fresh is set.
func (s *EagleState) Keep(at, rows int, fresh bool) error {
	if fresh {
		s.first, s.held = at, 0
	}
	if at != s.first+s.held || s.held+rows > s.Room() {
		return fmt.Errorf("keeping %d hidden states from token %d on: the next is that of token %d, and there is room for %d", rows, at, s.first+s.held, s.Room()-s.held)
	}
	if err := s.layer.backend.Copy(s.kept, s.tap.Rows, rows, compute.Block{Row: s.held}); err != nil {
		return fmt.Errorf("keeping %d hidden states: %w", rows, err)
	}
	s.held += rows
	return nil
}

// NewCache makes a cache whose length counts tokens; the first of a text has no state in front of it and so no entry.
func (s *EagleState) NewCache() (compute.Cache, error) {
	inner, err := s.layer.NewCache()
	if err != nil {
		return nil, err
	}
	return &pairCache{Cache: inner}, nil
}

// Prefill appends tokens to a cache of NewCache and returns the scores behind the last of them, one row. It fails when the hidden states
// in front of them are neither kept nor, for a single token, the one made last. On an error the cache keeps its length.
func (s *EagleState) Prefill(ctx context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	c := cache.(*pairCache)
	position, pairs := c.Len(), ids
	if position == 0 {
		position, pairs = 1, ids[1:]
	}
	from := position - 1 - s.first
	kept := from >= 0 && from+len(pairs) <= s.held
	switch {
	case len(pairs) == 0:
		return nil, fmt.Errorf("reading the first token of a text: there is no hidden state in front of it")
	case len(pairs) > c.Cache.Cap()-c.Cache.Len():
		return nil, fmt.Errorf("%w: %d more pairs do not fit behind %d of %d", ErrContextFull, len(pairs), c.Cache.Len(), c.Cache.Cap())
	case !kept && (len(pairs) > 1 || from < s.held):
		return nil, fmt.Errorf("reading %d tokens from %d on: there are %d hidden states, from token %d on", len(pairs), position, s.held, s.first)
	}
	m, a := &s.layer, &s.layer.activations
	m.pass = pass{Backend: m.backend, ctx: ctx, parts: append(m.pass.parts[:0], Part{c.Cache, pairs}), rows: len(pairs), eps: float32(m.config.NormEps)}
	p := &m.pass
	switch {
	case !kept:
		p.copy(a.residual, s.last, compute.Block{})
	case s.third:
		p.copy(s.fused, s.kept, compute.Block{From: from})
		p.project(a.residual, s.fused, s.fc, s.fcBias)
	default:
		p.copy(a.residual, s.kept, compute.Block{From: from})
	}
	s.run(p, pairs)
	p.rows = 1
	p.copy(s.last, a.residual, compute.Block{From: len(pairs) - 1})
	logits, err := s.score(p, s.last)
	if err != nil {
		return nil, err
	}
	return logits, c.Advance(len(ids))
}

// pairCache counts tokens where the cache it holds counts pairs, one fewer.
type pairCache struct {
	compute.Cache
	begun bool
}

func (c *pairCache) Len() int {
	if !c.begun {
		return 0
	}
	return c.Cache.Len() + 1
}

func (c *pairCache) Cap() int { return c.Cache.Cap() + 1 }

func (c *pairCache) Truncate(n int) error {
	if n < 0 || n > c.Len() {
		return fmt.Errorf("truncating the cache to %d tokens: it holds %d", n, c.Len())
	}
	c.begun = n > 0
	return c.Cache.Truncate(max(n-1, 0))
}

func (c *pairCache) Advance(n int) error {
	if !c.begun && n > 0 {
		c.begun = true
		n--
	}
	return c.Cache.Advance(n)
}

// mapped are scores of a part of the target's vocabulary as scores of all of it, the others masked.
type mapped struct {
	compute.Logits
	ids   []int32 // the target's id of each
	vocab int     // of the target
	row   []float32
}

// Unwrap gives samplers the device's own scores, for their arithmetic.
func (m *mapped) Unwrap() compute.Logits { return m.Logits }

func (m *mapped) Vocab() int { return m.vocab }

func (m *mapped) Argmax(dst []int32) error {
	if err := m.Logits.Argmax(dst); err != nil {
		return err
	}
	for i, best := range dst {
		dst[i] = m.ids[best]
	}
	return nil
}

func (m *mapped) Row(i int, dst []float32) error {
	if err := m.Logits.Row(i, m.row); err != nil {
		return err
	}
	for id := range dst {
		dst[id] = float32(math.Inf(-1))
	}
	for j, score := range m.row {
		dst[m.ids[j]] = score
	}
	return nil
}
