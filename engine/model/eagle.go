package model

import (
	"fmt"

	"specula/engine/compute"
)

// Eagle is a head of one transformer layer that drafts from hidden states. Its input is a token and
// the target's hidden state after the token before. From these it computes the next hidden state,
// and from that the logits of the next token. Its cache holds one entry per pair (hidden state
// after token t, token t+1).
//
// EAGLE and EAGLE-2 put the token's embedding and the target's state, after its output norm, side
// by side; a matrix, fc, makes one state of them. They run a layer without its first norm, and
// compute logits with the target's output matrix unless the file has its own. (Li et al. 2024,
// «EAGLE: Speculative sampling requires rethinking feature uncertainty», §3.1; EAGLE-2 has another
// tree, but the same head.)
//
// EAGLE-3 makes one state out of several states of the target, usually three, by fc. Attention then
// reads the normed embedding and the normed state side by side. It has its own output norm and
// output matrix, often for only a part of the vocabulary. (Li et al. 2025, «EAGLE-3», §3.1)
type Eagle struct {
	target *Model
	layer  Model // one layer; its residual stream is the state
	third  bool  // EAGLE-3
	taps   []int // the target's hidden states that it reads; see compute.Tap

	embedding  compute.Matrix
	fc         compute.Matrix // (dim, 2·dim); for EAGLE-3 (dim, len(taps)·target's Dim)
	fcBias     compute.Vector
	inputNorm  compute.Vector // of the embedding; this and the next two for EAGLE-3 only
	hiddenNorm compute.Vector // of the state
	outputNorm compute.Vector
	normed     bool // the residual connection starts from the normed state
	output     compute.Matrix
	ids        []int32 // the target's id for each row of output; nil: the same ids

	fused compute.Buffer // (rows, columns of fc) for EAGLE-3: hidden states before fc joins them
	pair  compute.Buffer // (rows, 2·dim)
}

// kind names the head in words.
func (e *Eagle) kind() string {
	if !e.third {
		return "EAGLE"
	}
	if e.ids != nil {
		return fmt.Sprintf("EAGLE-3, %d of the target's %d tokens", e.output.Rows(), e.target.config.Vocab)
	}
	return "EAGLE-3"
}

// run reads the states in the residual stream and the tokens, and writes the next states to the
// residual stream.
func (e *Eagle) run(p *pass, ids []int32) {
	m, a := &e.layer, &e.layer.activations
	if p.err == nil {
		p.err = m.backend.Embed(a.output, e.embedding, ids)
	}
	if e.third {
		p.norm(a.output, a.output, e.inputNorm, nil)
		p.norm(a.normed, a.residual, e.hiddenNorm, nil)
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
	m.feedForward(p, &m.layers[0], a.normed)
}

// score computes the logits of one state.
func (e *Eagle) score(p *pass, state compute.Buffer) (compute.Logits, error) {
	m, a := &e.layer, &e.layer.activations
	p.rows = 1
	if e.third {
		p.norm(a.normed, state, e.outputNorm, nil)
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

// join writes embedding and state side by side into pair.
func (e *Eagle) join(p *pass, embedding, state compute.Buffer) {
	p.copy(e.pair, embedding, compute.Block{})
	p.copy(e.pair, state, compute.Block{Col: e.layer.config.Dim})
}
