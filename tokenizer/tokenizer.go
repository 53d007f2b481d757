// Package tokenizer turns text into the token ids a model was trained on, and ids back into text.
//
// Two families are read, named as in a GGUF file:
//
//   - "gpt2", byte-level BPE. The text is cut into words by a pre-tokenizer (a hand-written equivalent of the
//     regular expression the model was trained with); the bytes of a word are the first symbols, and the pair whose
//     merge was learned earliest is joined again and again until no rule applies. Bytes without a token are left out.
//   - "llama", SentencePiece. There are no words: spaces become ▁ and the pair whose result has the highest score is
//     joined, from single characters up; characters without a token are spelled in byte tokens <0xNN>.
//
// Both are the same greedy merge with a different rule for "which pair next"; merge.go holds it once.
//
// A chat prompt mixes two kinds of text: what the template wrote, in which <|im_start|> is a control token, and what
// people, files and models wrote, in which the same characters are just characters. The difference is carried by
// [Segment] from the template to here and never recovered by looking at the text, so no user can forge a turn.
//
// Text is UTF-8; a byte that is not is read as U+FFFD. No Unicode normalisation is applied, so what is decoded is
// exactly what was encoded, but for what the vocabulary cannot spell (see [Tokenizer.Lost]). (A SentencePiece vocabulary
// spells the space as ▁ and cannot tell the two apart.)
package tokenizer

import (
	"slices"
	"strings"
)

// Tokenizer is immutable after New and safe for use by several goroutines.
type Tokenizer struct {
	vocab    *vocabulary
	model    model
	special  *matcher
	stops    []int32
	bos      int32 // -1 = none
	addBOS   bool
	addSpace bool // SentencePiece: a space is put before the text, and taken away again when decoding
}

// model encodes text in which no special token is left to find.
type model interface {
	// encode adds the ids of text; first says that text stands at the start or after a control token.
	encode(to *encoding, text string, first bool)
}

// encoding is what a text becomes.
type encoding struct {
	ids  []int32
	lost []byte // the bytes that have no token, in the order of the text
}

// New checks every array of spec and builds a tokenizer. Errors name the field as it is called in a GGUF file.
func New(spec Spec) (*Tokenizer, error) {
	vocab, err := newVocabulary(spec)
	if err != nil {
		return nil, err
	}
	t := &Tokenizer{
		vocab:    vocab,
		special:  newMatcher(vocab),
		stops:    stopTokens(spec, vocab),
		bos:      spec.BOS,
		addBOS:   spec.AddBOS && spec.BOS >= 0,
		addSpace: spec.Model == "llama" && spec.AddSpacePrefix,
	}
	if spec.Model == "llama" {
		t.model = newSentencePiece(spec, vocab)
		return t, nil
	}
	if t.model, err = newBytePair(spec, vocab); err != nil {
		return nil, err
	}
	return t, nil
}

// Encode returns the ids of plain text, without a BOS token. Whatever the text says, no id is a control token, and
// none is a user-defined token with the look of a delimiter, such as <think>.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.encode(text, nil, true).ids
}

// Lost returns the bytes of text that Encode leaves out, because the vocabulary has no token for them.
func (t *Tokenizer) Lost(text string) []byte {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !slices.ContainsFunc(t.Unspelled(), func(b byte) bool { return strings.IndexByte(text, b) >= 0 }) {
		return nil
	}
	return t.encode(text, nil, true).lost
}

// Unspelled returns the bytes that UTF-8 text can have and for which the vocabulary has no token, ascending. A byte-level
// vocabulary that was trained without a full alphabet lacks a few, as a rule control characters that nobody writes.
func (t *Tokenizer) Unspelled() []byte { return t.vocab.unspelled() }

// EncodeNext is Encode for text that stands after other text: no space is put in front of it.
func (t *Tokenizer) EncodeNext(text string) []int32 {
	return t.encode(text, nil, false).ids
}

// EncodeSegments returns the ids of a prompt. Special tokens are recognised where they lie wholly inside special
// segments, the longest first; between them, the text of all segments is joined before it is tokenised, so a prompt
// without forged markers gives the same ids as the rendered string would. The BOS token is put in front if the
// vocabulary asks for it and the prompt does not begin with it; an EOS token is never added, since a reply follows.
func (t *Tokenizer) EncodeSegments(segments []Segment) []int32 {
	var text strings.Builder
	var trusted []span
	for _, s := range segments {
		start := text.Len()
		text.WriteString(strings.ToValidUTF8(s.Text, "\uFFFD"))
		if !s.Special || text.Len() == start {
			continue
		}
		if last := len(trusted) - 1; last >= 0 && trusted[last].end == start {
			trusted[last].end = text.Len()
		} else {
			trusted = append(trusted, span{start, text.Len()})
		}
	}
	ids := t.encode(text.String(), trusted, true).ids
	if t.addBOS && (len(ids) == 0 || ids[0] != t.bos) {
		ids = slices.Insert(ids, 0, t.bos)
	}
	return ids
}

// encode turns text into ids. Control tokens are recognised inside the trusted spans only, whose offsets hold for text
// that is UTF-8; first says that no other text precedes it.
func (t *Tokenizer) encode(text string, trusted []span, first bool) encoding {
	var to encoding
	text = strings.ToValidUTF8(text, "\uFFFD")
	plain := 0 // where the text not yet encoded begins
	for at := 0; at < len(text); {
		for len(trusted) > 0 && trusted[0].end <= at {
			trusted = trusted[1:]
		}
		limit := at // a control token must end here or before
		if len(trusted) > 0 && trusted[0].start <= at {
			limit = trusted[0].end
		}
		id, size := t.special.longest(text[at:], limit-at)
		if size == 0 {
			at++
			continue
		}
		if plain < at {
			t.model.encode(&to, text[plain:at], first)
		}
		to.ids = append(to.ids, id)
		first = t.vocab.isControl(id)
		at += size
		plain = at
	}
	if plain < len(text) {
		t.model.encode(&to, text[plain:], first)
	}
	return to
}

// span is a range of byte offsets [start, end).
type span struct{ start, end int }

// Bytes returns the bytes token id stands for in a text, which may end inside a UTF-8 sequence. It is nil for control
// and unused tokens and for an id outside the vocabulary.
func (t *Tokenizer) Bytes(id int32) []byte { return t.vocab.bytes(id) }

// IsControl reports whether id is a control token: one that structures a prompt and is never text.
func (t *Tokenizer) IsControl(id int32) bool { return t.vocab.isControl(id) }

// DropsFirstSpace reports whether the space that a text begins with is left out when it is decoded: encoding put it there.
func (t *Tokenizer) DropsFirstSpace() bool { return t.addSpace }

// StopTokens returns the ids that end a reply, ascending: EOS, EOT and the control tokens known by name to end one.
func (t *Tokenizer) StopTokens() []int32 { return slices.Clone(t.stops) }

// VocabSize returns the number of tokens; ids are 0 to VocabSize-1.
func (t *Tokenizer) VocabSize() int { return len(t.vocab.tokens) }

// Token returns the vocabulary's own spelling of token id ("Ġthe", "▁the", "<0x0A>"), "" for an id outside it.
func (t *Tokenizer) Token(id int32) string {
	if !t.vocab.has(id) {
		return ""
	}
	return t.vocab.tokens[id]
}

// Decode returns the text of a whole sequence; control tokens leave no text.
func (t *Tokenizer) Decode(ids []int32) string {
	var text strings.Builder
	d := t.NewDecoder()
	for _, id := range ids {
		text.WriteString(d.Next(id))
	}
	text.WriteString(d.Flush())
	return text.String()
}
