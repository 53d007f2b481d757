package model

import (
	"context"
	"fmt"
	"math"

	"specula/engine/compute"
)

// LayerState is the head's state for one conversation: a tap, the target's hidden states that Keep
// copied from it, and the last state that the head computed. It works like a model that reads tokens in
// order. It reads each token together with the hidden state after the token before: the target's state
// if that was kept, otherwise the head's last state.
type LayerState struct {
	*LayerHead
	tap   *compute.Tap
	kept  compute.Buffer // Room rows, each with the target's hidden states (taps) side by side
	last  compute.Buffer // one row: the state that the head computed last
	first int            // kept has the states after the tokens first … first+held−1
	held  int
}

// NewState allocates the state of one conversation.
func (e *LayerHead) NewState() (*LayerState, error) {
	s := &LayerState{LayerHead: e}
	var err error
	if s.tap, err = e.target.NewTap(e.taps...); err != nil {
		return nil, err
	}
	return s, allocateAll(e.layer.backend, []size{{&s.kept, e.layer.config.PrefillRows, s.tap.Rows.Cols()}, {&s.last, 1, e.layer.config.Dim}})
}

// Tap returns the tap, which the target's passes must fill before Keep.
func (s *LayerState) Tap() *compute.Tap { return s.tap }

// Room returns how many hidden states can be kept.
func (s *LayerState) Room() int { return s.kept.MaxRows() }

// Longest returns the longest possible draft, in tokens.
func (s *LayerState) Longest() int { return math.MaxInt }

// Embeddings returns the number of ids that the head can read.
func (s *LayerState) Embeddings() int { return s.embedding.Rows() }

// Reads returns true: the layer reads each committed token.
func (s *LayerState) Reads() bool { return true }

// Keep copies rows 0 to rows−1 of the tap. Row i must be the target's hidden state after token at+i.
// Keep drops the kept states from token at on, or all of them with fresh, and appends these rows to the
// rest. It returns an error if the kept states begin after token at or end before its predecessor, or if
// there is no room.
func (s *LayerState) Keep(at, rows int, fresh bool) error {
	if fresh {
		s.first, s.held = at, 0
	}
	if at < s.first || at > s.first+s.held || at-s.first+rows > s.Room() {
		return fmt.Errorf("keeping %d hidden states from token %d on: kept are %d from token %d on, and there is room for %d", rows, at, s.held, s.first, s.Room())
	}
	s.held = at - s.first
	if err := s.layer.backend.Copy(s.kept, s.tap.Rows, rows, compute.Block{Row: s.held}); err != nil {
		return fmt.Errorf("keeping %d hidden states: %w", rows, err)
	}
	s.held += rows
	return nil
}

// NewCache makes a cache whose length counts tokens. The first token of a text has no entry, because
// no hidden state comes before it.
func (s *LayerState) NewCache() (compute.Cache, error) {
	inner, err := s.layer.NewCache()
	if err != nil {
		return nil, err
	}
	return &pairCache{Cache: inner}, nil
}

// Prefill appends tokens, at least one, to a cache of NewCache and returns one row of logits, for
// the last token. Each token except the first of a text makes a pair with the target's hidden state after
// the token before it. Keep must have kept these states, with one exception: a single pair whose state
// comes after all kept ones takes the state that the head computed last. If any other state is missing,
// Prefill fails. It also fails if it gets only the first token of a text. On an error the cache keeps its
// length.
func (s *LayerState) Prefill(ctx context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
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
		return nil, fmt.Errorf("%w: %d more pairs do not fit after %d of %d", ErrContextFull, len(pairs), c.Cache.Len(), c.Cache.Cap())
	case !kept && (len(pairs) > 1 || from < s.held):
		return nil, fmt.Errorf("reading %d tokens from %d on: there are %d hidden states, from token %d on", len(pairs), position, s.held, s.first)
	}
	m, a := &s.layer, &s.layer.activations
	m.pass = pass{Backend: m.backend, model: m, ctx: ctx, parts: append(m.pass.parts[:0], Part{c.Cache, pairs}), rows: len(pairs)}
	p := &m.pass
	switch {
	case !kept:
		p.copy(a.residual, s.last, compute.Block{})
	case s.isEagle3():
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

// pairCache counts tokens. The cache inside counts pairs, which are one fewer.
type pairCache struct {
	compute.Cache
	begun bool // there is at least one token
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

// mapped shows logits over a part of the target's vocabulary as logits over all of it. Tokens
// outside the part have −∞.
type mapped struct {
	compute.Logits
	ids   []int32 // the target's id of each score
	vocab int     // number of the target's tokens
	row   []float32
}

// Unwrap returns the backend's own logits, so that a sampler can use their Arithmetic.
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
