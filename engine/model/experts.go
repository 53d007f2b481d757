package model

import (
	"fmt"

	"specula/engine/compute"
)

// experts says how a family mixes experts. The metadata of a file may say some of it differently.
type experts struct {
	some bool // the family has mixtures
	only bool // each model of the family is a mixture
	// biasMeansSigmoid: if a file does not say how shares are computed, but has biases for the choice,
	// shares are σ(score).
	biasMeansSigmoid bool

	sigmoid bool // the share of an expert is σ(score), σ(z) = 1/(1+exp(−z)); otherwise its part of the softmax of all scores
	normed  bool // shares of the chosen experts are divided by their sum
	shared  bool // one expert is used by all rows
	beside  bool // layers with experts have a dense network, too
	narrow  bool // experts may read and write fewer numbers than the residual stream has
}

// mostExperts limits the numbers of experts that a file may state.
const mostExperts = 4096

// readExperts reads the sizes of a mixture, and how it chooses experts. It refuses experts in a
// family without mixtures.
func (m *metadata) readExperts(a *architecture, c *Config) {
	n, found, err := m.file.Uint(m.key("expert_count"))
	m.err = first(m.err, err)
	switch {
	case n > 0 && !a.experts.some:
		m.fail(m.key("expert_count"), n, fmt.Sprintf("0: a mixture of experts is not part of %s as specula knows it", a.name))
	case n > mostExperts, n == 0 && a.experts.only && found:
		m.fail(m.key("expert_count"), n, fmt.Sprintf("1 to %d", mostExperts))
	case n == 0 && a.experts.only:
		m.fail(m.key("expert_count"), "missing", fmt.Sprintf("1 to %d", mostExperts))
	}
	if n == 0 || m.err != nil {
		return
	}
	r := &c.Experts
	*r = compute.Router{Experts: int(n), Sigmoid: a.experts.sigmoid, Normed: a.experts.normed, Scale: 1}
	r.Used = m.count("expert_used_count", 0, min(int(n), compute.MostUsed))
	c.ExpertFFN = m.count("expert_feed_forward_length", c.FFN, mostWide)
	c.ExpertDim = c.Dim
	if a.experts.narrow {
		c.ExpertDim = m.count("moe_latent_size", c.Dim, mostWide)
	}
	if scale, _ := m.maybe("expert_weights_scale", 0, 1000); scale > 0 {
		r.Scale = float32(scale)
	}
	if normed, found, err := m.file.Bool(m.key("expert_weights_norm")); found || err != nil {
		r.Normed, m.err = normed, first(m.err, err)
	}
	m.readGating(r)
	if a.experts.shared {
		each := m.optionalCount("expert_shared_count", mostExperts) * c.ExpertFFN
		if c.SharedFFN = m.optionalCount("expert_shared_feed_forward_length", mostWide); c.SharedFFN == 0 {
			c.SharedFFN = each
		}
	}
	c.Beside = a.experts.beside
	c.DenseLayers = m.optionalCount("leading_dense_block_count", c.Layers)
	if a.experts.biasMeansSigmoid && m.optionalCount("expert_gating_func", 100) == 0 {
		r.Sigmoid = hasTensor(m.file, fmt.Sprintf("blk.%d.exp_probs_b.bias", c.DenseLayers))
	}
	if step := m.count("interleave_moe_layer_step", 1, mostLayers); step != 1 {
		m.fail(m.key("interleave_moe_layer_step"), step, "1: after the first dense layers, each layer has experts")
	}
	for _, key := range []string{"expert_group_count", "expert_group_used_count"} {
		if groups := m.count(key, 1, mostExperts); groups != 1 {
			m.fail(m.key(key), groups, "1: experts that are chosen in groups are not supported")
		}
	}
}

