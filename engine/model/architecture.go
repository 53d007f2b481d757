package model

import (
	"maps"
	"slices"
	"strings"

	"specula/engine/compute"
)

// architecture describes a family of models: which tensors its files have, and how a pass uses
// them. The steps of a layer stand in forward.go, in order; a step is left out if the family has no
// tensor for it. family_*.go list the families. Facts about them come from llama.cpp and from the
// library transformers.
type architecture struct {
	name string // general.architecture

	// has says which tensors a file has, for the values of the struct tag need (tensors.go) in
	// which the family differs from usualNeeds.
	has needs
	// named maps the usual name of a tensor to the name that this family's files give it.
	named map[string]string

	// neoX: RoPE rotates the pairs (i, i+dim/2) of a head, otherwise the pairs (2i, 2i+1). A file
	// stores the rows of query and key in the order that its pairs need.
	neoX    bool
	rotates rotates // which layers rotate at all
	windows windows // which layers see only the last keys

	layerNorm   bool   // norms subtract the mean; otherwise they are RMSNorm
	eitherEps   bool   // files may call the epsilon of RMSNorm that of norms with a mean
	qkNorm      qkNorm // what a norm of query and key covers
	normValues  bool   // each head of the values is normalised, without weights
	sharedKeys  bool   // the last layers may have the keys and values of earlier ones
	rotateFirst bool   // RoPE comes before the norms of query and key

	activation compute.Activation // of the feed-forward network
	experts    experts            // mixtures of experts
	states     states             // layers with a state of fixed size
	// queryWithGate: the tensor of the query has, head after head, the rows of the query and then those
	// of the gate of what attention collects.
	queryWithGate bool
	// betaWithAlpha: one tensor has, key head after key head, the rows of beta and then those of alpha.
	betaWithAlpha bool
	groupedHeads  bool // layers with a state have the heads of a key head side by side

	normEmbeddings bool    // embeddings are normalised, without weights
	postNormEps    float64 // epsilon of the norms after attention and feed-forward network; 0: that of the others

	// read takes from the file what only this family has. May be nil.
	read func(m *metadata, c *Config)

	saved saved // how the library transformers saves models of the family
}

// states says which layers have a state in place of keys and values, and what they compute with it.
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
	eachHeadOwn               // each head, with weights of its own
	allHeads                  // the numbers of all heads together
)

// rotates says which layers have rotary positions. The others have none at all (NoPE).
type rotates int

const (
	everyLayer  rotates = iota
	threeOfFour         // not the layers 3, 7, 11, …
	windowOnly          // those with a window, or every one if the model has no window
)

// windows says which layers see only a window of keys. A file of a family with windows may give
// other values.
type windows struct {
	some bool // the family has windows
	// fullEvery: of so many layers, the last sees all keys. 0: no layer does.
	fullEvery int
	size      int // if the file does not say one; 0: then there are none
	// base is the base of RoPE's frequencies in layers with a window, if the file does not say one;
	// 0: the base of the other layers.
	base float64
	// unscaled: only the layers without a window scale positions or divide frequencies.
	unscaled bool
}

// need says whether an architecture has a tensor.
type need int

const (
	optional need = iota // used if the file has it
	required
	absent // not part of the architecture; a file that has it is a variant we do not support
)

// needs maps values of the tag need to what an architecture says about them.
type needs map[string]need

// usualNeeds is what holds unless an architecture says otherwise.
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
	return slices.Concat(llamaLike(), gemmas(), gemma4s(), sandwiches(), parallels(), layerNormed(), mixtures(), hybrids())
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
