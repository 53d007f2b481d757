package shape

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Tokens is what resolving names needs of a tokenizer.
type Tokens interface {
	VocabSize() int
	// Encode returns the ids of plain text.
	Encode(text string) []int32
	// Bytes is what a token stands for in a text; nil for control tokens.
	Bytes(id int32) []byte
	// Token is the vocabulary's own spelling.
	Token(id int32) string
	IsControl(id int32) bool
}

// Vocabulary finds tokens by what they say.
type Vocabulary struct {
	tokens Tokens
	texts  []string // (vocab) what each token writes; empty for control and unused tokens
}

// NewVocabulary reads the texts of all tokens.
func NewVocabulary(tokens Tokens) *Vocabulary {
	v := &Vocabulary{tokens: tokens, texts: make([]string, tokens.VocabSize())}
	for id := range v.texts {
		v.texts[id] = string(tokens.Bytes(int32(id)))
	}
	return v
}

// Texts are what each token writes, (vocab); empty for control and unused tokens.
func (v *Vocabulary) Texts() []string { return v.texts }

// Named returns the tokens that a setting means by a name; none for a name that it would refuse.
func (v *Vocabulary) Named(name string) []int32 {
	ids, _ := v.find(name)
	return ids
}

// name is the text of a token, or the name of a control token.
func (v *Vocabulary) name(id int) string {
	if v.tokens.IsControl(int32(id)) {
		return v.tokens.Token(int32(id))
	}
	return v.texts[id]
}

// find returns the tokens of a name: one for an id, and for text every token that stands for exactly this text, of which a
// vocabulary may have two. A text in double quotes is taken without them and with Go's escapes, so that "42" is the text 42.
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

// unquote takes a text in double quotes out of them.
func unquote(text string) string {
	if inside, err := strconv.Unquote(text); err == nil && strings.HasPrefix(text, `"`) && inside != "" {
		return inside
	}
	return text
}

// notOne says what a text is that is not a token.
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

// mostBreakerTokens bounds how many tokens a breaker may go on for behind its first.
const mostBreakerTokens = 20

// Breakers finds the tokens in which a breaking text can begin: one that contains it breaks by itself, one that ends in its beginning
// does so if the rest, as the tokenizer writes it, follows.
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

// spell returns the tokens that the tokenizer makes of text; whole is false where it leaves out a part that has no token.
func (v *Vocabulary) spell(text string) (ids []int32, whole bool) {
	ids = v.tokens.Encode(text)
	var said strings.Builder
	for _, id := range ids {
		said.WriteString(v.texts[id])
	}
	return ids, strings.HasSuffix(said.String(), text) // SentencePiece puts a space in front
}

func (b Breakers) add(first int32, rest []int32) {
	for _, known := range b[first] {
		if len(known) == len(rest) && hasPrefix(known, rest) {
			return
		}
	}
	b[first] = append(b[first], rest)
}
