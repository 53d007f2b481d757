package model

import (
	"context"

	"specula/engine/compute"
)

// layersOver runs all layers over the tokens of all parts, at the positions after what their caches
// hold. It leaves the residual stream in the activations, part by part. It does not change the
// lengths of the caches.
func (m *Model) layersOver(ctx context.Context, parts ...Part) error {
	p := m.begin(ctx, parts...)
	p.err = m.backend.Embed(m.activations.residual, m.Embedding, m.ids)
	return m.layersBehind(p)
}

// begin sets up a pass over these parts.
func (m *Model) begin(ctx context.Context, parts ...Part) *pass {
	m.pass = pass{Backend: m.backend, ctx: ctx, parts: append(m.pass.parts[:0], parts...), eps: float32(m.config.NormEps)}
	m.ids = m.ids[:0]
	for _, part := range parts {
		m.ids = append(m.ids, part.IDs...)
	}
	m.pass.rows = len(m.ids)
	return &m.pass
}

// layersBehind runs all layers over tokens that are embedded already.
func (m *Model) layersBehind(p *pass) error {
	for i := range m.layers {
		if p.err != nil {
			return p.err
		}
		m.leave(p, i)
		m.attend(p, i)
		m.feedForward(p, &m.layers[i])
	}
	m.leave(p, len(m.layers))
	return p.err
}

// attend runs the attention block of layer i.
func (m *Model) attend(p *pass, i int) {
	p.norm(m.activations.normed, m.activations.residual, m.layers[i].AttentionNorm)
	m.gather(p, i, m.activations.normed)
}

// gather is attend without the norm: x is the input of the query, key and value projections.
func (m *Model) gather(p *pass, i int, x compute.Buffer) {
	l, a, c := &m.layers[i], &m.activations, &m.config
	p.project(a.query, x, l.Query, l.QueryBias)
	p.project(a.key, x, l.Key, l.KeyBias)
	p.project(a.value, x, l.Value, l.ValueBias)
	if m.arch.qkNorm == required {
		p.norm(a.query, a.query, l.QueryNorm)
		p.norm(a.key, a.key, l.KeyNorm)
	}
	p.rotate(a.query, m.rope(c.Heads))
	p.rotate(a.key, m.rope(c.KVHeads))
	p.attend(a.attended, a.query, a.key, a.value, compute.Attention{
		Layer: i, Heads: c.Heads, HeadDim: c.HeadDim, Scale: m.attentionScale(),
	})
	p.project(a.output, a.attended, l.Mix, l.MixBias)
	p.add(a.residual, a.output)
}

// feedForward adds the output of the gated feed-forward network, which treats each token by itself.
func (m *Model) feedForward(p *pass, l *layer) {
	a := &m.activations
	p.norm(a.normed, a.residual, l.FeedForwardNorm)
	p.project(a.gate, a.normed, l.Gate, nil)
	p.project(a.up, a.normed, l.Up, nil)
	p.swiGLU(a.gate, a.up)
	p.project(a.output, a.gate, l.Down, nil)
	p.add(a.residual, a.output)
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
	p.norm(a.normed, a.residual, m.OutputNorm)
	p.project(a.scores, a.normed, m.Output, nil)
	return p.err
}
