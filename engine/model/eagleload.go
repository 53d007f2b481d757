package model

import (
	"fmt"

	"specula/engine/compute"
)

// loadEagle loads a head by the tensor names in the files of EAGLE's authors. They call the layer of
// EAGLE-3 midlayer; files of other people call it layers.0.
func loadEagle(h *headTensors, target *Model, c headConfig) (*LayerHead, error) {
	e := &LayerHead{target: target, normed: c.NormBeforeResidual}
	fc, _ := h.find("fc.weight")
	dim := fc.Rows
	if h.has("midlayer.hidden_norm.weight", "layers.0.hidden_norm.weight") {
		e.plan = eagle3
	}
	e.fc = h.matrix(0, 0, required, "fc.weight")
	e.fcBias = h.vector(dim, optional, "fc.bias")
	if err := e.choosePlan(h, c, dim, fc.Cols); err != nil {
		return nil, err
	}
	if err := e.loadLayer(h, c, dim); err != nil {
		return nil, err
	}
	if err := e.loadEnds(h, dim); err != nil {
		return nil, err
	}
	if err := h.leftover(); err != nil {
		return nil, err
	}
	m := &e.layer
	m.config.Vocab = e.output.Rows()
	sizes := append(m.sizes(), size{&e.pair, m.config.PrefillRows, 2 * dim})
	if e.isEagle3() {
		sizes = append(sizes, size{&e.fused, m.config.PrefillRows, e.fc.Cols()})
	}
	return e, allocateAll(m.backend, sizes)
}

// choosePlan sets which hidden states of the target the head reads, and checks that fc has the
// right width for them.
func (e *LayerHead) choosePlan(h *headTensors, c headConfig, dim, fcCols int) error {
	t := &e.target.config
	want := 2 * dim
	if !e.isEagle3() {
		e.taps = []int{compute.Normed}
		if dim != t.Dim {
			return fmt.Errorf("%q was made for hidden states of %d numbers, and the target's have %d", h.file.Name(), dim, t.Dim)
		}
	} else {
		e.taps = []int{2, t.Layers / 2, t.Layers - 3}
		if c.Aux != nil {
			e.taps = c.Aux
		} else if aux := c.EagleConfig.Aux; aux != nil {
			e.taps = nil
			for _, layer := range aux {
				e.taps = append(e.taps, layer+1)
			}
		}
		for _, layer := range e.taps {
			if layer < 0 || layer > t.Layers {
				return fmt.Errorf("%q reads the target in front of layer %d, and it has the layers 0 to %d", h.file.Name(), layer, t.Layers-1)
			}
		}
		want = len(e.taps) * t.Dim
	}
	if fcCols != want {
		return fmt.Errorf("%q has an fc.weight over %d numbers; for this target, with hidden states of %d, allowed are %d", h.file.Name(), fcCols, t.Dim, want)
	}
	return nil
}

