package model

import (
	"maps"
	"slices"
	"strings"

	"specula/engine/compute"
)

// architecture describes a family of models: which tensors its files have, and how a pass uses them.
// forward.go has the steps of a layer, in order. A step that needs a tensor is left out if the layer has
// none; the fields below decide about the other steps. family_*.go list the families. Facts about them
// come from llama.cpp and from the library transformers.
type architecture struct {
	name string // general.architecture

	// has says which tensors a file has, by the values of the struct tag need (tensors.go). It lists only
	// the values for which the family differs from usualNeeds.
	has needs
	// named maps the usual name of a tensor to the name that this family's files give it.
	named map[string]string

	// neoX: RoPE rotates the pairs (i, i+RopeDim/2) of a head; otherwise the pairs (2i, 2i+1). A file has
	// the rows of query and key in the order that these pairs need.
	neoX    bool
	rotates rotates // which layers have rotary positions
	windows windows // which layers see only a window of keys

	layerNorm   bool   // norms subtract the mean; otherwise they are RMSNorm
	eitherEps   bool   // files may have the epsilon of RMSNorm under the key for norms that subtract the mean
	qkNorm      qkNorm // what a norm of query and key covers
	normValues  bool   // each head of the values is normalised, without weights
	sharedKeys  bool   // the last layers may attend to the keys and values of earlier layers
	borrowsAll  bool   // all layers attend to the keys and values of another model, the target
	rotateFirst bool   // RoPE comes before the norms of query and key

	activation compute.Activation // activation of the feed-forward network
	experts    experts            // mixtures of experts
	states     states             // layers with a state of fixed size
	// queryWithGate: the tensor of the query also has the rows of a gate, which multiplies the output
	// of attention. For each head in turn, it has the rows of the query and then those of the gate.
	queryWithGate bool
	// betaWithAlpha: one tensor has for each key head the rows of beta, then those of alpha.
	betaWithAlpha bool
	latent        bool // keys and values are compressed
	groupedHeads  bool // in layers with a state, value heads of the same key head lie side by side

	normEmbeddings bool    // embeddings are normalised, without weights
	postNormEps    float64 // epsilon of the norms after attention and feed-forward network; 0: NormEps

	// read reads the hyperparameters that only this family has. May be nil.
	read func(m *metadata, c *Config)

	saved saved // how the library transformers saves models of this family
}

// states describes the recurrent state that layers of a family have: what is computed with it, and what
// else such a layer has.
type states struct {
	kind stateKind
	// beside: every layer has attention as well, which reads the same input.
	beside bool
	// single: a layer has only one of attention, state and feed-forward network.
	single bool
}

type stateKind int

const (
	noStates stateKind = iota
	deltaNets
	mamba2
	shortConvolutions
)

// qkNorm says what a norm of queries and keys covers.
type qkNorm int

const (
	eachHead    qkNorm = iota // each head, with the same weights for all
	eachHeadOwn               // each head, with its own weights
	allHeads                  // all heads together, as one vector
)

// rotates says which layers have rotary positions. The other layers have no positions (NoPE).
type rotates int

const (
	everyLayer  rotates = iota
	threeOfFour         // every layer except 3, 7, 11, …
	windowOnly          // layers with a window, or every layer if the model has no window
)

// windows says which layers see only a window of keys. The file may replace these values.
type windows struct {
	some bool // the family has windows
	// fullEvery: of each fullEvery layers, the last one sees all keys. 0: no layer does.
	fullEvery int
	size      int // number of keys, if the file does not say it; 0: no windows
	// base is the base of RoPE's frequencies in layers with a window, if the file does not say it;
	// 0: the same base as in the other layers.
	base float64
	// unscaled: only the layers without a window scale positions or divide frequencies.
	unscaled bool
}

// need says whether an architecture has a tensor.
type need int

const (
	optional need = iota // used if the file has it
	required
	absent // not part of the architecture; a file with it is a variant that is not supported
)

// needs maps values of the struct tag need to whether the architecture has such tensors.
type needs map[string]need

// usualNeeds are the needs of most architectures.
func usualNeeds() needs {
	return needs{
		"": required, "optional": optional, "value": required, "attention_norm": required, "feed_forward_norm": required, "gate": required,
		"norm_bias": absent, "feed_forward_norm_bias": absent, "qk_norm": absent, "post_norms": absent, "attention_gate": absent,
		"qkv_bias": optional, "expert_bias": absent, "choice_bias": absent, "state_norm": required, "shared_factor": absent, "sinks": absent,
		"layer_scale": absent,
	}
}

// needs returns what this architecture says about each value of the tag need.
func (a *architecture) needs() needs {
	all := usualNeeds()
	maps.Copy(all, a.has)
	return all
}

func architectures() []architecture {
	return slices.Concat(llamaLike(), gemmas(), gemma4s(), deepseeks(), sandwiches(), parallels(), layerNormed(), mixtures(), hybrids())
}

func architectureOf(name string) (a architecture, known bool) {
	for _, a := range architectures() {
		if a.name == name {
			return a, true
		}
	}
	return architecture{}, false
}

// Architectures lists the supported architectures, sorted.
func Architectures() (names []string) {
	for _, a := range architectures() {
		names = append(names, a.name)
	}
	slices.Sort(names)
	return names
}

func architectureNames() string { return strings.Join(Architectures(), ", ") }
