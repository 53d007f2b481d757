package model

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"specula/engine/compute"
	"specula/engine/weights/folder"
	"specula/engine/weights/gguf"
)

// saved says how the library transformers saves models of a family, as far as that differs from Llama.
type saved struct {
	types    []string          // values of model_type in config.json; none: folders of this family are not supported
	tensors  map[string]string // names of tensors that differ from usualSaved
	defaults map[string]any    // values of fields that config.json may lack
	// halves: the folder has the rows of queries and keys for the pairs (i, i+dim/2), and a GGUF file
	// for the pairs (2i, 2i+1).
	halves  bool
	plusOne bool // norms multiply by 1 + weight; GGUF files have this sum
	tied    bool // if config.json does not say it, the embedding table is the output matrix
	// read writes the metadata that only this family has. May be nil.
	read func(c *savedConfig)
}

// savedConfig turns config.json into the metadata of a GGUF file.
type savedConfig struct {
	folder *folder.Folder
	arch   architecture
	fields folder.Fields     // the fields about text
	rope   folder.Fields     // how positions are rotated, with rope_theta
	near   folder.Fields     // rope for layers with a window; empty if these layers do not differ
	kinds  map[string]string // names of tensors without their layer: folder → GGUF file
	values map[string]any    // metadata by key
	// names maps names of metadata and tensors in a GGUF file to those in the folder.
	names          map[string]string
	generated      []folder.Tensor // tensors that are computed from fields
	heads, kvHeads int
	headDim        int64
}

// set stores a value under a metadata key of the architecture. field is the field of config.json that
// the value comes from.
func (c *savedConfig) set(key string, value any, field string) {
	key = c.arch.name + "." + key
	c.values[key], c.names[key] = value, field
}

// metadata returns the collected values.
func (c *savedConfig) metadata() *gguf.Builder {
	b := &gguf.Builder{}
	b.Set("general.architecture", c.arch.name).Set("general.name", folderName(c.folder.Path()))
	for _, key := range slices.Sorted(maps.Keys(c.values)) {
		b.Set(key, c.values[key])
	}
	return b
}

// integer copies a whole number to the metadata and returns it.
func (c *savedConfig) integer(key string, from folder.Fields, names ...string) (n int64, found bool) {
	n, name := from.Integer(names...)
	if name != "" {
		c.set(key, uint64(n), name)
	}
	return n, name != ""
}

// number copies a number to the metadata, rounded as in a GGUF file, and returns it.
func (c *savedConfig) number(key string, from folder.Fields, names ...string) (x float64, found bool) {
	x, name := from.Number(names...)
	if name != "" {
		c.set(key, float32(x), name)
	}
	return x, name != ""
}

// readSaved reads config.json.
func readSaved(f *folder.Folder) (*savedConfig, error) {
	c := &savedConfig{folder: f, fields: f.Config(), names: map[string]string{}, values: map[string]any{}, kinds: usualSaved()}
	kind := c.fields.Text("model_type")
	if text := c.fields.Object("text_config"); c.fields.Has("text_config") != "" {
		outer := kind
		if kind = text.Text("model_type"); kind == "" {
			kind = outer
		}
		c.fields = text.With(map[string]any{"tie_word_embeddings": f.Config().Value("tie_word_embeddings"),
			"eos_token_id": f.Config().Value("eos_token_id")})
	}
	for _, a := range architectures() {
		if slices.Contains(a.saved.types, kind) {
			c.arch = a
		}
	}
	if c.arch.name == "" {
		c.fields.Refuse("model_type", "one of "+strings.Join(SavedTypes(), ", "))
		return nil, c.fields.Err()
	}
	if method := c.fields.Object("quantization_config").Text("quant_method"); method != "" && method != "fp8" {
		c.fields.Object("quantization_config").Refuse("quant_method", "fp8: for weights of fewer bits choose a GGUF file of the model")
	}
	c.fields = c.fields.With(c.arch.saved.defaults)
	maps.Copy(c.kinds, c.arch.saved.tensors)
	c.sizes()
	c.positions()
	c.windows()
	c.checkActivation()
	if c.arch.saved.read != nil {
		c.arch.saved.read(c)
	}
	return c, c.fields.Err()
}