// loadLayer loads the transformer layer.
func (e *LayerHead) loadLayer(h *headTensors, c headConfig, dim int) error {
	at := func(name string) []string { return []string{"midlayer." + name, "layers.0." + name} }
	query, _ := h.find(at("self_attn.q_proj.weight")...)
	key, _ := h.find(at("self_attn.k_proj.weight")...)
	gate, _ := h.find(at("mlp.gate_proj.weight")...)
	if query.Rows == 0 || key.Rows == 0 || gate.Rows == 0 {
		return fmt.Errorf("%q lacks a layer: there is no \"layers.0.self_attn.q_proj.weight\", k_proj or \"layers.0.mlp.gate_proj.weight\"", h.file.Name())
	}
	shape, err := c.shape(h.file, &e.target.config, dim, query.Rows, key.Rows)
	if err != nil {
		return err
	}
	t := &e.target.config
	shape.FFN, shape.MaxTokens, shape.MaxRows, shape.PrefillRows, shape.CacheType = gate.Rows, t.MaxTokens, 1, t.PrefillRows+t.MaxRows, t.CacheType
	in := dim
	if e.isEagle3() {
		in = 2 * dim
		e.inputNorm = h.vector(dim, required, at("input_layernorm.weight")...)
		e.hiddenNorm = h.vector(dim, required, at("hidden_norm.weight")...)
	}
	queries, keys := query.Rows, key.Rows
	e.layer = Model{backend: e.target.backend, arch: architecture{name: "eagle", neoX: true}, config: shape, layers: []layer{{
		Query:           h.matrix(queries, in, required, at("self_attn.q_proj.weight")...),
		Key:             h.matrix(keys, in, required, at("self_attn.k_proj.weight")...),
		Value:           h.matrix(keys, in, required, at("self_attn.v_proj.weight")...),
		QueryBias:       h.vector(queries, optional, at("self_attn.q_proj.bias")...),
		KeyBias:         h.vector(keys, optional, at("self_attn.k_proj.bias")...),
		ValueBias:       h.vector(keys, optional, at("self_attn.v_proj.bias")...),
		Mix:             h.matrix(dim, queries, required, at("self_attn.o_proj.weight")...),
		MixBias:         h.vector(dim, optional, at("self_attn.o_proj.bias")...),
		FeedForwardNorm: h.vector(dim, required, at("post_attention_layernorm.weight")...),
		Gate:            h.matrix(gate.Rows, dim, required, at("mlp.gate_proj.weight")...),
		Up:              h.matrix(gate.Rows, dim, required, at("mlp.up_proj.weight")...),
		Down:            h.matrix(dim, gate.Rows, required, at("mlp.down_proj.weight")...),
	}}}
	e.layer.shapeLayers(layout{keysOf: []int{0}, shapes: []layerShape{{
		heads: shape.Heads, kvHeads: shape.KVHeads, keyDim: shape.HeadDim, valueDim: shape.HeadDim, ropeDim: shape.RopeDim, ffn: shape.FFN,
		attentionScale: shape.AttentionScale,
	}}})
	if err := first(h.err, e.layer.checkCache()); err != nil {
		return err
	}
	factors, err := c.factors(shape)
	if err != nil {
		return fmt.Errorf("the config.json beside %q: %w", h.file.Name(), err)
	}
	angles, err := newRopeTables(&e.layer.config, shape.RopeDim, shape.RopeBase, Scaling{}, factors)
	e.layer.layers[0].rope = &angles
	return err
}

// loadEnds loads the embedding, the output matrix and for EAGLE-3 the output norm, and maps the
// vocabulary. The head uses the target's embedding unless the file has one for all of the target's
// tokens, and the target's output matrix unless the file has one.
func (e *LayerHead) loadEnds(h *headTensors, dim int) error {
	t := &e.target.config
	e.embedding = e.target.Embedding
	if own, found := h.find("embed_tokens.weight"); found && own.Rows >= t.Vocab {
		e.embedding = h.matrix(0, dim, required, "embed_tokens.weight")
	}
	e.output = e.target.Output
	if h.has("lm_head.weight") {
		e.output = h.matrix(0, dim, required, "lm_head.weight")
	}
	if e.isEagle3() {
		e.outputNorm = h.vector(dim, required, "norm.weight")
	}
	if h.err != nil {
		return h.err
	}
	if e.embedding.Cols() != dim || e.output.Cols() != dim {
		return fmt.Errorf("%q has states of %d numbers, the target of %d, and no embed_tokens.weight for all tokens or no lm_head.weight of its own", h.file.Name(), dim, t.Dim)
	}
	return e.mapVocabulary(h)
}

// mapVocabulary reads the tensor d2t, if the file has it, and sets ids. For each token that the head
// can draft, d2t has the target's id minus the head's id. If all differences are 0, ids stays nil.
func (e *LayerHead) mapVocabulary(h *headTensors) error {
	var offsets []int64
	var found bool
	var err error
	for _, prefix := range prefixes {
		if offsets, found, err = h.file.Integers(prefix + "d2t"); found || err != nil {
			break
		}
	}
	rows, vocab := e.output.Rows(), e.target.config.Vocab
	switch {
	case err != nil:
		return err
	case !found:
		return fitsVocabulary(h.file, rows, vocab)
	case len(offsets) != rows:
		return fmt.Errorf("%q maps %d tokens by d2t and guesses among %d", h.file.Name(), len(offsets), rows)
	}
	same := true
	ids := make([]int32, rows)
	for i, offset := range offsets {
		id := int64(i) + offset
		if offset > int64(vocab) || id < 0 || id >= int64(vocab) {
			return fmt.Errorf("%q maps token %d by d2t to %d, and the target has the tokens 0 to %d: it was made for another model", h.file.Name(), i, id, vocab-1)
		}
		ids[i] = int32(id)
		same = same && offset == 0
	}
	if !same {
		e.ids = ids
		return nil
	}
	return fitsVocabulary(h.file, rows, vocab)
}
