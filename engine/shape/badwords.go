package shape

import "strings"

// BadWords keeps texts from being written, however the model would spell them in tokens: it forbids every token that contains a
// bad text, and every token that begins with the rest of one where the reply ends in its beginning. Forbidding only the tokens that
// the tokenizer itself makes of the text would not do, since a model that is kept from them writes the same text in others.
//
// Letters count, words do not: a bad text is bad inside a longer word, too.
type BadWords struct {
	texts []string // (vocab) what each token says
	words []badWord
	reply []byte // the text of what was pushed
	sizes []int  // bytes of each token of it
}

// badWord is one text and the tokens that complete it.
type badWord struct {
	text string
	// ends[k] begin with text[k:]; ends[0] are the tokens that contain text anywhere. (len(text))
	ends []set
}

// NewBadWords forbids texts, none of which is empty; one in double quotes is taken without them.
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

// Shape costs a comparison for each byte of each bad text, and the tokens it forbids.
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

// Allows is sample.Allower's.
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

// Push adds what a token says to the reply; a control token says nothing.
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

// Reset begins a reply; what the prompt says is no concern.
func (b *BadWords) Reset([]int32) error {
	b.reply, b.sizes = b.reply[:0], b.sizes[:0]
	return nil
}
