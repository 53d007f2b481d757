package model

import (
	"fmt"

	"specula/engine/compute"
)

// mostStateDim bounds the sides of a head's state, and mostKernel the tokens of a convolution.
const mostStateDim, mostKernel = 256, 16

// readStates reads the sizes of layers with states, and which layers they are.
func (m *metadata) readStates(a *architecture, c *Config) {
	if !a.states {
		return
	}
	dim := m.count("ssm.state_size", 0, mostStateDim)
	s := compute.CacheState{KeyDim: dim, Kernel: m.count("ssm.conv_kernel", 0, mostKernel), Grouped: a.groupedHeads}
	s.KeyHeads, s.Heads = m.count("ssm.group_count", 0, mostHeads), m.count("ssm.time_step_rank", 0, mostHeads)
	inner := m.count("ssm.inner_size", 0, mostWide)
	s.ValueDim = inner / s.Heads
	if inner%s.Heads != 0 || s.ValueDim < 1 || s.ValueDim > mostStateDim {
		m.fail(m.key("ssm.inner_size"), inner, fmt.Sprintf("a multiple of the %d heads, at most %d numbers for each", s.Heads, mostStateDim))
	}
	if s.Heads%s.KeyHeads != 0 {
		m.fail(m.key("ssm.time_step_rank"), s.Heads, fmt.Sprintf("a multiple of the %d key heads", s.KeyHeads))
	}
	c.State, c.FullEvery = s, m.count("full_attention_interval", 4, mostLayers)
	recurrent, found, err := m.file.Bools(m.key("attention.recurrent_layers"))
	m.err = first(m.err, err)
	for i := range c.Layers {
		if found && (i >= len(recurrent) || recurrent[i] != c.recurs(i)) {
			m.fail(m.key("attention.recurrent_layers"), fmt.Sprintf("another list at layer %d", i),
				fmt.Sprintf("false in layers %d, %d and so on, and true in the others", c.FullEvery-1, 2*c.FullEvery-1))
		}
	}
	if c.Layers < c.FullEvery {
		m.fail(m.key("full_attention_interval"), c.FullEvery, fmt.Sprintf("at most the %d layers", c.Layers))
	}
}

// recurs reports whether layer i has a state in place of keys and values.
func (c *Config) recurs(i int) bool { return c.State.Heads > 0 && (i+1)%c.FullEvery != 0 }

// recur is used in place of attention in a layer with a state. It computes a gated delta net over
// x, the normed residual stream. Source: Yang et al., Gated Delta Networks, 2024; Qwen3-Next.
func (m *Model) recur(p *pass, i int, x compute.Buffer) {
	l, b := &m.layers[i], m.layers[i].buffers
	p.project(b.mixed, x, l.Mixed, nil)
	p.project(b.stateGate, x, l.StateGate, nil)
	p.project(b.alpha, x, l.Alpha, nil)
	p.project(b.beta, x, l.Beta, nil)
	p.deltaNet(b, compute.DeltaNet{Layer: i, Convolution: l.convolution, Rate: l.Rate, Shift: l.Shift, Eps: float32(m.config.NormEps)})
	p.norm(b.answered, b.answered, l.StateNorm, nil)
	p.gate(b.stateGate, b.answered, compute.SiLU)
	p.project(m.activations.output, b.stateGate, l.StateMix, nil)
	p.contribute(l.PostAttentionNorm)
}

// deltaNet brings each part's states over that part's rows.
func (p *pass) deltaNet(b *layerBuffers, d compute.DeltaNet) {
	for i := range p.parts {
		if part := &p.parts[i]; p.err == nil {
			d.Position = part.Cache.Len()
			p.err = p.Backend.(compute.Recurrent).DeltaNet(b.answered, b.mixed, b.alpha, b.beta, len(part.IDs), part.Cache, d)
			d.Row += len(part.IDs)
		}
	}
}

// stateSizes lists the activations of a layer with a state.
func (b *layerBuffers) stateSizes(rows int, s compute.CacheState) []size {
	values := s.Heads * s.ValueDim
	return []size{
		{&b.mixed, rows, s.Width()}, {&b.alpha, rows, s.Heads}, {&b.beta, rows, s.Heads}, {&b.stateGate, rows, values}, {&b.answered, rows, values},
	}
}

// placeConvolutions lays the weights of each convolution token by token. A file has them column by
// column.
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
