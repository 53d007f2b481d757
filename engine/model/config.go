package model

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/weights"
)

// Config is the shape of a loaded transformer.
type Config struct {
	Architecture string
	Layers       int
	Dim          int // width of the residual stream
	// Heads, KVHeads, HeadDim and FFN are those of the first layer that has such a part. Other layers may
	// differ, and so may the width of values (see Model.CacheLayer).
	FFN     int // width of the feed-forward network
	Heads   int // query heads
	KVHeads int // divides Heads
	HeadDim int // numbers of a query and of a key in one head
	Vocab   int
	// ContextLength is the most tokens that a text may have. If the file states a window, but the
	// architecture is computed without windows, ContextLength is at most the window: in a longer text a pass
	// would attend to keys that the model does not see.
	ContextLength int
	RopeBase      float64
	RopeDim       int // numbers of a head that are rotated
	Scaling       Scaling
	NormEps       float64
	TiedOutput    bool // the embedding table is also the output matrix

	Experts     compute.Router // how a mixture chooses experts; Experts.Experts is 0 if the model has none
	ExpertFFN   int            // width of an expert
	ExpertDim   int            // width of the experts' input and output, usually Dim
	SharedFFN   int            // width of the expert that all rows use; 0: none
	DenseLayers int            // the first DenseLayers layers have no experts
	Beside      bool           // layers with experts have a dense network, too
	PerLayer    int            // width of the embedding of a token that each layer has for itself; 0: none

	State     compute.CacheState // size of the state in layers that have one; Heads is 0 if no layer has one
	Unrotated bool               // queries and keys have no rotary positions
	mixers    []mixers           // layer by layer; nil: all have attention and a feed-forward network

	Latent Latent // sizes of compressed keys and values; Dim is 0 if they are not compressed

	SharedKeys int   // number of last layers that attend to the keys and values of earlier layers
	Lenders    []int // the layers to whose keys and values later layers attend

	TargetDim int // width of the target's hidden states, in a drafter that attends to the target's keys; else 0

	AttentionScale float64 // factor of q·k in the first layer with attention, usually 1/√HeadDim
	AttentionCap   float64 // bound of the scores of attention; from here to TemperatureLength, 0 means none
	LogitCap       float64 // bound of the logits
	EmbeddingScale float64 // factor of embeddings
	ResidualScale  float64 // factor of what attention or a network adds to the residual stream
	LogitScale     float64 // factor of the logits
	// Queries grow by the factor 1 + TemperatureScale·ln(1+⌊position/TemperatureLength⌋).
	TemperatureScale  float64
	TemperatureLength int

	MaxTokens   int // capacity of a cache
	MaxRows     int // most rows of a Forward
	PrefillRows int // rows of one pass of Prefill

	FeedForwardMatrices int64 // matrices of a feed-forward network: 3 with a gate, 2 without

	Parameters  int64
	LookedUp    int64         // parameters of PerLayerTable, of which a pass reads only the rows of its tokens
	WeightBytes int64         // size of the parameters in the file
	WeightType  string        // the type that most bytes of the parameters have, such as "Q8_0"
	CacheBytes  int64         // size of one cache
	CacheType   compute.DType // type of keys and values
}

// metadata reads the hyperparameters of an architecture and keeps the first error.
type metadata struct {
	file *weights.File
	err  error
}

func (m *metadata) key(name string) string { return m.file.Architecture() + "." + name }

func (m *metadata) fail(key string, got any, allowed string) {
	if m.err == nil {
		m.err = fmt.Errorf("metadata %s is %v; allowed is %s", m.file.Called(key), got, allowed)
	}
}

// count reads an integer from 1 to most. For a missing key it returns fallback; if fallback is 0, a
// missing key is an error. After an error, which it records in m, it returns 1.
func (m *metadata) count(name string, fallback, most int) int {
	n, found, err := m.file.Uint(m.key(name))
	switch {
	case err != nil:
		m.err = first(m.err, err)
	case !found && fallback == 0:
		m.fail(m.key(name), "missing", fmt.Sprintf("an integer from 1 to %d", most))
	case !found:
		return fallback
	case n < 1 || n > uint64(most):
		m.fail(m.key(name), n, fmt.Sprintf("1 to %d", most))
	default:
		return int(n)
	}
	return 1 // any valid number, because it is used as a divisor before the error is checked
}

// number reads a float from low to high. For a missing key it returns fallback; if fallback is 0, a
// missing key is an error. After an error, which it records in m, it returns 1.
func (m *metadata) number(name string, fallback, low, high float64) float64 {
	x, found, err := m.file.Float(m.key(name))
	switch {
	case err != nil:
		m.err = first(m.err, err)
	case !found && fallback == 0:
		m.fail(m.key(name), "missing", fmt.Sprintf("a number from %g to %g", low, high))
	case !found:
		return fallback
	case !(low <= x && x <= high):
		m.fail(m.key(name), x, fmt.Sprintf("%g to %g", low, high))
	default:
		return x
	}
	return 1
}

