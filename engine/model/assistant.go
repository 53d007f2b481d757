package model

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/engine/weights"
)

// Assistant is the drafter that is published with a Gemma 4 model, in a file of its own. Its layers are those
// of Gemma 4, but narrower, and have no keys and values: they attend to those of the target. Each layer reads
// the last layer of the target that has keys of its own and is of the same kind, with a window or without one.
//
// The input is the target's embedding of a token, and the target's normed hidden state after the token before.
// From them the drafter computes the logits of the next token, and a hidden state of the target's width,
// which is the input for the token after that. All tokens of a draft have the same position: that of the first
// token which the target has not read. (Google 2026; transformers, gemma4_assistant; llama.cpp, gemma4-assistant)
//
// The drafter scores every token. Some files have tables by which it would score only likely ones.
type Assistant struct {
	target *Model
	own    *Model
}

// joints are the weights between a drafter and the target.
type joints struct {
	Join  compute.Matrix `gguf:"nextn.pre_projection.weight" shape:"dim,pair" in:"drafter"`
	Widen compute.Matrix `gguf:"nextn.post_projection.weight" shape:"target,dim" in:"drafter"`

	word compute.Buffer // one row of TargetDim numbers: the embedding of a token
	pair compute.Buffer // one row of 2·TargetDim numbers: embedding and hidden state side by side
}

func (m *Model) jointSizes() []size {
	if m.config.TargetDim == 0 {
		return nil
	}
	return []size{{&m.word, 1, m.config.TargetDim}, {&m.pair, 1, 2 * m.config.TargetDim}}
}

// IsAssistant reports whether a file has a drafter for LoadAssistant. It reads only the header.
func IsAssistant(file *weights.File) bool { return file.Architecture() == gemma4Assistant().name }

// LoadAssistant loads a drafter for a target. Of o it uses MaxTokens and Reserved. It treats the file's data as
// Load does. The error says what is missing or does not fit the target.
func LoadAssistant(ctx context.Context, target *Model, file *weights.File, o Options) (*Head, error) {
	head, err := loadAssistant(ctx, target, file, o)
	if err != nil {
		return nil, fmt.Errorf("loading the drafter %q: %w", file.Name(), err)
	}
	return head, nil
}

func loadAssistant(ctx context.Context, target *Model, file *weights.File, o Options) (*Head, error) {
	arch := gemma4Assistant()
	lenders, err := AssistantFits(target, file)
	if err != nil {
		return nil, err
	}
	reader, ok := target.backend.(compute.PastReader)
	if !ok {
		return nil, fmt.Errorf("it attends to the target's keys without storing its own, and %s does not compute this yet: choose --device cpu: %w",
			target.backend.Info().Name, compute.ErrLacks)
	}
	o.MaxRows, o.PrefillRows = 1, 1
	o.Reserved += stateBytes(&target.config)
	own, err := loadAs(ctx, arch, target.backend, file, o, nil)
	if err != nil {
		return nil, err
	}
	for i := range own.layers {
		own.layers[i].keysOf = lenders[i]
	}
	if err := reader.ReservePast(own.cacheShape(own.config.MaxTokens)); err != nil {
		return nil, err
	}
	c := &own.config
	return &Head{Assistant: &Assistant{target, own}, Name: "mtp", Kind: "Gemma 4 assistant", Parameters: c.Parameters, Bytes: c.WeightBytes}, nil
}

// AssistantFits checks that a drafter was made for a target of this shape. It reads only the header. It returns
// for each layer of the drafter the layer of the target whose keys and values that layer reads.
func AssistantFits(target *Model, file *weights.File) (lenders []int, err error) {
	arch := gemma4Assistant()
	if !target.arch.sharedKeys {
		return nil, fmt.Errorf("it reads the keys of a gemma4 model, and the target is a %s model: give the model that it was made for by --target", target.arch.name)
	}
	c, own, err := readConfig(file, &arch)
	if err != nil {
		return nil, err
	}
	m := &metadata{file: file}
	if n, found, _ := file.Uint(m.key("nextn_predict_layers")); found && n != uint64(c.Layers) {
		m.fail(m.key("nextn_predict_layers"), n, fmt.Sprintf("%d, the number of layers (block_count)", c.Layers))
	}
	if c.TargetDim != target.config.Dim {
		m.fail(m.key("embedding_length_out"), c.TargetDim, fmt.Sprintf("%d, the width of the target's hidden states", target.config.Dim))
	}
	if table, found, _ := file.Tensor("token_embd.weight"); found && m.err == nil {
		if d := table.Rows - target.config.Vocab; d > maxPadding || d < -maxPadding {
			m.err = fmt.Errorf("the tensor %s has rows for %d tokens; allowed are about %d, the target's", file.Called("token_embd.weight"), table.Rows, target.config.Vocab)
		}
	}
	if own.windows.size == 1 {
		m.fail(m.key("attention.sliding_window"), 1, "at least 2")
	}
	for i, s := range own.shapes {
		lenders = append(lenders, m.lender(target, i, s, own.windows))
	}
	return lenders, m.err
}

// lender returns the layer of the target whose keys and values layer i of a drafter reads, and checks that they
// have the shape that the layer needs.
func (m *metadata) lender(target *Model, i int, s layerShape, w layerWindows) int {
	kind, suffix := "without a window", ""
	if w.has(i) {
		kind, suffix = "with a window", "_swa"
	}
	for from := len(target.layers) - 1; from >= 0; from-- {
		l := &target.layers[from]
		if l.shape.borrows || l.shape.heads == 0 || (l.window > 0) != w.has(i) {
			continue
		}
		for _, has := range []struct {
			key      string
			own, its int
		}{
			{"attention.key_length" + suffix, s.keyDim, l.shape.keyDim},
			{"attention.value_length" + suffix, s.valueDim, l.shape.valueDim},
			{"attention.head_count_kv", s.kvHeads, l.shape.kvHeads},
			{"attention.sliding_window", w.of(i), l.window},
		} {
			if has.own != has.its {
				m.fail(m.key(has.key), fmt.Sprintf("%d in layer %d", has.own, i), fmt.Sprintf("%d, as in layer %d of the target, whose keys it reads", has.its, from))
			}
		}
		return from
	}
	m.fail(m.key("attention.sliding_window_pattern"), fmt.Sprintf("a layer %d %s", i, kind), "layers of kinds that the target has")
	return 0
}

// of returns the size of a layer's window; 0: none.
func (w layerWindows) of(layer int) int {
	if !w.has(layer) {
		return 0
	}
	return w.size
}
