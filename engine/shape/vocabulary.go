package shape

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Tokens is what Vocabulary needs of a tokenizer.
type Tokens interface {
	VocabSize() int
	// Encode returns the ids of a text; none of them is a control token.
	Encode(text string) []int32
	// Bytes returns the text of a token; nil for control tokens.
	Bytes(id int32) []byte
	// Token returns the vocabulary's own spelling of a token.
	Token(id int32) string
	IsControl(id int32) bool
}

// Vocabulary finds tokens by their text.
type Vocabulary struct {
	tokens Tokens
	texts  []string // the text of each token, by id; empty for control and unused tokens
}

// NewVocabulary reads the texts of all tokens.
func NewVocabulary(tokens Tokens) *Vocabulary {
	v := &Vocabulary{tokens: tokens, texts: make([]string, tokens.VocabSize())}
	for id := range v.texts {
		v.texts[id] = string(tokens.Bytes(int32(id)))
	}
	return v
}

// Texts returns the text of each token, by id; empty for control and unused tokens.
func (v *Vocabulary) Texts() []string { return v.texts }

// Named returns the tokens that a name in a setting stands for; none if the name is not valid.
func (v *Vocabulary) Named(name string) []int32 {
	ids, _ := v.find(name)
	return ids
}

// name returns the text of a token, or the name of a control token.
func (v *Vocabulary) name(id int) string {
	if v.tokens.IsControl(int32(id)) {
		return v.tokens.Token(int32(id))
	}
	return v.texts[id]
}

// find returns the tokens of a name. A number is the id of one token. Any other text stands for all
// tokens with exactly this text, of which there may be several. A text in double quotes is unquoted as in
// Go, so that "42" is the text 42.
func (v *Vocabulary) find(name string) ([]int32, error) {
	if id, err := strconv.ParseUint(name, 10, 31); err == nil {
		if int(id) >= len(v.texts) {
			return nil, fmt.Errorf("there is no token %d: ids go from 0 to %d; put a number in quotes, %q, to name it as text",
				id, len(v.texts)-1, name)
		}
		return []int32{int32(id)}, nil
	}
	text := unquote(name)
	var ids []int32
	for id := range v.texts {
		if v.name(id) == text {
			ids = append(ids, int32(id))
		}
	}
	if ids == nil {
		return nil, v.notOne(text)
	}
	return ids, nil
}

// unquote returns the content of a text in double quotes, and other texts as they are.
func unquote(text string) string {
	if inside, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) && inside != "" {
		return inside
	}
	return text
}

// notOne explains why a text is not exactly one token.
func (v *Vocabulary) notOne(text string) error {
	ids := v.tokens.Encode(text)
	const most = 8
	var parts []string
	for i, id := range ids {
		if i == most {
			parts = append(parts, "…")
			break
		}
		parts = append(parts, fmt.Sprintf("%q (%d)", v.name(int(id)), id))
	}
	list := strings.Join(parts, ", ")
	switch len(ids) {
	case 0:
		return fmt.Errorf("%q cannot be written in this vocabulary: it has no token for any part of it", text)
	case 1:
		return fmt.Errorf("no token is exactly %q; near is %s", text, list)
	}
	return fmt.Errorf("%q is not one token but %d: %s; name one of them, or forbid the whole text by tokens.bad_words", text, len(ids), list)
}

// all resolves a list of names.
func (v *Vocabulary) all(names []string) ([]int32, error) {
	var ids []int32
	for _, name := range names {
		found, err := v.find(name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, found...)
	}
	return ids, nil
}

// bias reads a list of TOKEN=BIAS. Biases of the same token add up.
func (v *Vocabulary) bias(list []string) (*Bias, error) {
	added := map[int32]float64{}
	for _, entry := range list {
		at := strings.LastIndexByte(entry, '=')
		if at < 1 {
			return nil, fmt.Errorf("%q has no bias: write TOKEN=BIAS, such as 42=-5", entry)
		}
		by, err := strconv.ParseFloat(strings.TrimSpace(entry[at+1:]), 64)
		if err != nil || math.IsNaN(by) || math.IsInf(by, 0) {
			return nil, fmt.Errorf("the bias of %q is %q: it has to be a number, such as -5 or 1.5; tokens.banned forbids a token", entry[:at], entry[at+1:])
		}
		ids, err := v.find(entry[:at])
		if err != nil {
			return nil, err
		}
		for _, id := range ids {
			added[id] += by
		}
	}
	return NewBias(added), nil
}

// A breaker of the DRY penalty is a sequence of tokens at which a repetition ends. Of the tokens after its
// first one, only mostBreakerTokens are compared.
const mostBreakerTokens = 20

// Breakers finds the breakers for some texts. A token that contains a whole text is a breaker by itself. A
// token that ends with the beginning of a text is the first token of a breaker; the tokens that the
// tokenizer makes of the rest must follow. If the vocabulary cannot write the rest, there is no breaker.
func (v *Vocabulary) Breakers(texts []string) Breakers {
	b := Breakers{}
	for i := range v.texts {
		id, token := int32(i), v.name(i)
		for _, text := range texts {
			if strings.Contains(token, text) {
				b.add(id, nil)
				continue
			}
			for n := 1; n < min(len(text), len(token)+1); n++ {
				if strings.HasSuffix(token, text[:n]) {
					if rest, whole := v.spell(text[n:]); whole {
						b.add(id, rest[:min(len(rest), mostBreakerTokens)])
					}
				}
			}
		}
	}
	return b
}

// spell returns the tokens that the tokenizer makes of text. whole reports whether these tokens write text
// again. They do not if the vocabulary lacks a part of text, or if text begins inside a character.
func (v *Vocabulary) spell(text string) (ids []int32, whole bool) {
	ids = v.tokens.Encode(text)
	var said strings.Builder
	for _, id := range ids {
		said.WriteString(v.texts[id])
	}
	return ids, strings.HasSuffix(said.String(), text) // SentencePiece adds a space at the beginning
}

func (b Breakers) add(first int32, rest []int32) {
	for _, known := range b[first] {
		if len(known) == len(rest) && hasPrefix(known, rest) {
			return
		}
	}
	b[first] = append(b[first], rest)
}
