package model

import (
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

// run takes states in the residual stream and tokens, and puts the next states there.
func (e *Eagle) run(p *pass, ids []int32) {
	m, a := &e.layer, &e.layer.activations
	if p.err == nil {
		p.err = m.backend.Embed(a.output, e.embedding, ids)
	}
	if e.third {
		p.norm(a.output, a.output, e.inputNorm)
		p.norm(a.normed, a.residual, e.hiddenNorm)
		e.join(p, a.output, a.normed)
		if e.normed {
			p.copy(a.residual, a.normed, compute.Block{})
		}
		m.gather(p, 0, e.pair)
	} else {
		e.join(p, a.output, a.residual)
		p.project(a.residual, e.pair, e.fc, e.fcBias)
		m.gather(p, 0, a.residual)
	}
	m.feedForward(p, &m.layers[0])
}

// score makes scores of one state.
func (e *Eagle) score(p *pass, state compute.Buffer) (compute.Logits, error) {
	m, a := &e.layer, &e.layer.activations
	p.rows = 1
	if e.third {
		p.norm(a.normed, state, e.outputNorm)
		state = a.normed
	}
	p.project(a.scores, state, e.output, nil)
	if p.err != nil {
		return nil, p.err
	}
	logits, err := m.backend.Logits(a.scores, 1)
	if err != nil || e.ids == nil {
		return logits, err
	}
	return &mapped{Logits: logits, ids: e.ids, vocab: e.target.config.Vocab, row: make([]float32, len(e.ids))}, nil
}

// join sets embedding and state side by side.
func (e *Eagle) join(p *pass, embedding, state compute.Buffer) {
	p.copy(e.pair, embedding, compute.Block{})
	p.copy(e.pair, state, compute.Block{Col: e.layer.config.Dim})
}
