package model

import (
	"fmt"

	"specula/engine/compute"
)

// LayerHead is a head of one transformer layer that drafts from hidden states. Its input is a token,
// and the target's hidden state after the token before. From them it computes the next hidden state,
// and from this state the logits of the next token. Its cache has one entry for each pair (hidden
// state after token t, token t+1).
//
// EAGLE and EAGLE-2 put the token's embedding and the target's state (after its output norm) side by
// side; the matrix fc makes one state of both. Their layer has no first norm. They compute logits with
// the target's output matrix unless the file has its own. (Li et al. 2024, «EAGLE: Speculative sampling
// requires rethinking feature uncertainty», §3.1; EAGLE-2 has another tree, but the same head.)
//
// EAGLE-3 makes one state out of several states of the target, usually three, by fc. Attention then
// reads the normed embedding and the normed state side by side. It has its own output norm and
// output matrix, often for only a part of the vocabulary. (Li et al. 2025, «EAGLE-3», §3.1)
//
// MTP (multi-token prediction) is in the target's own file. It is EAGLE's head with three more norms,
// for the embedding, for the state before fc, and for the output, and with a complete layer of the
// target's kind. Its next state is taken after the output norm, as the target's is. (DeepSeek-AI 2024,
// «DeepSeek-V3 Technical Report», §2.2; what is normed where: Qwen3-Next and llama.cpp)
type LayerHead struct {
	target *Model
	plan   plan
	layer  Model // one layer; its residual stream is the state
	taps   []int // the target's hidden states that the head reads; see compute.Tap

	embedding  compute.Matrix
	fc         compute.Matrix // makes one state of embedding and state side by side; for EAGLE-3, of the states in taps
	fcBias     compute.Vector
	inputNorm  compute.Vector // norm of the embedding; nil for EAGLE, like the next two norms
	hiddenNorm compute.Vector // norm of the state
	outputNorm compute.Vector
	normed     bool // EAGLE-3: the residual connection starts from the normed state
	output     compute.Matrix
	ids        []int32 // the target's id for each row of output; nil: the same ids

	fused compute.Buffer // only for EAGLE-3: in each row the target's states side by side, which fc reads
	pair  compute.Buffer // in each row an embedding and a state side by side
}

// plan says how a LayerHead makes its input.
type plan int

const (
	eagle plan = iota
	eagle3
	mtp
)

func (e *LayerHead) isEagle3() bool { return e.plan == eagle3 }

// kind is the name of the head for display.
func (e *LayerHead) kind() string {
	switch {
	case e.plan == mtp:
		return "MTP"
	case e.plan == eagle:
		return "EAGLE"
	case e.ids != nil:
		return fmt.Sprintf("EAGLE-3, %d of the target's %d tokens", e.output.Rows(), e.target.config.Vocab)
	}
	return "EAGLE-3"
}

// run reads the states in the residual stream and the tokens, and writes the next states to the
// residual stream.
func (e *LayerHead) run(p *pass, ids []int32) {
	m, a := &e.layer, &e.layer.activations
	if p.err == nil {
		p.err = m.backend.Embed(a.output, e.embedding, ids)
	}
	x := a.normed
	switch e.plan {
	case eagle3:
		p.norm(a.output, a.output, e.inputNorm, nil)
		p.norm(a.normed, a.residual, e.hiddenNorm, nil)
		e.join(p, a.output, a.normed)
		if e.normed {
			p.copy(a.residual, a.normed, compute.Block{})
		}
		m.gather(p, 0, e.pair)
	case eagle:
		e.join(p, a.output, a.residual)
		p.project(a.residual, e.pair, e.fc, e.fcBias)
		m.gather(p, 0, a.residual)
	case mtp:
		p.norm(a.output, a.output, e.inputNorm, nil)
		p.norm(a.normed, a.residual, e.hiddenNorm, nil)
		e.join(p, a.output, a.normed)
		p.project(a.residual, e.pair, e.fc, nil)
		x = m.attend(p, 0)
	}
	m.feedForward(p, &m.layers[0], x)
	if e.plan == mtp {
		p.norm(a.residual, a.residual, e.outputNorm, nil)
	}
}

// score computes the logits of one state.
func (e *LayerHead) score(p *pass, state compute.Buffer) (compute.Logits, error) {
	m, a := &e.layer, &e.layer.activations
	p.rows = 1
	if e.isEagle3() {
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
func (e *LayerHead) join(p *pass, embedding, state compute.Buffer) {
	p.copy(e.pair, embedding, compute.Block{})
	p.copy(e.pair, state, compute.Block{Col: e.layer.config.Dim})
}