// sizes copies the hyperparameters that all families have from config.json to the metadata.
func (c *savedConfig) sizes() {
	c.integer("block_count", c.fields, "num_hidden_layers")
	c.integer("context_length", c.fields, "max_position_embeddings")
	width, _ := c.integer("embedding_length", c.fields, "hidden_size")
	c.integer("feed_forward_length", c.fields, "intermediate_size")
	heads, _ := c.integer("attention.head_count", c.fields, "num_attention_heads")
	kvHeads, found := c.integer("attention.head_count_kv", c.fields, "num_key_value_heads")
	if !found {
		kvHeads = heads
	}
	c.heads, c.kvHeads = int(min(heads, mostHeads)), int(min(kvHeads, mostHeads))
	if c.headDim, found = c.integer("attention.key_length", c.fields, "head_dim"); found {
		c.set("attention.value_length", uint64(c.headDim), "head_dim")
	} else if heads > 0 {
		c.headDim = width / heads
	}
	c.number("attention.layer_norm_rms_epsilon", c.fields, "rms_norm_eps")
	c.number("attention.layer_norm_epsilon", c.fields, "layer_norm_eps", "norm_epsilon", "norm_eps")
}

// windows copies the size of the window, and which layers have it, to the metadata.
func (c *savedConfig) windows() {
	used, given := c.fields.Bool("use_sliding_window")
	types := c.fields.Texts("layer_types")
	near := make([]bool, len(types))
	for i, kind := range types {
		switch kind {
		case "sliding_attention":
			near[i] = true
		case "full_attention":
		default:
			c.fields.Refuse("layer_types", "full_attention and sliding_attention")
		}
	}
	none := given != "" && !used || len(types) > 0 && !slices.Contains(near, true)
	if size, name := c.fields.Integer("sliding_window"); name != "" && !none {
		c.set("attention.sliding_window", uint64(size), name)
	} else {
		c.set("attention.sliding_window", uint64(0), "sliding_window") // otherwise the family's window size would be used
	}
	const key = "attention.sliding_window_pattern"
	layers, _ := c.fields.Integer("num_hidden_layers")
	name := c.fields.Has("sliding_window_pattern", "_sliding_window_pattern")
	letters, isText := c.fields.Value("sliding_window_pattern").(string)
	switch {
	case len(types) > 0:
		c.set(key, near, "layer_types")
	case isText && letters != "" && layers <= mostLayers: // such as "LLLG"
		near = make([]bool, layers)
		for i := range near {
			near[i] = letters[i%len(letters)] == 'L'
		}
		c.set(key, near, name)
	case name != "":
		every, _ := c.fields.Integer(name)
		c.set(key, uint64(every), name)
	}
}

// savedActivations are the names that config.json has for each activation of the feed-forward network.
// Gemma's files may say gelu and mean the approximation by tanh (checkActivation).
var savedActivations = map[compute.Activation][]string{
	compute.SiLU:        {"silu", "swish"},
	compute.GELU:        {"gelu_pytorch_tanh", "gelu_new", "gelu_fast"},
	compute.ReLUSquared: {"relu2"},
}

func (c *savedConfig) checkActivation() {
	name := c.fields.Has("hidden_activation", "hidden_act")
	allowed := savedActivations[c.arch.activation]
	if name != "" && !slices.Contains(allowed, c.fields.Text(name)) && !(c.arch.saved.plusOne && c.fields.Text(name) == "gelu") {
		c.fields.Refuse(name, strings.Join(allowed, ", "))
	}
}

// scoresByWidth refuses a query_pre_attn_scalar s if 1/√s is not the factor of q·k that a pass uses:
// 1/√headDim or, in a model with this many layers, the factor that scaleByWidth sets.
func (c *savedConfig) scoresByWidth(layers int) {
	scalar, name := c.fields.Number("query_pre_attn_scalar")
	want := float64(c.headDim)
	if n, _ := c.fields.Integer("num_hidden_layers"); int(n) == layers && c.heads > 0 {
		width, _ := c.fields.Integer("hidden_size")
		want = float64(width) / float64(c.heads)
	}
	if name != "" && math.Abs(scalar-want) > 1e-6*want {
		c.fields.Refuse(name, fmt.Sprint(want))
	}
}
