package weights

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"specula/tokenizer"
)

// noToken is the token id, of 32 bits, that some converters write for "none".
const noToken = math.MaxUint32

// TokenizerSpec reads the vocabulary: the keys tokenizer.ggml.*. It checks types, lengths, and ids
// against the size of the vocabulary; the tokenizer checks what the texts mean. The defaults for
// missing keys are llama.cpp's, except for the pre-tokenizer (see tokenizer.Spec.AssumedPre).
func (f *File) TokenizerSpec() (tokenizer.Spec, error) {
	r := vocabularyReader{file: f}
	s := r.read()
	return s, r.err
}

// vocabularyReader keeps the first error, so that the fields can be read one after the other.
type vocabularyReader struct {
	file *File
	err  error
}

func (r *vocabularyReader) read() tokenizer.Spec {
	var s tokenizer.Spec
	s.Model = optional(r, r.file.String, "model", "")
	switch known := strings.Join(tokenizer.Models(), ", "); {
	case s.Model == "":
		r.missing("model", "one of "+known)
	case !slices.Contains(tokenizer.Models(), s.Model):
		r.keep(fmt.Errorf("reading %q: tokenizer.ggml.model is %s, supported are %s", r.file.name, quote(s.Model), known))
	}
	sentencePiece := s.Model == "llama"
	s.Pre = optional(r, r.file.String, "pre", "")
	s.Tokens = optional(r, r.file.Strings, "tokens", nil)
	if len(s.Tokens) == 0 {
		r.missing("tokens", "an array of one string or more")
	}
	n := len(s.Tokens)
	s.Types = r.tokenTypes(n)
	s.Scores = optional(r, r.file.Floats, "scores", nil)
	s.Merges = optional(r, r.file.Strings, "merges", nil)
	r.sameLength("scores", len(s.Scores), n)
	r.ordered("scores", s.Scores)
	if sentencePiece && s.Scores == nil {
		r.missing("scores", fmt.Sprintf("an array of %d f32, one for each token", n))
	}
	if !sentencePiece && s.Merges == nil {
		r.missing("merges", fmt.Sprintf("an array of strings, which a %s vocabulary needs", s.Model))
	}
	bos, eos, unk := int32(-1), int32(-1), int32(-1)
	if sentencePiece {
		unk, bos, eos = 0, 1, 2
	}
	s.BOS = r.tokenID("bos_token_id", n, bos)
	s.EOS = r.tokenID("eos_token_id", n, eos)
	s.UNK = r.tokenID("unknown_token_id", n, unk)
	s.EOT = r.tokenID("eot_token_id", n, -1)
	s.PAD = r.tokenID("padding_token_id", n, -1)
	s.Ends = r.tokenIDs("end_token_ids", n)
	s.AddBOS = optional(r, r.file.Bool, "add_bos_token", s.PrependsBOS())
	s.AddEOS = optional(r, r.file.Bool, "add_eos_token", false)
	s.AddSpacePrefix = optional(r, r.file.Bool, "add_space_prefix", sentencePiece)
	if r.err != nil {
		return tokenizer.Spec{}
	}
	return s
}

// optional reads tokenizer.ggml.name with one of the getters, and keeps its error in r. If the key
// is missing or there is an error, it returns missing.
func optional[T any](r *vocabularyReader, get func(key string) (T, bool, error), name string, missing T) T {
	v, found, err := get("tokenizer.ggml." + name)
	r.keep(err)
	if !found || err != nil {
		return missing
	}
	return v
}

// tokenTypes reads token_type, which gives each token a kind from 1 to 6; nil if the file has none.
func (r *vocabularyReader) tokenTypes(tokens int) []int32 {
	const key = "tokenizer.ggml.token_type"
	kinds, found, err := r.file.Ints(key)
	r.keep(err)
	if !found || err != nil {
		return nil
	}
	r.sameLength("token_type", len(kinds), tokens)
	out := make([]int32, len(kinds))
	for i, kind := range kinds {
		if kind < int64(tokenizer.TypeNormal) || kind > int64(tokenizer.TypeByte) {
			v, _ := r.file.value(key)
			r.keep(r.file.unfitElement(v, i, "1 to 6"))
			return nil
		}
		out[i] = int32(kind)
	}
	return out
}

// tokenID reads the id of a special token. If the file has no such id, tokenID returns the parameter missing
// if that is in the vocabulary, otherwise −1. −1 means that there is no such token, or that reading failed.
func (r *vocabularyReader) tokenID(name string, tokens int, missing int32) int32 {
	id, found, err := r.file.Int("tokenizer.ggml." + name)
	r.keep(err)
	switch {
	case err != nil:
	case !found:
		if int(missing) < tokens {
			return missing
		}
	case id == -1 || id == noToken:
	case id < 0 || id >= int64(tokens):
		v, _ := r.file.value("tokenizer.ggml." + name)
		r.keep(r.file.unfit(v, fmt.Sprintf("ids from 0 to %d, or -1 for none", tokens-1)))
	default:
		return int32(id)
	}
	return -1
}

// tokenIDs reads a list of special tokens, which must be in the vocabulary. GGUF files have no such
// list; package folder writes it.
func (r *vocabularyReader) tokenIDs(name string, tokens int) (ids []int32) {
	list := optional(r, r.file.Ints, name, nil)
	for i, id := range list {
		if id < 0 || id >= int64(tokens) {
			v, _ := r.file.value("tokenizer.ggml." + name)
			r.keep(r.file.unfitElement(v, i, fmt.Sprintf("ids from 0 to %d", tokens-1)))
			return nil
		}
		ids = append(ids, int32(id))
	}
	return ids
}

// ordered refuses NaN, which cannot be ordered.
func (r *vocabularyReader) ordered(name string, scores []float32) {
	for i, score := range scores {
		if score != score {
			v, _ := r.file.value("tokenizer.ggml." + name)
			r.keep(r.file.unfitElement(v, i, "numbers"))
			return
		}
	}
}

func (r *vocabularyReader) sameLength(name string, got, tokens int) {
	v, found := r.file.value("tokenizer.ggml." + name)
	if found && got != tokens {
		r.keep(r.file.unfit(v, fmt.Sprintf("%d elements, one for each token", tokens)))
	}
}

func (r *vocabularyReader) missing(name, allowed string) {
	r.keep(&MalformedError{File: r.file.name, Field: "metadata \"tokenizer.ggml." + name + "\"", Offset: preambleBytes, Got: "nothing", Allowed: allowed})
}

func (r *vocabularyReader) keep(err error) {
	if r.err == nil {
		r.err = err
	}
}
