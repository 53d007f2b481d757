package tokenizer

import (
	"math"
	"slices"
	"strings"
)

// The kinds of token in Spec.Types, numbered as in tokenizer.ggml.token_type.
const (
	TypeNormal      int32 = 1
	TypeUnknown     int32 = 2 // stands for text that the vocabulary cannot spell
	TypeControl     int32 = 3 // structures a prompt; is never text
	TypeUserDefined int32 = 4 // added by hand; matched literally
	TypeUnused      int32 = 5
	TypeByte        int32 = 6 // "<0xNN>", one byte
)

// Spec is a vocabulary as a model file describes it. V is the number of tokens.
type Spec struct {
	Model  string    // "gpt2" (BPE, nearly always on bytes), "gemma4" (BPE on characters) or "llama" (SentencePiece)
	Pre    string    // gpt2: the pre-tokenizer, one of PreTokenizers; "" and "default" name none
	Tokens []string  // V; of equal texts, encoding uses the first
	Types  []int32   // V, or empty: then types are guessed from ids and texts
	Scores []float32 // llama: V, the highest is joined first; ignored in the others
	Merges []string  // gpt2, gemma4: "left right", the earliest learned first

	BOS, EOS, EOT, UNK, PAD int32   // -1: none
	Ends                    []int32 // more tokens that end a reply

	AddBOS         bool // a prompt begins with BOS
	AddEOS         bool // as the file says; not used, because a reply follows a prompt
	AddSpacePrefix bool // llama: encode text as if a space came before it
}

// Models lists the names that New accepts in Spec.Model, as in tokenizer.ggml.model.
func Models() []string { return []string{"gpt2", "gemma4", "llama"} }

// byteLevel reports whether tokens are written in GPT-2's byte alphabet. Other vocabularies write
// text as it is, ▁ for a space, and have byte tokens <0xNN> for characters without a token.
func (s Spec) byteLevel() bool {
	return s.Model == "gpt2" && s.Pre != "gemma4" && s.Pre != "sarvam-moe"
}

// maxTokens bounds a vocabulary; the largest known have about 2^18 tokens.
const maxTokens = 1 << 24

// check tests lengths and ranges. It does not look at the texts of tokens.
func (s Spec) check() error {
	n := len(s.Tokens)
	switch {
	case !slices.Contains(Models(), s.Model):
		return fieldError("model", "is %.64q, which is not supported; known are %s", s.Model, strings.Join(Models(), ", "))
	case n == 0 || n > maxTokens:
		return fieldError("tokens", "has %d entries; allowed are 1 to %d", n, maxTokens)
	case len(s.Types) != 0 && len(s.Types) != n:
		return fieldError("token_type", "has %d entries for %d tokens; allowed are %d or none", len(s.Types), n, n)
	case s.Model == "llama" && len(s.Scores) != n:
		return fieldError("scores", "has %d entries for %d tokens; a llama vocabulary needs one for each", len(s.Scores), n)
	case len(s.Merges) > maxTokens:
		return fieldError("merges", "has %d entries; allowed are up to %d", len(s.Merges), maxTokens)
	}
	for i, kind := range s.Types {
		if kind < TypeNormal || kind > TypeByte {
			return fieldError("token_type", "entry %d is %d; allowed are 1 to 6", i, kind)
		}
	}
	if s.Model == "llama" {
		for i, score := range s.Scores {
			if math.IsNaN(float64(score)) {
				return fieldError("scores", "entry %d is not a number; scores must be ordered", i)
			}
		}
	}
	ends := make([]specialID, len(s.Ends))
	for i, id := range s.Ends {
		ends[i] = specialID{"end_token_ids", id}
	}
	for _, special := range append(s.specialIDs(), ends...) {
		if special.id < -1 || int(special.id) >= n {
			return fieldError(special.field, "is %d; allowed are 0 to %d, or -1 for none", special.id, n-1)
		}
	}
	return nil
}

type specialID struct {
	field string
	id    int32
}

func (s Spec) specialIDs() []specialID {
	return []specialID{
		{"bos_token_id", s.BOS}, {"eos_token_id", s.EOS}, {"eot_token_id", s.EOT},
		{"unknown_token_id", s.UNK}, {"padding_token_id", s.PAD},
	}
}
