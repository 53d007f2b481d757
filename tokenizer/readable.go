package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReadableRunes bounds what Readable returns; a few vocabularies have tokens of a hundred spaces or dashes.
const maxReadableRunes = 32

// Readable returns a short form of one token for display: its text with spaces as they are, the name of a control
// token, \n and \t for these two, and \xNN for what cannot be printed or is a part of a UTF-8 sequence.
// It is not safe for a terminal by itself: text may hold direction marks and the like.
func (t *Tokenizer) Readable(id int32) string {
	if !t.vocab.has(id) {
		return fmt.Sprintf("token %d", id)
	}
	raw := t.vocab.bytes(id)
	if raw == nil {
		raw = []byte(t.vocab.tokens[id])
	}
	var text strings.Builder
	for n := 0; len(raw) > 0; n++ {
		if n == maxReadableRunes {
			text.WriteString("…")
			break
		}
		r, size := utf8.DecodeRune(raw)
		switch {
		case r == '\n':
			text.WriteString(`\n`)
		case r == '\t':
			text.WriteString(`\t`)
		case unicode.IsControl(r), r == utf8.RuneError && size == 1:
			for _, b := range raw[:size] {
				fmt.Fprintf(&text, `\x%02X`, b)
			}
		default:
			text.WriteRune(r)
		}
		raw = raw[size:]
	}
	return text.String()
}
