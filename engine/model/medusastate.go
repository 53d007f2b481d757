package model

import (
	"context"
	"errors"
	"fmt"
	"math"

	"specula/engine/compute"
)

// MedusaState is the heads' state for one conversation: the hidden state that they draft from. It works
// like a model that reads tokens in order. But a head's logits do not depend on these tokens, only on
// their number.
type MedusaState struct {
	*Medusa
	tap  *compute.Tap
	last compute.Buffer // one row: the target's hidden state that the heads draft from
	at   int            // last is the target's state after the token with this index; -1: no state
}

// NewState allocates the state of one conversation.
func (m *Medusa) NewState() (*MedusaState, error) {
	s := &MedusaState{Medusa: m, at: -1}
	var err error
	if s.tap, err = m.target.NewTap(compute.Normed); err != nil {
		return nil, err
	}
	return s, allocateAll(m.target.backend, []size{{&s.last, 1, m.target.config.Dim}})
}

// Tap returns the tap that the target's passes must fill before Keep.
func (s *MedusaState) Tap() *compute.Tap { return s.tap }

// Room returns how many hidden states can be kept. There is no limit, because only the last one is
// stored.
func (s *MedusaState) Room() int { return math.MaxInt }

// Reads returns false: the heads draft from the last state alone.
func (s *MedusaState) Reads() bool { return false }

// Longest returns the longest possible draft, in tokens.
func (s *MedusaState) Longest() int { return s.Heads() }

// Embeddings returns the number of ids that the heads can read: any.
func (s *MedusaState) Embeddings() int { return math.MaxInt }

// Keep copies row rows−1 of the tap: the target's hidden state after token at+rows−1. The heads do not
// need earlier states.
func (s *MedusaState) Keep(at, rows int, _ bool) error {
	s.at = at + rows - 1
	if err := s.target.backend.Copy(s.last, s.tap.Rows, 1, compute.Block{From: rows - 1}); err != nil {
		return fmt.Errorf("keeping a hidden state: %w", err)
	}
	return nil
}

// NewCache makes a cache that only counts tokens.
func (s *MedusaState) NewCache() (compute.Cache, error) { return &counter{}, nil }

// Prefill counts the tokens and returns one row of logits for the token after them, valid until the
// next call. It returns an error if no hidden state is kept, or if no head predicts this token from
// the kept state.
func (s *MedusaState) Prefill(ctx context.Context, cache compute.Cache, ids []int32, _ func(done, total int)) (compute.Logits, error) {
	head := cache.Len() + len(ids) - 2 - s.at
	if s.at < 0 || head < 0 || head >= s.Heads() {
		return nil, fmt.Errorf("head %d was asked for; there are 0 to %d, on the hidden state after token %d", head, s.Heads()-1, s.at)
	}
	s.pass = pass{Backend: s.target.backend, ctx: ctx, rows: 1}
	p := &s.pass
	p.copy(s.x, s.last, compute.Block{})
	for _, b := range s.heads[head].blocks {
		p.project(s.gate, s.x, b.linear, b.bias)
		p.gate(s.gate, s.ones, compute.SiLU)
		p.add(s.x, s.gate)
	}
	p.project(s.scores, s.x, s.heads[head].output, nil)
	if p.err != nil {
		return nil, fmt.Errorf("head %d: %w", head, p.err)
	}
	logits, err := s.target.backend.Logits(s.scores, 1)
	if err != nil {
		return nil, err
	}
	return logits, cache.Advance(len(ids))
}

// counter is a cache that has only a length.
type counter struct{ length int }

func (c *counter) Len() int { return c.length }
func (c *counter) Cap() int { return math.MaxInt }

func (c *counter) Truncate(n int) error {
	if n < 0 || n > c.length {
		return fmt.Errorf("truncating to %d tokens: there are %d", n, c.length)
	}
	c.length = n
	return nil
}

func (c *counter) Advance(n int) error {
	c.length += n
	return nil
}

func (c *counter) KeyValue(int, int, []float32, []float32) error {
	return errors.New("Medusa heads keep no keys and values")
}

func (c *counter) Bytes() int64 { return 0 }
func (c *counter) Close() error { return nil }
