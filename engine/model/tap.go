package model

import (
	"fmt"

	"specula/engine/compute"
)

// NewTap makes a tap for hidden states, numbered as in compute.Tap.
func (m *Model) NewTap(layers ...int) (*compute.Tap, error) {
	for _, l := range layers {
		if l != compute.Normed && (l < 0 || l > m.config.Layers) {
			return nil, fmt.Errorf("the hidden state in front of layer %d was asked for; the model has the layers 0 to %d", l, m.config.Layers-1)
		}
	}
	rows, err := m.backend.Buffer(m.config.PrefillRows, len(layers)*m.config.Dim)
	if err != nil {
		return nil, fmt.Errorf("allocating hidden states of %d × %d numbers: %w", m.config.PrefillRows, len(layers)*m.config.Dim, err)
	}
	return &compute.Tap{Layers: layers, Rows: rows}, nil
}

// Attach makes all later passes fill a tap; after Attach(nil) they fill none. Row i of a pass writes its
// hidden states to row i of the tap. The tap only copies, so logits, keys and values keep their bits.
func (m *Model) Attach(t *compute.Tap) { m.tap = t }

// leave copies the residual stream before a layer to the tap, if the tap asks for it. After the last
// layer, where layer is the number of layers, it also copies the normed stream, if the tap asks for that.
func (m *Model) leave(p *pass, layer int) {
	if m.tap == nil {
		return
	}
	a := &m.activations
	for i, l := range m.tap.Layers {
		block := compute.Block{Col: i * m.config.Dim}
		switch {
		case l == layer:
			p.copy(m.tap.Rows, a.residual, block)
		case l == compute.Normed && layer == len(m.layers):
			p.norm(a.normed, a.residual, m.OutputNorm, m.OutputNormBias)
			p.copy(m.tap.Rows, a.normed, block)
		}
	}
}
