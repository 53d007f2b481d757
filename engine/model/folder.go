package model

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"specula/engine/weights"
	"specula/engine/weights/folder"
)

// A folder that the library transformers saved is read as the GGUF file that llama.cpp's converter
// would make of it. The metadata that a model needs are the same, and so are names and numbers of the
// tensors. So models load in one way only. saved.go turns config.json into metadata.

// Open reads the model file or folder at path. For a file it returns the errors of weights.Open.
func Open(ctx context.Context, path string, progress func(done, total int64)) (*weights.File, error) {
	if folder.Is(path) {
		return openFolder(ctx, path, true, progress)
	}
	return weights.Open(ctx, path, progress)
}

// OpenHeader is Open without the data of the tensors.
func OpenHeader(ctx context.Context, path string) (*weights.File, error) {
	if folder.Is(path) {
		return openFolder(ctx, path, false, nil)
	}
	return weights.OpenHeader(ctx, path)
}

func openFolder(ctx context.Context, path string, fill bool, progress func(done, total int64)) (*weights.File, error) {
	f, err := folder.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	c, err := readSaved(f)
	if err != nil {
		return nil, fmt.Errorf("reading the folder %q: %w", path, err)
	}
	tensors, err := c.tensors()
	if err != nil {
		return nil, fmt.Errorf("reading the folder %q: %w", path, err)
	}
	rows := 0
	for _, t := range tensors {
		if t.Name == "token_embd.weight" {
			rows = f.Rows(t.From[0])
		}
	}
	if rows < 1 || rows > maxVocabulary {
		return nil, fmt.Errorf("reading the folder %q: the tensor %q has %d rows; allowed are 1 to %d, one for each token: %w",
			path, c.called("token_embd.weight"), rows, maxVocabulary, weights.ErrMalformed)
	}
	metadata := c.metadata()
	if err := f.Vocabulary(ctx, metadata, rows); err != nil {
		return nil, err
	}
	return f.Lay(ctx, metadata, tensors, c.called, fill, progress)
}

// maxVocabulary limits the tokens of a folder. The largest known vocabularies have about 2^18 tokens.
const maxVocabulary = 1 << 21

// SavedTypes lists the supported values of model_type in config.json, sorted.
func SavedTypes() (types []string) {
	for _, a := range architectures() {
		types = append(types, a.saved.types...)
	}
	slices.Sort(types)
	return types
}

// usualSaved maps the names of tensors in folders to those in GGUF files. The names of a layer's
// tensors have no "model.layers.N." here.
func usualSaved() map[string]string {
	return map[string]string{
		"model.embed_tokens": "token_embd", "model.norm": "output_norm", "lm_head": "output",
		"input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
		"self_attn.qkv_proj": "attn_qkv", "self_attn.o_proj": "attn_output", "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm",
		"post_attention_layernorm": "ffn_norm", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.gate_up_proj": "ffn_up",
		"mlp.down_proj": "ffn_down",
	}
}

// ofImages are the beginnings of names of tensors that are for images, not for text. They are not read.
var ofImages = []string{"visual.", "model.visual.", "vision_tower.", "model.vision_tower.", "vision_model.", "model.vision_model.",
	"multi_modal_projector.", "model.multi_modal_projector."}

// tensors lists the tensors of the GGUF file, each with the folder's tensors that it is made from.
func (c *savedConfig) tensors() ([]folder.Tensor, error) {
	list, at := c.generated, map[string]int{}
	tied, given := c.fields.Bool("tie_word_embeddings")
	tied = tied || given == "" && c.arch.saved.tied
	for _, name := range c.folder.Tensors() {
		if c.folder.Aside(name) || slices.ContainsFunc(ofImages, func(begin string) bool { return strings.HasPrefix(name, begin) }) {
			continue
		}
		own, part := c.fileName(name)
		switch {
		case own == "":
			return nil, fmt.Errorf("the tensor %.64q has no place in a %s model: the folder is a variant that is not supported", name, c.arch.name)
		case own == "output.weight" && tied:
			continue
		}
		c.names[own] = name
		if i, more := at[own]; more && part > 0 {
			list[i].From = append(list[i].From, name)
			continue
		}
		at[own] = len(list)
		list = append(list, c.tensor(own, name))
	}
	c.inOrder(list)
	if _, found := at["output.weight"]; !found && given != "" && !tied {
		return nil, fmt.Errorf("the tensor %q is missing, and tie_word_embeddings is false: download the folder again", c.called("output.weight"))
	}
	return list, c.fields.Err()
}

