package event

import (
	"slices"
	"strings"
)

// Loading reports progress in reading a model.
type Loading struct {
	What       string `json:"what"` // "target", "draft" or "heads"
	Name       string `json:"name"` // path of a file or folder, or the name of a built-in model, such as "demo target"
	DoneBytes  int64  `json:"doneBytes"`
	TotalBytes int64  `json:"totalBytes"`
}

// Model describes a loaded model.
type Model struct {
	Name          string `json:"name"`
	Path          string `json:"path"`             // path of the file; "embedded" for the built-in pair; an address for a model on a server
	Server        string `json:"server,omitempty"` // host and port of the server with the model; empty: it is on this machine
	Architecture  string `json:"architecture"`
	WeightType    string `json:"weightType"` // "Q8_0", "F16", …
	Parameters    int64  `json:"parameters"`
	WeightBytes   int64  `json:"weightBytes"`
	CacheBytes    int64  `json:"cacheBytes"`
	Layers        int    `json:"layers"`
	VocabSize     int    `json:"vocabSize"`
	ContextLength int    `json:"contextLength"` // most tokens of a conversation here, which may be fewer than the file allows
}

// Ready says what the program has loaded and what it can speculate with.
type Ready struct {
	Version      string `json:"version"`
	Target       Model  `json:"target"`
	Draft        *Model `json:"draft,omitempty"`
	DraftRefused string `json:"draftRefused,omitempty"` // why there is no draft model
	// DraftTranslated says in words how a draft model of another vocabulary is used; empty if the
	// vocabularies are the same.
	DraftTranslated string `json:"draftTranslated,omitempty"`
	Heads           string `json:"heads,omitempty"` // which trained heads are loaded
	Device          string `json:"device"`          // kind and name: "cpu: AMD EPYC, AVX-512, 2 threads"
	DeviceWhy       string `json:"deviceWhy"`
	DeviceDetail    string `json:"deviceDetail,omitempty"` // more about the device; on the processor, the reason for the number of threads
	Template        string `json:"template"`               // which chat template is in use and why
	Auto            *Auto  `json:"auto,omitempty"`
	// Unspelled lists the bytes of UTF-8 for which the target's vocabulary has no token, as text; empty
	// if it has all. Such bytes are left out of what the model reads.
	Unspelled string `json:"unspelled,omitempty"`
	// Warnings say what was assumed because the file does not say it.
	Warnings []Warning `json:"warnings,omitempty"`
	// Proposers says for each proposer whether it can be used.
	Proposers []Proposer `json:"proposers,omitempty"`
	LoadMS    float64    `json:"loadMS"`
}

// Warning is an assumption that makes replies worse if it is wrong.
type Warning struct {
	About string `json:"about"` // "template" or "tokenizer"
	Text  string `json:"text"`  // what was assumed and why
	Do    string `json:"do"`    // what the user can do
}

// Warned reports whether there is a warning about this subject.
func (r *Ready) Warned(about string) bool {
	return slices.ContainsFunc(r.Warnings, func(w Warning) bool { return w.About == about })
}

// Refusal returns why a proposer cannot be chosen; "" if it can be. For a cascade, written as names with
// commas, it looks at the members in order, up to the first that is refused. known is false if Ready does not
// list one of these members.
func (r *Ready) Refusal(proposer string) (why string, known bool) {
	for name := range strings.SplitSeq(proposer, ",") {
		i := slices.IndexFunc(r.Proposers, func(p Proposer) bool { return p.Name == name })
		if i < 0 {
			return "", false
		}
		if why = r.Proposers[i].Refused; why != "" {
			return why, true
		}
	}
	return "", true
}

// Auto says which proposer the setting auto stands for.
type Auto struct {
	Proposer string `json:"proposer"`
	Why      string `json:"why"`
}

// Proposer says whether a proposer can be chosen, and what it drafts from.
type Proposer struct {
	Name    string `json:"name"`              // a name that the setting speculation.proposer allows
	Refused string `json:"refused,omitempty"` // why it cannot be chosen
	Words   string `json:"words,omitempty"`   // where its tokens come from
}
