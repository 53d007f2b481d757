package shape

import "strings"

// BadWords forbids texts, in whatever tokens the model would write them. It forbids each token that
// contains a bad text. If the reply ends with the beginning of a bad text, it also forbids each
// token that begins with the rest of that text. To forbid only the tokens that the tokenizer makes
// of the text would not be enough: the model would write the same text in other tokens.
//
// A text is also forbidden inside a longer word.
type BadWords struct {
	texts []string // the text of each token, by id
	words []badWord
	reply []byte // the text of the tokens that were pushed
	sizes []int  // the length in bytes of the text of each pushed token
}

// badWord is one text and the tokens that complete it.
type badWord struct {
	text string
	// ends has a set for each byte of text. ends[0] are the tokens that contain text anywhere. For
	// k > 0, ends[k] are the tokens that begin with text[k:].
	ends []set
}

// NewBadWords forbids texts, none of which may be empty. Quotation marks around a text are removed.
func NewBadWords(v *Vocabulary, texts []string) *BadWords {
	b := &BadWords{texts: v.texts}
	for _, text := range texts {
		text = unquote(text)
		ends := make([][]int32, len(text))
		for id, token := range v.texts {
			if strings.Contains(token, text) {
				ends[0] = append(ends[0], int32(id))
			}
			for k := max(1, len(text)-len(token)); k < len(text); k++ {
				if strings.HasPrefix(token, text[k:]) {
					ends[k] = append(ends[k], int32(id))
				}
			}
		}
		word := badWord{text: text, ends: make([]set, len(text))}
		for k, ids := range ends {
			word.ends[k] = newSet(ids)
		}
		b.words = append(b.words, word)
	}
	return b
}

func (b *BadWords) Name() string { return "bad words" }

// Shape costs a comparison for each byte of each bad text, and a step for each forbidden token.
func (b *BadWords) Shape(logits []float32) error {
	for _, w := range b.words {
		for k, ids := range w.ends {
			if b.endsIn(w.text[:k]) {
				ids.forbid(logits)
			}
		}
	}
	return nil
}

// Mask implements sample.Masker.
func (b *BadWords) Mask(allowed []uint64) error {
	for _, w := range b.words {
		for k, ids := range w.ends {
			if b.endsIn(w.text[:k]) {
				ids.mask(allowed)
			}
		}
	}
	return nil
}

// Allows implements sample.Allower.
func (b *BadWords) Allows(id int32) bool {
	for _, w := range b.words {
		for k, ids := range w.ends {
			if ids.has(id) && b.endsIn(w.text[:k]) {
				return false
			}
		}
	}
	return true
}

func (b *BadWords) endsIn(text string) bool {
	return len(b.reply) >= len(text) && string(b.reply[len(b.reply)-len(text):]) == text
}

// Push adds the text of a token to the reply. A control token has no text.
func (b *BadWords) Push(id int32) {
	text := ""
	if int(id) < len(b.texts) {
		text = b.texts[id]
	}
	b.reply = append(b.reply, text...)
	b.sizes = append(b.sizes, len(text))
}

func (b *BadWords) Pop(n int) {
	for _, size := range b.sizes[len(b.sizes)-n:] {
		b.reply = b.reply[:len(b.reply)-size]
	}
	b.sizes = b.sizes[:len(b.sizes)-n]
}

// Reset begins a reply. The text of the prompt does not matter.
func (b *BadWords) Reset([]int32) error {
	b.reply, b.sizes = b.reply[:0], b.sizes[:0]
	return nil
}