// tensor says how the tensor of the GGUF file that is called own is made from the folder's tensor that is
// called name.
func (c *savedConfig) tensor(own, name string) folder.Tensor {
	t := folder.Tensor{Name: own, From: []string{name}}
	t.PlusOne = c.arch.saved.plusOne && strings.HasSuffix(own, "norm.weight")
	if c.arch.saved.halves {
		switch _, kind, _ := splitName(own); kind {
		case "attn_q.weight", "attn_q.bias":
			t.Heads = c.heads
		case "attn_k.weight", "attn_k.bias":
			t.Heads = c.kvHeads
		}
	}
	return t
}

// inOrder sorts the parts of each tensor by their numbers. A norm has parts if the folder has a tensor for
// each head.
func (c *savedConfig) inOrder(list []folder.Tensor) {
	for _, t := range list {
		slices.SortStableFunc(t.From, func(a, b string) int {
			_, i := c.fileName(a)
			_, j := c.fileName(b)
			return i - j
		})
	}
}

// fileName returns the name that a tensor of the folder has in a GGUF file; "" if models of the family
// have no such tensor. If the folder's tensor is only a part of that tensor, part is the part's number.
func (c *savedConfig) fileName(name string) (own string, part int) {
	for _, begin := range []string{"model.language_model.", "language_model.model.", "model.text_model."} {
		if rest, cut := strings.CutPrefix(name, begin); cut {
			name = "model." + rest
		}
	}
	name = strings.TrimPrefix(name, "language_model.")
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 || name[dot:] != ".weight" && name[dot:] != ".bias" {
		return "", 0
	}
	kind, suffix := name[:dot], name[dot:]
	begin := ""
	if rest, inLayer := strings.CutPrefix(kind, "model.layers."); inLayer {
		number, rest, _ := strings.Cut(rest, ".")
		if layer, err := strconv.Atoi(number); err != nil || strconv.Itoa(layer) != number || layer < 0 {
			return "", 0
		}
		begin, kind = "blk."+number+".", rest
	}
	if norms, number, stacked := strings.Cut(kind, ".norms."); stacked {
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 {
			return "", 0
		}
		kind, part = norms, n
	}
	if kind = c.kinds[kind]; kind == "" {
		return "", 0
	}
	return c.arch.tensorName(begin + kind + suffix), part
}

// called returns the folder's name for a tensor or metadata key of a GGUF file; "" if there is none.
func (c *savedConfig) called(own string) string {
	if name := c.names[own]; name != "" {
		return name
	}
	layer, kind, inLayer := splitName(own)
	if !inLayer {
		kind = own
	}
	kind, suffix, _ := strings.Cut(kind, ".")
	best := ""
	for name, as := range c.kinds {
		if c.arch.tensorName(layer+as) == layer+kind && (best == "" || len(name) < len(best)) {
			best = name
		}
	}
	switch {
	case best == "":
		return ""
	case inLayer:
		best = "model.layers." + strings.Trim(strings.TrimPrefix(layer, "blk."), ".") + "." + best
	}
	return best + "." + suffix
}

// folderName returns the model's name: the name of the folder. For a folder in
// models--OWNER--NAME/snapshots, where the programs of Hugging Face keep downloads, it is NAME.
func folderName(path string) string {
	if whole, err := filepath.Abs(path); err == nil {
		path = whole
	}
	if stored := filepath.Dir(path); filepath.Base(stored) == "snapshots" {
		parts := strings.Split(filepath.Base(filepath.Dir(stored)), "--")
		return parts[len(parts)-1]
	}
	return filepath.Base(path)
}
