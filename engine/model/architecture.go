package model

import "strings"

// need says whether an architecture has a tensor.
type need int

const (
	optional need = iota // used if the file has it
	required
	absent // not part of the architecture; a file that has it is a variant we do not support
)

// architecture is what distinguishes the model families that share this forward pass.
type architecture struct {
	name string
	// neoX: RoPE rotates the pairs (i, i+dim/2). Otherwise the pairs are (2i, 2i+1); the files of
	// llama models store the rows of query and key in the order that this needs.
	neoX    bool
	qkNorm  need // RMSNorm on each head of query and key
	qkvBias need
}

func architectures() []architecture {
	return []architecture{
		{name: "llama", neoX: false, qkNorm: absent, qkvBias: optional},
		{name: "qwen2", neoX: true, qkNorm: absent, qkvBias: required},
		{name: "qwen3", neoX: true, qkNorm: required, qkvBias: optional},
	}
}

func architectureOf(name string) (a architecture, known bool) {
	for _, a := range architectures() {
		if a.name == name {
			return a, true
		}
	}
	return architecture{}, false
}

// Architectures lists the supported architectures.
func Architectures() (names []string) {
	for _, a := range architectures() {
		names = append(names, a.name)
	}
	return names
}

func architectureNames() string { return strings.Join(Architectures(), ", ") }

// needs maps each value of the tag need to what this architecture says about it.
func (a architecture) needs() map[string]need {
	return map[string]need{"": required, "optional": optional, "qk_norm": a.qkNorm, "qkv_bias": a.qkvBias}
}
