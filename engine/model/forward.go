package model

import (
	"context"

	"specula/engine/compute"
)

// layersOver runs all layers over the tokens of all parts, at the positions after the tokens in their
// caches. It leaves the residual stream in the activations, part by part. It does not change the
// lengths of the caches.
func (m *Model) layersOver(ctx context.Context, parts ...Part) error {
	p := m.begin(ctx, parts...)
	p.err = m.backend.Embed(m.activations.residual, m.Embedding, m.ids)
	return m.layersAfterEmbedding(p)
}

// begin sets up a pass over these parts.
func (m *Model) begin(ctx context.Context, parts ...Part) *pass {
	m.pass = pass{Backend: m.backend, model: m, ctx: ctx, parts: append(m.pass.parts[:0], parts...)}
	m.ids = m.ids[:0]
	for _, part := range parts {
		m.ids = append(m.ids, part.IDs...)
	}
	m.pass.rows = len(m.ids)
	return &m.pass
}

// layersAfterEmbedding runs all layers over the residual stream that the embedding has filled.
func (m *Model) layersAfterEmbedding(p *pass) error {
	m.chooseHeads(p)
	p.scale(m.activations.residual, m.config.EmbeddingScale)
	p.normEmbeddings()
	m.embedPerLayer(p)
	for i := range m.layers {
		if p.err != nil {
			return p.err
		}
		m.leave(p, i)
		x := m.attend(p, i)
		m.feedForward(p, &m.layers[i], x)
		m.addPerLayer(p, &m.layers[i])
		p.scaleOutput(&m.layers[i])
	}
	m.leave(p, len(m.layers))
	return p.err
}

// attend runs the attention block of layer i, the layer's state, or both, which then read the same
// input. It returns that input.
func (m *Model) attend(p *pass, i int) compute.Buffer {
	l, a := &m.layers[i], &m.activations
	x := p.normed(a.normed, a.residual, l.AttentionNorm, l.AttentionNormBias)
	if l.Query != nil {
		m.gather(p, i, x)
	}
	if l.KeyLatent != nil {
		m.gatherLatent(p, i, x)
	}
	if l.Mixed != nil {
		m.recur(p, i, x)
	}
	return x
}

// gather runs the attention block of layer i after its first norm, whose output is x.
func (m *Model) gather(p *pass, i int, x compute.Buffer) {
	l, b, s := &m.layers[i], m.layers[i].buffers, &m.layers[i].shape
	p.project(b.query, x, l.Query, l.QueryBias)
	p.projectKeys(l, x)
	if m.arch.rotateFirst {
		p.rotate(l)
	}
	p.normHeads(b.query, l.QueryNorm, s.keyDim)
	p.normHeads(b.key, l.KeyNorm, s.keyDim)
	if !m.arch.rotateFirst {
		p.rotate(l)
	}
	p.attend(b.attended, b.query, b.key, b.value, compute.Attention{
		Layer: l.keysOf, Heads: s.heads, HeadDim: s.keyDim, Scale: float32(s.attentionScale), Window: l.window, SoftCap: float32(m.config.AttentionCap),
		Sinks: l.Sinks,
	})
	p.project(m.activations.output, p.gateAttention(x, l), l.Mix, l.MixBias)
	p.contribute(l.PostAttentionNorm)
}

// feedForward adds the output of the feed-forward network to the residual stream. A network without
// a norm of its own reads x, the input of attention.
func (m *Model) feedForward(p *pass, l *layer, x compute.Buffer) {
	if l.Router == nil && l.Up == nil {
		return
	}
	a := &m.activations
	if l.FeedForwardNorm != nil {
		x = p.normed(a.normed, a.residual, l.FeedForwardNorm, l.FeedForwardNormBias)
	}
	switch {
	case l.routerNorm != nil:
		m.dense(p, l, x)
		m.mixBeside(p, l)
	case l.Router != nil:
		m.choose(p, l, x)
		m.mix(p, l, x)
	default:
		m.dense(p, l, x)
	}
	p.contribute(l.PostFeedForwardNorm)
}

// dense computes a feed-forward network without experts.
func (m *Model) dense(p *pass, l *layer, x compute.Buffer) {
	a, b := &m.activations, l.buffers
	switch {
	case l.Gate != nil:
		p.project(b.gate, x, l.Gate, l.GateBias)
		p.project(b.up, x, l.Up, l.UpBias)
		p.gate(b.gate, b.up, m.arch.activation)
		p.project(a.output, b.gate, l.Down, l.DownBias)
	default:
		p.project(b.gate, x, l.Up, l.UpBias)
		p.activate(b.gate, m.arch.activation)
		p.project(a.output, b.gate, l.Down, l.DownBias)
	}
}

// score turns the first rows of the residual stream into logits.
func (m *Model) score(rows int) (compute.Logits, error) {
	if err := m.scoreRows(rows); err != nil {
		return nil, err
	}
	return m.backend.Logits(m.activations.scores, rows)
}

// scoreRows writes the logits of the first rows of the residual stream to the activations.
func (m *Model) scoreRows(rows int) error {
	p, a := &m.pass, &m.activations
	p.rows = rows
	x := p.normed(a.normed, a.residual, m.OutputNorm, m.OutputNormBias)
	p.project(a.scores, x, m.Output, m.OutputBias)
	p.scale(a.scores, m.config.LogitScale)
	p.softCap(a.scores, m.config.LogitCap)
	return p.err
}
