package model

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"specula/engine/compute"
	"specula/engine/weights"
)

// nextn has the tensors that an MTP head has besides those of a layer; llama.cpp calls such a head nextn.
// If the file lacks one of the last three, the target's tensor is used.
type nextn struct {
	InputNorm  compute.Vector `gguf:"blk.%d.nextn.enorm.weight" shape:"dim"`
	HiddenNorm compute.Vector `gguf:"blk.%d.nextn.hnorm.weight" shape:"dim"`
	Join       compute.Matrix `gguf:"blk.%d.nextn.eh_proj.weight" shape:"dim,pair"`
	Embedding  compute.Matrix `gguf:"blk.%d.nextn.embed_tokens.weight" shape:"vocab,dim" need:"optional"`
	Output     compute.Matrix `gguf:"blk.%d.nextn.shared_head_head.weight" shape:"vocab,dim" need:"optional"`
	OutputNorm compute.Vector `gguf:"blk.%d.nextn.shared_head_norm.weight" shape:"dim" need:"optional"`
}

// inFile is the MTP head in the target's own file.
type inFile struct {
	nextn
	head    *LayerHead
	tensors *binder // nil: no head
	refused string  // why the file's head cannot be used; "" if it can, or if there is none
}

// bindHead finds the MTP head, which stands after the model's layers in the file. If there are several,
// only the first is used, for all tokens of a draft. To draft the first token, the head reads the target's
// hidden state; to draft a later one, it reads the state that it computed itself for the token before. A head
// that cannot be used is no error, because the model works without it; the field refused says why.
func (m *Model) bindHead(file *weights.File) {
	i := m.config.Layers // the number of the head's layer in the file
	join := fmt.Sprintf("blk.%d.nextn.eh_proj.weight", i)
	if heads, _, _ := file.Uint(file.Architecture() + ".nextn_predict_layers"); heads == 0 || !hasTensor(file, join) {
		return
	}
	h := &m.mtp
	if m.arch.latent || m.arch.sharedKeys {
		h.refused = fmt.Sprintf("the head in the target's file is not used: heads cannot compute the attention of a %s model yet", m.arch.name)
		return
	}
	layer := m.headLayer()
	b := &binder{file: file, arch: layer.arch, layers: i, parts: layer.config.parts(0), sizes: layer.config.sizes(layer.arch.qkNorm, layer.layers[0].shape)}
	b.sizes["pair"] = 2 * m.config.Dim
	h.head = &LayerHead{target: m, plan: mtp, layer: layer, taps: []int{compute.Normed}}
	l := &h.head.layer.layers[0]
	for _, tensors := range []any{&h.nextn, l, &l.mixture} {
		if err := b.collect(tensors, i); err != nil {
			h.refused = fmt.Sprintf("the head in the target's file is not used: %v", err)
			return
		}
	}
	if extra := b.unbound(fmt.Sprintf("blk.%d.", i)); extra != "" {
		h.refused = fmt.Sprintf("the head in the target's file is not used: the tensor %s has no place in it", extra)
		return
	}
	b.describe(&h.head.layer.config)
	h.tensors = b
}

// headLayer returns a model of one layer, of the same kind as the target's layers with attention.
func (m *Model) headLayer() Model {
	c, arch := m.config, m.arch
	if arch.states.single { // the target's layers have one part and one norm, the head's has two of each
		arch.has, arch.named = maps.Clone(arch.has), maps.Clone(arch.named)
		arch.has["feed_forward_norm"], arch.named["ffn_norm"] = required, "post_attention_norm"
	}
	c.Layers, c.DenseLayers, c.State, c.mixers, c.MaxRows, c.PrefillRows = 1, 0, compute.CacheState{}, nil, 1, c.PrefillRows+c.MaxRows
	c.Parameters, c.WeightBytes = 0, 0
	shape := m.layers[m.attentionLayer()].shape
	if shape.ffn = c.FFN; c.Experts.Experts > 0 {
		shape.ffn = 0
	}
	layer := Model{backend: m.backend, arch: arch, config: c, layers: make([]layer, 1)}
	layer.shapeLayers(layout{shapes: []layerShape{shape}, keysOf: []int{0}})
	return layer
}

// attentionLayer returns the number of the first layer with keys and values.
func (m *Model) attentionLayer() int {
	return max(0, slices.IndexFunc(m.layers, func(l layer) bool { return l.shape.heads > 0 }))
}

// takeHead loads the head's weights.
func (m *Model) takeHead(ctx context.Context, backend compute.Backend) error {
	h := &m.mtp
	if h.tensors == nil {
		return nil
	}
	_, err := h.tensors.take(ctx, backend, 0, nil)
	return err
}

// Head allocates the buffers of the MTP head in the model's own file, and returns the head; nil if the file has
// none. If the file has a head that cannot be used, head is nil and why gives the reason.
func (m *Model) Head() (head *Head, why string, err error) {
	h := &m.mtp
	if h.tensors == nil {
		return nil, h.refused, nil
	}
	e := h.head
	layer := &e.layer
	layer.layers[0].rope = m.layers[m.attentionLayer()].rope
	e.inputNorm, e.hiddenNorm, e.fc = h.InputNorm, h.HiddenNorm, h.Join
	e.embedding, e.output, e.outputNorm = m.Embedding, m.Output, m.OutputNorm
	if h.nextn.Embedding != nil {
		e.embedding = h.nextn.Embedding
	}
	if h.nextn.Output != nil {
		e.output = h.nextn.Output
	}
	if h.nextn.OutputNorm != nil {
		e.outputNorm = h.nextn.OutputNorm
	}
	if layer.config.Experts.Experts > 0 {
		if layer.routing, err = m.backend.(compute.Mixer).Routing(layer.config.PrefillRows, layer.config.Experts); err != nil {
			return nil, "", err
		}
	}
	if err := allocateAll(m.backend, append(layer.sizes(), size{&e.pair, layer.config.PrefillRows, 2 * layer.config.Dim})); err != nil {
		return nil, "", err
	}
	c := &layer.config
	return &Head{Layer: e, Name: "mtp", Kind: e.kind(), Parameters: c.Parameters, Bytes: c.WeightBytes}, "", nil
}

// bindings are the head's weights.
func (h *inFile) bindings() []binding {
	if h.tensors == nil {
		return nil
	}
	return h.tensors.bindings
}

// headBytes is the memory of the head's pass and of its cache, without the tables of cosine and sine, which the
// model has already.
func (m *Model) headBytes(tokens int) float64 {
	if m.mtp.tensors == nil {
		return 0
	}
	layer := &m.mtp.head.layer
	return layer.activationBytes(tokens) - layer.ropeBytes(tokens) + layer.cacheBytes(tokens)
}
