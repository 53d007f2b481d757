package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"specula/engine/compute"
)

// AssistantState is a drafter's state for one conversation: a tap, the target's last hidden state, and the last
// state that the drafter computed. It works like a model that reads tokens in order, but computes only after
// the last of them: the target's cache has what the drafter needs to know of the others.
type AssistantState struct {
	*Assistant
	cache compute.Cache // the target's
	tap   *compute.Tap
	kept  compute.Buffer // one row: a hidden state of the target
	last  compute.Buffer // one row: the state that the drafter computed last, as wide as the target's
	at    int            // kept is the target's state after the token with this index; -1: no state
}

// stateBytes is the memory of a drafter's state for a target: the rows of the tap and two more.
func stateBytes(target *Config) int64 {
	return float32Bytes * int64(target.PrefillRows+2) * int64(target.Dim)
}

// NewState allocates the state of one conversation, which drafts from the target's cache.
func (a *Assistant) NewState(cache compute.Cache) (*AssistantState, error) {
	s := &AssistantState{Assistant: a, cache: cache, at: -1}
	var err error
	if s.tap, err = a.target.NewTap(compute.Normed); err != nil {
		return nil, err
	}
	dim := a.target.config.Dim
	return s, allocateAll(a.target.backend, []size{{&s.kept, 1, dim}, {&s.last, 1, dim}})
}

// Tap returns the tap that the target's passes must fill before Keep.
func (s *AssistantState) Tap() *compute.Tap { return s.tap }

// Room returns how many hidden states can be kept. There is no limit, because only the last one is stored.
func (s *AssistantState) Room() int { return math.MaxInt }

// Reads returns false: the drafter computes only after the last token.
func (s *AssistantState) Reads() bool { return false }

// Longest returns the longest possible draft, in tokens.
func (s *AssistantState) Longest() int { return math.MaxInt }

// Embeddings returns the number of ids that the drafter can read.
func (s *AssistantState) Embeddings() int { return s.target.Embedding.Rows() }

// Keep copies row rows−1 of the tap: the target's hidden state after token at+rows−1. Earlier states are not
// needed.
func (s *AssistantState) Keep(at, rows int, _ bool) error {
	s.at = at + rows - 1
	if err := s.target.backend.Copy(s.kept, s.tap.Rows, 1, compute.Block{From: rows - 1}); err != nil {
		return fmt.Errorf("keeping a hidden state: %w", err)
	}
	return nil
}

// NewCache makes a cache that only counts tokens, as many as the drafter has positions for.
func (s *AssistantState) NewCache() (compute.Cache, error) {
	return &bounded{most: s.own.config.MaxTokens}, nil
}

// bounded is a counter with a limit.
type bounded struct {
	counter
	most int
}

func (b *bounded) Cap() int { return b.most }

// Prefill counts the tokens and returns one row of logits, for the token after the last of ids. The target must
// have read all tokens up to the one whose state is kept, and no further. The last of ids must be the token
// after that one. In a draft, ids may also be the one token after the last that Prefill read; then Prefill uses
// the state that the drafter computed last. On an error the cache keeps its length.
func (s *AssistantState) Prefill(ctx context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	if len(ids) == 0 {
		return nil, errors.New("drafting after no tokens: there is nothing to draft from")
	}
	before, state := cache.Len()+len(ids)-2, s.kept
	switch {
	case s.at < 0 || s.at+1 != s.cache.Len():
		return nil, fmt.Errorf("drafting from the target's hidden state after token %d: the target has read %d tokens", s.at, s.cache.Len())
	case before > s.at && len(ids) == 1:
		state = s.last
	case before != s.at:
		return nil, fmt.Errorf("drafting after token %d: the hidden state is that after token %d", before+1, s.at)
	}
	logits, err := s.run(ctx, ids[len(ids)-1:], state)
	if err != nil {
		return nil, err
	}
	return logits, cache.Advance(len(ids))
}

// run computes the logits of the token after last, and the next state.
func (s *AssistantState) run(ctx context.Context, last []int32, state compute.Buffer) (compute.Logits, error) {
	m, a, width := s.own, &s.own.activations, s.own.config.TargetDim
	m.pass = pass{Backend: m.backend, model: m, ctx: ctx, parts: append(m.pass.parts[:0], Part{s.cache, last}), rows: 1}
	p := &m.pass
	p.err = m.backend.Embed(m.word, s.target.Embedding, last)
	p.scale(m.word, s.target.config.EmbeddingScale)
	p.copy(m.pair, m.word, compute.Block{})
	p.copy(m.pair, state, compute.Block{Col: width})
	p.project(a.residual, m.pair, m.Join, nil)
	for i := range m.layers {
		x := m.attend(p, i)
		m.feedForward(p, &m.layers[i], x)
		p.scaleOutput(&m.layers[i])
	}
	p.norm(a.normed, a.residual, m.OutputNorm, nil)
	p.project(s.last, a.normed, m.Widen, nil)
	p.project(a.scores, a.normed, m.Output, nil)
	if p.err != nil {
		return nil, p.err
	}
	return m.backend.Logits(a.scores, 1)
}
