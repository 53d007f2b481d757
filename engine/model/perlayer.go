package model

import (
	"fmt"
	"math"

	"specula/engine/compute"
)

// embedPerLayer computes each layer's own embedding of each row, and stores it in the layer's
// ofContext. The embedding is the scaled sum of a row of PerLayerTable and a projection of the usual
// embedding. Source: Gemma 3n, 2025; Gemma 4, 2026.
func (m *Model) embedPerLayer(p *pass) {
	if m.PerLayerTable == nil || p.err != nil {
		return
	}
	a, rows, layers := &m.activations, len(m.ids), m.PerLayerTable.Rows()/m.config.Vocab
	if need := rows * len(m.layers); cap(m.perLayerIDs) < need {
		m.perLayerIDs = make([]int32, need)
	}
	for i := range m.layers {
		l := &m.layers[i]
		ids := m.perLayerIDs[i*rows : (i+1)*rows]
		for r, id := range m.ids {
			ids[r] = id*int32(layers) + int32(l.number)
		}
		if p.err == nil {
			p.err = m.backend.Embed(l.ofToken, m.PerLayerTable, ids)
		}
	}
	for i := range m.layers {
		p.project(m.layers[i].ofContext, a.residual, m.layers[i].PerLayerContext, nil)
	}
	for i := range m.layers {
		l := &m.layers[i]
		p.scale(l.ofContext, 1/math.Sqrt(float64(m.config.Dim)))
		p.norm(l.ofContext, l.ofContext, m.PerLayerNorm, nil)
		p.scale(l.ofToken, math.Sqrt(float64(m.config.PerLayer)))
		p.add(l.ofContext, l.ofToken)
		p.scale(l.ofContext, math.Sqrt(0.5))
	}
}

// addPerLayer adds a layer's own embedding (see embedPerLayer) to the residual stream. A gate computed
// from the stream multiplies the embedding first.
func (m *Model) addPerLayer(p *pass, l *layer) {
	a := &m.activations
	if l.PerLayerGate == nil {
		return
	}
	p.project(a.perLayer, a.residual, l.PerLayerGate, nil)
	p.gate(a.perLayer, l.ofContext, m.arch.activation)
	p.project(a.output, a.perLayer, l.PerLayerMix, nil)
	p.contribute(l.PerLayerPostNorm)
}

// perLayerSizes lists the activations that embedPerLayer and addPerLayer need.
func (m *Model) perLayerSizes() []size {
	c, n := &m.config, m.config.PrefillRows
	if c.PerLayer == 0 {
		return nil
	}
	all := []size{{&m.activations.perLayer, n, c.PerLayer}}
	for i := range m.layers {
		l := &m.layers[i]
		all = append(all, size{&l.ofToken, n, c.PerLayer}, size{&l.ofContext, n, c.PerLayer})
	}
	return all
}

// layByLayer divides each row of PerLayerTable into one row for each layer. In the file, a token has one
// row for all layers.
func (m *Model) layByLayer(b *binder) error {
	c := &m.config
	if int64(c.Vocab)*int64(c.Layers) > math.MaxInt32 {
		return fmt.Errorf("embeddings of %d tokens in %d layers; allowed are %d together", c.Vocab, c.Layers, math.MaxInt32)
	}
	for i := range b.bindings {
		if w := &b.bindings[i]; w.tensor == "per_layer_token_embd.weight" {
			w.lookup, w.weight.Rows, w.weight.Cols = true, w.weight.Rows*c.Layers, c.PerLayer
			c.LookedUp = int64(w.weight.Rows) * int64(w.weight.Cols)
		}
	}
	return nil
}

// mixBeside adds the output of experts to the output of a dense network, which is in
// activations.output. Router and experts have their own norms.
func (m *Model) mixBeside(p *pass, l *layer) {
	a := &m.activations
	p.norm(a.output, a.output, l.DensePostNorm, nil)
	p.copy(a.beside, a.output, compute.Block{})
	p.norm(a.normed, a.residual, l.routerNorm, nil)
	m.choose(p, l, a.normed)
	p.norm(a.normed, a.residual, l.ExpertsNorm, nil)
	m.mix(p, l, a.normed)
	p.norm(a.output, a.output, l.ExpertsPostNorm, nil)
	p.add(a.output, a.beside)
}

// placeRouterNorms makes the weights of the norm of the router's input: RouterScale/√Dim.
func (m *Model) placeRouterNorms() (err error) {
	for i := range m.layers {
		l := &m.layers[i]
		if l.RouterScale == nil {
			continue
		}
		weights := make([]float32, m.config.Dim)
		for j, x := range l.RouterScale {
			weights[j] = float32(float64(x) / math.Sqrt(float64(m.config.Dim)))
		}
		l.RouterScale = nil
		if l.routerNorm, err = m.backend.Vector(fmt.Sprintf("router norm of layer %d", i), weights); err != nil {
			return err
		}
	}
	return nil
}
