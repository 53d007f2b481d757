// Package tokenizer turns text into the token ids that a model was trained on, and ids back into
// text.
//
// Read [Spec] first: a vocabulary as a file describes it. [New] makes a [Tokenizer] of it, which
// encodes. A [Decoder] turns ids into text while they arrive. Three families are supported, named
// as in a GGUF file:
//
//   - "gpt2", byte-level BPE. A pre-tokenizer cuts the text into words, by the regular expressions of
//     the training. The bytes of a word are the first symbols. The pair whose merge was learned
//     earliest is joined, again and again, until no rule applies. Bytes without a token are left out.
//   - "gemma4", the same with characters as first symbols, and whole lines as words. Characters
//     without a token are spelled as in "llama". Some files call such a vocabulary "gpt2", with the
//     pre-tokenizer "gemma4" or "sarvam-moe".
//   - "llama", SentencePiece. There are no words. Spaces become ▁. From single characters up, the
//     pair whose result has the highest score is joined. Characters without a token are spelled in
//     byte tokens <0xNN>.
//
// All three are the same greedy merge with different rules for the next pair; see merge.go.
//
// Invariant: no user can forge a turn. A chat prompt mixes text of the template, in which
// <|im_start|> is a control token, with text of people, files and models, in which the same
// characters are just characters. [Segment] carries this difference from the template to here; it is
// never guessed from the text.
//
// Text is UTF-8; an invalid byte is read as U+FFFD. Text is not normalised, so decoding gives
// exactly what was encoded, except for what the vocabulary cannot spell: see [Tokenizer.Lost].
// ("llama" and "gemma4" write a space as ▁ and cannot tell the two apart.)
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
	bos      int32 // -1: none
	addBOS   bool
	addSpace bool // SentencePiece: encoding puts a space before the text, decoding removes it
}

// model encodes text that contains no special token.
type model interface {
	// encode appends the ids of text. first means that the text is at the start or after a control
	// token.
	encode(to *encoding, text string, first bool)
}

// encoding is the result of encoding a text.
type encoding struct {
	ids  []int32
	lost []byte // the bytes that have no token, in the order of the text
}

// New checks every array of spec and builds a tokenizer. Errors name the field as it is called in
// a GGUF file.
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

// Encode returns the ids of a text, without a BOS token. Whatever the text says, no id is a
// control token or a user-defined delimiter such as <think>.
func (t *Tokenizer) Encode(text string) []int32 {
	return t.encode(text, nil, true).ids
}

// Lost returns the bytes of text that Encode leaves out because the vocabulary has no token for
// them.
func (t *Tokenizer) Lost(text string) []byte {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if !slices.ContainsFunc(t.Unspelled(), func(b byte) bool { return strings.IndexByte(text, b) >= 0 }) {
		return nil
	}
	return t.encode(text, nil, true).lost
}

// Unspelled returns the bytes of UTF-8 that encoding leaves out because they have no token, ascending.
// Only a byte-level vocabulary can have such bytes: those that did not occur in its training text, usually
// control characters that nobody writes.
func (t *Tokenizer) Unspelled() []byte { return t.vocab.unspelled() }

// EncodeNext is Encode for a text that follows another text: it puts no space before the text.
func (t *Tokenizer) EncodeNext(text string) []int32 {
	return t.encode(text, nil, false).ids
}

// EncodeSegments returns the ids of a prompt. It finds control tokens and delimiters such as <think>
// only where they lie wholly inside special segments; user-defined tokens that are ordinary text may
// lie anywhere. Of several such tokens that begin at one byte it takes the longest. Between them it joins
// the text of all segments before it tokenises, so that a prompt without forged markers gives the same
// ids as the rendered string. It puts BOS first if the vocabulary asks for it and the prompt does not
// begin with it. It never adds EOS, because a reply follows.
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

// encode turns text into ids. It finds control tokens and delimiters only inside the trusted spans,
// which ascend. With spans, text must already be valid UTF-8, so that their offsets hold. first
// means that no other text comes before.
func (t *Tokenizer) encode(text string, trusted []span, first bool) encoding {
	var to encoding
	text = strings.ToValidUTF8(text, "\uFFFD")
	plain := 0 // start of the text not yet encoded
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

// Bytes returns the bytes that a token stands for, which may end inside a UTF-8 sequence. It
// returns nil for control and unused tokens and for an id outside the vocabulary.
func (t *Tokenizer) Bytes(id int32) []byte { return t.vocab.bytes(id) }

// IsControl reports whether id is a control token: one that structures a prompt and is never text.
func (t *Tokenizer) IsControl(id int32) bool { return t.vocab.isControl(id) }

// DropsFirstSpace reports whether decoding removes the space that a text begins with, because
// encoding put it there.
func (t *Tokenizer) DropsFirstSpace() bool { return t.addSpace }

// StopTokens returns the ids that end a reply, ascending: EOS, EOT, Spec.Ends, and control tokens known
// by name to end a reply.
func (t *Tokenizer) StopTokens() []int32 { return slices.Clone(t.stops) }

// VocabSize returns the number of tokens. Ids are 0 to VocabSize-1.
func (t *Tokenizer) VocabSize() int { return len(t.vocab.tokens) }

// Token returns the vocabulary's own spelling of a token ("Ġthe", "▁the", "<0x0A>"), or "" for an
// id outside it.
func (t *Tokenizer) Token(id int32) string {
	if !t.vocab.has(id) {
		return ""
	}
	return t.vocab.tokens[id]
}

// Decode returns the text of a whole sequence. Control tokens give no text.
func (t *Tokenizer) Decode(ids []int32) string {
	var text strings.Builder
	d := t.NewDecoder()
	for _, id := range ids {
		text.WriteString(d.Next(id))
	}
	text.WriteString(d.Flush())
	return text.String()
}
