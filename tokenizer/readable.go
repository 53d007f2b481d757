package tokenizer

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReadableRunes bounds the text of Readable: some vocabularies have tokens of a hundred spaces
// or dashes.
const maxReadableRunes = 32

// Readable returns a short form of a token for display: its text, with \n for a line feed, \t for a
// tab, and \xNN for each byte of another control character and for each that is not UTF-8. A text
// of more than maxReadableRunes characters is cut and ends with "…". A control or unused token gives
// its spelling, an id outside the vocabulary "token" and the number. The text is not yet safe for a
// terminal: it may have direction marks and the like.
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
