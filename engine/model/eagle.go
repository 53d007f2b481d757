package model

import (
	"context"
	"fmt"

	"specula/engine/compute"
)

// Eagle is a transformer of one layer that guesses on: from a token and the target's hidden state in front of it, it makes the next hidden
// state, and from that the next token's scores. Its cache holds one entry for each pair (hidden state behind token t, token t+1).
//
// EAGLE and EAGLE-2 join the embedding of the token and the state behind the target's output norm by a matrix, fc, run a layer without
// its first norm, and score by the target's own output matrix. (Li et al. 2024, «EAGLE: Speculative sampling requires rethinking feature
// uncertainty», §3.1; EAGLE-2 differs in its tree, not in the head.)
//
// EAGLE-3 makes one state of three of the target's, by fc, and lets attention see the normed embedding and the normed state side by
// side. It has an output norm and an output matrix of its own, often over a part of the vocabulary. (Li et al. 2025, «EAGLE-3», §3.1)
type Eagle struct {
	target *Model
	layer  Model // of one layer; its residual stream is the state
	third  bool  // EAGLE-3
	taps   []int // of the target; see compute.Tap

	embedding  compute.Matrix
	fc         compute.Matrix // (dim, 2·dim), of EAGLE-3 (dim, len(taps)·target's Dim)
	fcBias     compute.Vector
	inputNorm  compute.Vector // of EAGLE-3, as the next two: of the embedding
	hiddenNorm compute.Vector // of the state
	outputNorm compute.Vector
	normed     bool // the normed state is what the layer adds to
	output     compute.Matrix
	ids        []int32 // the target's id of each row of scores; nil: the same

	fused compute.Buffer // (rows, cols of fc of EAGLE-3): hidden states to be made one
	pair  compute.Buffer // (rows, 2·dim)
}

// kind describes the head in words.
func (e *Eagle) kind() string {
	if !e.third {
		return "EAGLE"
	}
	if e.ids != nil {
		return fmt.Sprintf("EAGLE-3, %d of the target's %d tokens", e.output.Rows(), e.target.config.Vocab)
	}
	return "EAGLE-3"
}

// IDs are the target's ids of the rows of scores; nil when they are the same.
func (e *Eagle) IDs() []int32 { return e.ids }

// EagleState is what one conversation has of the head: its cache, the target's hidden states that were not read yet, and the last
// state it made itself.
type EagleState struct {
	*Eagle
	tap   *compute.Tap
	cache compute.Cache
	kept  compute.Buffer // (rows, len(taps)·target's Dim)
	last  compute.Buffer // (1, dim)
}

// NewState makes room for one conversation; Close frees it.
func (e *Eagle) NewState() (*EagleState, error) {
	s := &EagleState{Eagle: e}
	var err error
	if s.tap, err = e.target.NewTap(e.taps...); err != nil {
		return nil, err
	}
	if err := allocateAll(e.layer.backend, []size{{&s.kept, e.layer.config.PrefillRows, s.tap.Rows.Cols()}, {&s.last, 1, e.layer.config.Dim}}); err != nil {
		return nil, err
	}
	s.cache, err = e.layer.NewCache()
	return s, err
}

// Tap is what passes of the target must fill before Keep.
func (s *EagleState) Tap() *compute.Tap { return s.tap }

// Cache holds an entry for each pair that was read.
func (s *EagleState) Cache() compute.Cache { return s.cache }

// Room is how many hidden states can be kept.
func (s *EagleState) Room() int { return s.kept.MaxRows() }

// Keep puts the hidden states of the first rows rows of the target's last pass to place at and behind it.
func (s *EagleState) Keep(at, rows int) error {
	return s.layer.backend.Copy(s.kept, s.tap.Rows, rows, compute.Block{Row: at})
}

// Read appends pairs to the cache: the kept states from place from on, each with the token that came behind it. It returns the scores
// behind the last one, one row, valid until the next call. On an error the cache keeps its length.
func (s *EagleState) Read(ctx context.Context, from int, ids []int32) (compute.Logits, error) {
	p, err := s.begin(ctx, s.cache, ids)
	if err != nil {
		return nil, err
	}
	a := &s.layer.activations
	if s.third {
		p.copy(s.fused, s.kept, compute.Block{From: from})
		p.project(a.residual, s.fused, s.fc, s.fcBias)
	} else {
		p.copy(a.residual, s.kept, compute.Block{From: from})
	}
	return s.run(p, ids)
}

// Step appends one pair more: the state that the head made last, and a token drawn from the scores behind it.
func (s *EagleState) Step(ctx context.Context, id int32) (compute.Logits, error) {
	ids := []int32{id}
	p, err := s.begin(ctx, s.cache, ids)
	if err != nil {
		return nil, err
	}
	p.copy(s.layer.activations.residual, s.last, compute.Block{})
	return s.run(p, ids)
}

// Close frees the cache.
func (s *EagleState) Close() error { return s.cache.Close() }

// begin opens a pass over pairs.
func (e *Eagle) begin(ctx context.Context, cache compute.Cache, ids []int32) (*pass, error) {
	if free := cache.Cap() - cache.Len(); len(ids) > free {
		return nil, fmt.Errorf("%w: %d more pairs do not fit behind %d of %d", ErrContextFull, len(ids), cache.Len(), cache.Cap())
	}
	m := &e.layer
	m.pass = pass{Backend: m.backend, ctx: ctx, parts: append(m.pass.parts[:0], Part{cache, ids}), rows: len(ids), eps: float32(m.config.NormEps)}
	return &m.pass, nil
}

// run takes states in the residual stream and tokens, and makes the next states and the scores behind the last one.
func (s *EagleState) run(p *pass, ids []int32) (compute.Logits, error) {
	m, a := &s.layer, &s.layer.activations
	if p.err == nil {
		p.err = m.backend.Embed(a.output, s.embedding, ids)
	}
	if s.third {
		p.norm(a.output, a.output, s.inputNorm)
		p.norm(a.normed, a.residual, s.hiddenNorm)
		s.join(p, a.output, a.normed)
		if s.normed {
			p.copy(a.residual, a.normed, compute.Block{})
		}
		m.gather(p, 0, s.pair)
	} else {
		s.join(p, a.output, a.residual)
		p.project(a.residual, s.pair, s.fc, s.fcBias)
		m.gather(p, 0, a.residual)
	}
	m.feedForward(p, &m.layers[0])
	p.rows = 1
	p.copy(s.last, a.residual, compute.Block{From: len(ids) - 1})
	scored := s.last
	if s.third {
		p.norm(a.normed, s.last, s.outputNorm)
		scored = a.normed
	}
	p.project(a.scores, scored, s.output, nil)
	if p.err != nil {
		return nil, p.err
	}
	logits, err := m.backend.Logits(a.scores, 1)
	if err != nil {
		return nil, err
	}
	return logits, s.cache.Advance(len(ids))
}

// join sets embedding and state side by side.
func (e *Eagle) join(p *pass, embedding, state compute.Buffer) {
	p.copy(e.pair, embedding, compute.Block{})
	p.copy(e.pair, state, compute.Block{Col: e.layer.config.Dim})
}
