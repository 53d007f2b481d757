package model

import (
	"fmt"

	"specula/engine/compute"
)

// recur adds to the residual stream what the state of layer i gives for x, the normed residual stream.
func (m *Model) recur(p *pass, i int, x compute.Buffer) {
	l, b := &m.layers[i], m.layers[i].buffers
	d := compute.Recurrence{Layer: i, Convolution: l.convolution, Bias: l.ConvolutionBias, Rate: l.Rate, Shift: l.Shift, Skip: l.Skip, Eps: float32(m.config.NormEps)}
	answered := b.stateGate
	switch l.shape.state.Kind {
	case compute.ConvolutionState:
		p.project(b.mixed, x, l.Mixed, nil)
		p.shortConvolution(b, d)
		answered = b.answered
	case compute.Mamba2State:
		m.projectState(p, l, x)
		p.mamba2(b, d)
		p.gate(b.stateGate, b.answered, compute.SiLU)
		p.normGroups(b.stateGate, l)
	default:
		m.projectState(p, l, x)
		p.project(b.beta, x, l.Beta, nil)
		p.deltaNet(b, d)
		p.norm(b.answered, b.answered, l.StateNorm, nil)
		p.gate(b.stateGate, b.answered, compute.SiLU)
	}
	p.project(m.activations.output, answered, l.StateMix, nil)
	p.contribute(l.PostAttentionNorm)
}

// projectState computes the inputs of a state that has a gate and a decay.
func (m *Model) projectState(p *pass, l *layer, x compute.Buffer) {
	b := l.buffers
	p.project(b.mixed, x, l.Mixed, nil)
	p.project(b.stateGate, x, l.StateGate, nil)
	p.project(b.alpha, x, l.Alpha, nil)
}

// deltaNet computes a gated delta net. Source: Yang et al., Gated Delta Networks, 2024; Qwen3-Next.
func (p *pass) deltaNet(b *layerBuffers, d compute.Recurrence) {
	p.eachPart(d, func(r compute.Recurrent, part *Part, d compute.Recurrence) error {
		return r.DeltaNet(b.answered, b.mixed, b.alpha, b.beta, len(part.IDs), part.Cache, d)
	})
}

// mamba2 computes a layer of Mamba-2. Source: Dao and Gu, Transformers are SSMs, 2024.
func (p *pass) mamba2(b *layerBuffers, d compute.Recurrence) {
	p.eachPart(d, func(r compute.Recurrent, part *Part, d compute.Recurrence) error {
		return r.Mamba2(b.answered, b.mixed, b.alpha, len(part.IDs), part.Cache, d)
	})
}

// shortConvolution computes a gated short convolution, of LFM2.
func (p *pass) shortConvolution(b *layerBuffers, d compute.Recurrence) {
	p.eachPart(d, func(r compute.Recurrent, part *Part, d compute.Recurrence) error {
		return r.ShortConvolution(b.answered, b.mixed, len(part.IDs), part.Cache, d)
	})
}

// eachPart calls the function over for each part of the pass. over computes the part's rows with the states in
// the part's cache.
func (p *pass) eachPart(d compute.Recurrence, over func(r compute.Recurrent, part *Part, d compute.Recurrence) error) {
	for i := range p.parts {
		if part := &p.parts[i]; p.err == nil {
			d.Position = part.Cache.Len()
			p.err = over(p.Backend.(compute.Recurrent), part, d)
			d.Row += len(part.IDs)
		}
	}
}

// normGroups normalises the output of each group of a Mamba-2 layer, if the layer has a norm.
func (p *pass) normGroups(x compute.Buffer, l *layer) {
	if p.err == nil && l.StateNorm != nil {
		p.err = p.Backend.(compute.Recurrent).NormGroups(x, x, p.rows, l.StateNorm, x.Cols()/l.shape.state.KeyHeads, float32(p.model.config.NormEps))
	}
}

// stateSizes lists the activations of a layer with a state.
func (b *layerBuffers) stateSizes(rows int, s compute.CacheState) []size {
	values := s.Heads * s.ValueDim
	if s.Kind == compute.ConvolutionState {
		return []size{{&b.mixed, rows, 3 * values}, {&b.answered, rows, values}}
	}
	return []size{
		{&b.mixed, rows, s.Width()}, {&b.alpha, rows, s.Heads}, {&b.beta, rows, s.Heads}, {&b.stateGate, rows, values}, {&b.answered, rows, values},
	}
}

// placeConvolutions reorders the weights of each convolution: the file has them column by column, and
// the backend needs them token by token.
func (m *Model) placeConvolutions() error {
	for i := range m.layers {
		l := &m.layers[i]
		kernel, width := l.shape.state.Kernel, l.shape.state.Width()
		if kernel == 0 {
			continue
		}
		byToken := make([]float32, kernel*width)
		for at, v := range l.Convolution {
			byToken[at%kernel*width+at/kernel] = v
		}
		l.Convolution = nil
		var err error
		if l.convolution, err = m.backend.Vector(fmt.Sprintf("convolution of layer %d", i), byToken); err != nil {
			return err
		}
	}
	return nil
}
