package model

import (
	"fmt"
	"slices"

	"specula/engine/compute"
)

// mostStateDim limits KeyDim and ValueDim, the dimensions of a head's state, which is a matrix. mostKernel
// limits Kernel, the number of tokens that the convolution sees.
const mostStateDim, mostKernel = 256, 16

// mixers says which parts a layer has.
type mixers struct {
	attention, state bool
	network          bool // a feed-forward network
}

// mixersOf says which parts layer i has.
func (c *Config) mixersOf(i int) mixers {
	if c.mixers == nil {
		return mixers{attention: true, network: true}
	}
	return c.mixers[i]
}

// readStates reads the sizes of layers with states, and which layers they are.
func (m *metadata) readStates(a *architecture, c *Config) {
	switch a.states.kind {
	case noStates:
		return
	case deltaNets:
		c.State = m.readHeads(compute.CacheState{Kind: compute.DeltaNetState, Grouped: a.groupedHeads})
		m.placeStatesBetween(c)
		return
	case mamba2:
		c.State = m.readHeads(compute.CacheState{Kind: compute.Mamba2State, Grouped: true})
	case shortConvolutions:
		c.State = compute.CacheState{Kind: compute.ConvolutionState, Heads: 1, ValueDim: c.Dim, Kernel: m.count("shortconv.l_cache", 0, mostKernel)}
	}
	m.placeStates(a.states, c)
}

// readHeads reads the sizes of the heads of a delta net or of Mamba-2. What Mamba-2 calls a group is a
// key head here.
func (m *metadata) readHeads(s compute.CacheState) compute.CacheState {
	s.KeyDim, s.Kernel = m.count("ssm.state_size", 0, mostStateDim), m.count("ssm.conv_kernel", 0, mostKernel)
	s.KeyHeads, s.Heads = m.count("ssm.group_count", 0, mostHeads), m.count("ssm.time_step_rank", 0, mostHeads)
	inner := m.count("ssm.inner_size", 0, mostWide)
	s.ValueDim = inner / s.Heads
	if inner%s.Heads != 0 || s.ValueDim < 1 || s.ValueDim > mostStateDim {
		m.fail(m.key("ssm.inner_size"), inner, fmt.Sprintf("a multiple of the %d heads, at most %d numbers for each", s.Heads, mostStateDim))
	}
	if s.Heads%s.KeyHeads != 0 {
		m.fail(m.key("ssm.time_step_rank"), s.Heads, fmt.Sprintf("a multiple of the %d key heads", s.KeyHeads))
	}
	return s
}

// placeStatesBetween reads which layers have a state: every n-th layer has attention, and all others
// have a state.
func (m *metadata) placeStatesBetween(c *Config) {
	every := m.count("full_attention_interval", 4, mostLayers)
	recurrent, found, err := m.file.Bools(m.key("attention.recurrent_layers"))
	m.err = first(m.err, err)
	c.mixers = make([]mixers, c.Layers)
	for i := range c.mixers {
		state := (i+1)%every != 0
		c.mixers[i] = mixers{attention: !state, state: state, network: true}
		if found && (i >= len(recurrent) || recurrent[i] != state) {
			m.fail(m.key("attention.recurrent_layers"), fmt.Sprintf("another list at layer %d", i),
				fmt.Sprintf("false in layers %d, %d and so on, and true in the others", every-1, 2*every-1))
		}
	}
	if c.Layers < every {
		m.fail(m.key("full_attention_interval"), every, fmt.Sprintf("at most the %d layers", c.Layers))
	}
}

// placeStates reads which layers have a state. If s.beside is set, all layers have one. Otherwise those layers
// have one that have no key heads of attention and, if each layer has only one part (s.single), no
// feed-forward network.
func (m *metadata) placeStates(s states, c *Config) {
	keys, networks := m.nonzero("attention.head_count_kv", c.Layers), m.nonzero("feed_forward_length", c.Layers)
	c.mixers = make([]mixers, c.Layers)
	for i := range c.mixers {
		has := mixers{attention: keys[i], state: !keys[i], network: true}
		switch {
		case s.beside:
			has.attention, has.state = true, true
		case s.single && keys[i] && networks[i]:
			m.fail(m.key("feed_forward_length"), fmt.Sprintf("above 0 in layer %d", i), "0 there, since the layer has attention")
		case s.single:
			has.state, has.network = !keys[i] && !networks[i], networks[i]
		}
		c.mixers[i] = has
	}
	if !slices.ContainsFunc(c.mixers, func(has mixers) bool { return has.attention }) {
		m.fail(m.key("attention.head_count_kv"), "0 in every layer", "at least one layer with attention")
	}
}

// nonzero says for each layer whether its integer in a list of the file is not 0. Without a list, or
// after its end, the answer is true.
func (m *metadata) nonzero(name string, layers int) []bool {
	list, _, err := m.file.Ints(m.key(name))
	is := make([]bool, layers)
	for i := range is {
		is[i] = list == nil || err != nil || i >= len(list) || list[i] != 0
	}
	return is
}