// maybe reads a float from low to high. found is false if the file has no such key or no number there.
// An error is recorded in m; a number outside of low to high is an error, too.
func (m *metadata) maybe(name string, low, high float64) (x float64, found bool) {
	x, found, err := m.file.Float(m.key(name))
	m.err = first(m.err, err)
	if found && err == nil && !(low <= x && x <= high) {
		m.fail(m.key(name), x, fmt.Sprintf("%g to %g", low, high))
	}
	return x, found && err == nil
}

func hasTensor(file *weights.File, name string) bool {
	_, found, err := file.Tensor(name)
	return found || err != nil
}

func first(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// maxKeyDim and maxValueDim are how many numbers the key and the value of a head may have at most.
const maxKeyDim, maxValueDim = 576, 512

// Limits of the sizes that a file may state.
const mostWide, mostLayers, mostHeads = 1 << 20, 4096, 4096

// mostTokens limits the numbers of tokens that a file may state.
const mostTokens = 1 << 27

// readConfig reads and checks all hyperparameters, and the layout of the layers. It leaves out the size of the
// vocabulary, which is the number of rows of the embedding table; Config.size reads it.
func readConfig(file *weights.File, arch *architecture) (Config, layout, error) {
	m := &metadata{file: file}
	eps := "attention.layer_norm_rms_epsilon"
	if _, found, _ := file.Float(file.Architecture() + "." + eps); arch.layerNorm || arch.eitherEps && !found {
		eps = "attention.layer_norm_epsilon"
	}
	c := Config{
		Architecture:  file.Architecture(),
		Layers:        m.count("block_count", 0, mostLayers),
		Dim:           m.count("embedding_length", 0, mostWide),
		FFN:           m.countFirst("feed_forward_length", 0, mostWide),
		Heads:         m.countFirst("attention.head_count", 0, mostHeads),
		ContextLength: m.count("context_length", 0, mostTokens),
		RopeBase:      m.number("rope.freq_base", 10_000, 1, 1e12),
		NormEps:       m.number(eps, 0, 1e-12, 0.1),
	}
	if !arch.borrowsAll {
		// The last layers may be heads that predict further tokens. They are not part of the model.
		c.Layers -= m.optionalCount("nextn_predict_layers", max(c.Layers-1, 0))
	}
	c.KVHeads = m.countFirst("attention.head_count_kv", c.Heads, mostHeads)
	c.HeadDim = m.count("attention.key_length", max(c.Dim/c.Heads, 1), maxKeyDim)
	c.RopeDim = m.count("rope.dimension_count", c.HeadDim, c.HeadDim)
	c.Scaling = m.readScaling(c.ContextLength, hasTensor(file, "rope_factors_long.weight"))
	w := m.readWindows(arch.windows, &c)
	if window, _, err := m.file.Uint(m.key("attention.sliding_window")); err == nil && !arch.windows.some && window > 0 && window < mostTokens {
		c.ContextLength = min(c.ContextLength, int(window))
	}
	if arch.read != nil {
		arch.read(m, &c)
	}
	m.readExperts(arch, &c)
	m.readStates(arch, &c)
	m.readLatent(arch, &c)
	switch {
	case arch.borrowsAll:
		c.SharedKeys = c.Layers
	case arch.sharedKeys:
		c.SharedKeys = m.optionalCount("attention.shared_kv_layers", c.Layers-1)
	}
	shapes := m.readShapes(&c, w)
	scaleAttention(shapes, &c)
	c.HeadDim = firstAttention(shapes).keyDim
	m.checkShapes(shapes)
	m.checkLatent(&c, shapes)
	m.check(c)
	all := layout{w, shapes, make([]int, c.Layers)} // a drafter's lenders are layers of the target: see Assistant
	if !arch.borrowsAll {
		all.keysOf = m.lenders(&c, shapes, w)
	}
	return c, all, m.err
}

// check refuses models that the forward pass would compute wrongly.
func (m *metadata) check(c Config) {
	if c.HeadDim > maxKeyDim {
		m.fail(m.key("embedding_length"), c.Dim, fmt.Sprintf("at most %d numbers for each of %d heads", maxKeyDim, c.Heads))
	}
	if causal, found, err := m.file.Bool(m.key("attention.causal")); err != nil || found && !causal {
		m.fail(m.key("attention.causal"), causal, "true: only causal models can be decoded")
	}
}