// readGating reads how the shares are computed. The file gives the number of a kind, as llama.cpp numbers
// them. Kind 3, the softmax over the chosen scores only, equals the softmax over all scores with normed
// shares.
func (m *metadata) readGating(r *compute.Router) {
	const softmax, sigmoid, softmaxOfChosen = 1, 2, 3
	switch kind := m.optionalCount("expert_gating_func", 100); kind {
	case 0:
	case softmax:
		r.Sigmoid = false
	case sigmoid:
		r.Sigmoid = true
	case softmaxOfChosen:
		r.Sigmoid, r.Normed = false, true
	default:
		m.fail(m.key("expert_gating_func"), kind, "1 to 3")
	}
}

// optionalCount reads an integer from 0 to most; a missing key gives 0.
func (m *metadata) optionalCount(name string, most int) int {
	if n, found, err := m.file.Uint(m.key(name)); err == nil && (!found || n == 0) {
		return 0
	}
	return m.count(name, 1, most)
}

// parts says which tensors layer i has, as values of the struct tag "in".
func (c *Config) parts(i int) map[string]bool {
	mixed := c.Experts.Experts > 0 && i >= c.DenseLayers
	has, kind := c.mixersOf(i), c.State.Kind
	return map[string]bool{
		"": true, "attention": has.attention, "whole": has.attention && c.Latent.Dim == 0,
		"keys":  has.attention && !c.borrows(i) && c.Latent.Dim == 0,
		"dense": has.network && (!mixed || c.Beside), "experts": has.network && mixed, "shared": has.network && mixed && c.SharedFFN > 0,
		"beside": mixed && c.Beside, "narrow": has.network && mixed && c.ExpertDim != c.Dim, "per_layer": c.PerLayer > 0, "drafter": c.TargetDim > 0,
		"latent": c.Latent.Dim > 0, "latent_query": c.Latent.Dim > 0 && c.Latent.QueryDim > 0, "latent_plain": c.Latent.Dim > 0 && c.Latent.QueryDim == 0,
		"state": has.state, "decay": has.state && kind != compute.ConvolutionState,
		"delta": has.state && kind == compute.DeltaNetState, "mamba2": has.state && kind == compute.Mamba2State,
	}
}

// choose lets the router choose experts for each row of x.
func (m *Model) choose(p *pass, l *layer, x compute.Buffer) {
	p.project(m.activations.routing, x, l.Router, l.RouterBias)
	p.route(m.activations.routing, l.ChoiceBias)
}

// mix computes a feed-forward network of experts, after choose. The outputs of the experts of a row are
// added, each times its share. There may also be an expert that all rows use.
func (m *Model) mix(p *pass, l *layer, x compute.Buffer) {
	a := &m.activations
	if l.ExpertsNarrow == nil {
		m.askExperts(p, l, x)
		p.mixSlots(a.output, a.slotOutput)
	} else {
		p.project(a.narrow, x, l.ExpertsNarrow, nil)
		m.askExperts(p, l, a.narrow)
		p.mixSlots(a.narrow, a.slotOutput)
		p.project(a.output, a.narrow, l.ExpertsWiden, nil)
	}
	if l.SharedUp != nil {
		m.share(p, l, x)
	}
}

// askExperts computes the outputs of the experts that rows of x chose.
func (m *Model) askExperts(p *pass, l *layer, x compute.Buffer) {
	a, slots := &m.activations, p.rows*m.config.Experts.Used
	if l.GateEach == nil {
		p.projectEach(a.slotGate, x, l.UpEach, false)
		p.activateRows(a.slotGate, slots, m.arch.activation)
	} else {
		p.projectEach(a.slotGate, x, l.GateEach, false)
		p.projectEach(a.slotUp, x, l.UpEach, false)
		p.addEach(a.slotGate, l.GateEachBias)
		p.addEach(a.slotUp, l.UpEachBias)
		p.gateRows(a.slotGate, a.slotUp, slots, m.arch.activation)
	}
	p.projectEach(a.slotOutput, a.slotGate, l.DownEach, true)
	p.addEach(a.slotOutput, l.DownEachBias)
	p.scaleEach(a.slotOutput, l.DownEachScale)
}

// share adds the output of the expert that all rows use.
func (m *Model) share(p *pass, l *layer, x compute.Buffer) {
	a := &m.activations
	if l.SharedGate == nil {
		p.project(a.sharedGate, x, l.SharedUp, nil)
		p.activate(a.sharedGate, m.arch.activation)
	} else {
		p.project(a.sharedGate, x, l.SharedGate, nil)
		p.project(a.sharedUp, x, l.SharedUp, nil)
		p.gate(a.sharedGate, a.sharedUp, m.arch.activation)
	}
	p.project(a.sharedOutput, a.sharedGate, l.SharedDown, nil)
	if l.SharedFactor != nil {
		p.project(a.sharedFactor, x, l.SharedFactor, nil)
		p.weigh(a.sharedOutput, a.sharedFactor)
	}
	p.add(a.output, a.sharedOutput)
}

// mixtureSizes lists the activations of layers with experts.
func (m *Model) mixtureSizes() []size {
	c, a, n := &m.config, &m.activations, m.config.PrefillRows
	if c.Experts.Experts == 0 {
		return nil
	}
	slots := n * c.Experts.Used
	all := []size{{&a.routing, n, c.Experts.Experts}, {&a.slotGate, slots, c.ExpertFFN}, {&a.slotOutput, slots, c.ExpertDim}}
	gated := m.arch.needs()["gate"] != absent
	if gated {
		all = append(all, size{&a.slotUp, slots, c.ExpertFFN})
	}
	if c.ExpertDim != c.Dim {
		all = append(all, size{&a.narrow, n, c.ExpertDim})
	}
	if c.Beside {
		all = append(all, size{&a.beside, n, c.Dim})
	}
	if c.SharedFFN > 0 {
		all = append(all, size{&a.sharedGate, n, c.SharedFFN}, size{&a.sharedOutput, n, c.Dim}, size{&a.sharedFactor, n, 1})
	}
	if c.SharedFFN > 0 && gated {
		all = append(all, size{&a.sharedUp, n, c.SharedFFN})
	}
	return all
}

// ExpertsTouched counts the experts that the layers have read in all passes so far, and how often a layer
// has chosen experts; zeros if the model has none.
func (m *Model) ExpertsTouched() compute.Touched {
	if m.routing == nil {
		return compute.Touched{}
	}
	return m.routing.Touched()
}

// mixer returns the backend's Mixer, which exists: checkOperations has refused a model with experts
// if the backend has none.
func (p *pass) mixer() compute.Mixer { return p.Backend.(compute.Mixer) }

func (p *pass) route(scores compute.Buffer, bias compute.Vector) {
	if p.err == nil {
		p.err = p.mixer().Route(p.model.routing, scores, p.rows, bias)
	}
}

// projectEach multiplies the input of each slot with the matrix of the slot's expert; compute.Mixer says
// what bySlot means. Like project, it first checks whether the pass was cancelled.
func (p *pass) projectEach(dst, x compute.Buffer, w compute.Matrix, bySlot bool) {
	if p.err == nil {
		p.err = p.ctx.Err()
	}
	if p.err == nil {
		p.err = p.mixer().MatMulExperts(dst, x, p.model.routing, w, bySlot)
	}
}

// addEach adds to each slot the bias of its expert; bias may be nil.
func (p *pass) addEach(x compute.Buffer, bias compute.Vector) {
	if p.err == nil && bias != nil {
		p.err = p.mixer().AddExpertBias(x, p.model.routing, bias)
	}
}

// scaleEach multiplies each slot by the factor of its expert; factors may be nil.
func (p *pass) scaleEach(x compute.Buffer, factors compute.Vector) {
	if p.err == nil && factors != nil {
		p.err = p.Backend.(compute.ExpertScaler).ScaleExperts(x, p.model.routing, factors)
	}
}

func (p *pass) mixSlots(dst, x compute.Buffer) {
	if p.err == nil {
		p.err = p.mixer().Mix(dst, x, p.model.routing)
	}
}

// weigh multiplies each row of x by σ of the row's number in gate, σ(z) = 1/(1+exp(−z)).
func (p *pass) weigh(x, gate compute.Buffer) {
	if p.err == nil {
		p.err = p.mixer().Weigh(x, p.rows, gate)
	}
}
