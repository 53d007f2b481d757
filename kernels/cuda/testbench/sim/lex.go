package sim

import (
	"fmt"
	"strings"
)

// token is a word (name, directive, or instruction with its modifiers), a number, a quoted text,
// or a sign.
type token struct {
	kind tokenKind
	text string
	line int
}

type tokenKind byte

const (
	word tokenKind = iota
	number
	quoted
	sign
	end
)

// String is for messages.
func (t token) String() string {
	if t.kind == end {
		return "the end of the text"
	}
	return fmt.Sprintf("%q", t.text)
}

func letter(c byte) bool {
	return c == '_' || c == '$' || c == '%' || c == '.' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// lex cuts a text into tokens. The last token has kind end.
func lex(text string) ([]token, error) {
	var list []token
	line := 1
	for i := 0; i < len(text); {
		c, from := text[i], i
		switch {
		case c == '\n':
			line++
			i++
		case c == ' ' || c == '\t' || c == '\r':
			i++
		case strings.HasPrefix(text[i:], "//"):
			for i < len(text) && text[i] != '\n' {
				i++
			}
		case strings.HasPrefix(text[i:], "/*"):
			length := strings.Index(text[i:], "*/")
			if length < 0 {
				return nil, fmt.Errorf("line %d: a comment has no end", line)
			}
			line += strings.Count(text[i:i+length], "\n")
			i += length + 2
		case c == '"':
			length := strings.IndexAny(text[i+1:], "\"\n")
			if length < 0 || text[i+1+length] == '\n' {
				return nil, fmt.Errorf("line %d: a quoted text has no end", line)
			}
			i += length + 2
			list = append(list, token{quoted, text[from+1 : i-1], line})
		case letter(c):
			i = endOfWord(text, i)
			list = append(list, token{word, text[from:i], line})
		case digit(c) || c == '-' && i+1 < len(text) && digit(text[i+1]):
			for i++; i < len(text) && (letter(text[i]) && text[i] != '$' && text[i] != '%' ||
				digit(text[i])); i++ {
			}
			list = append(list, token{number, text[from:i], line})
		case strings.IndexByte("{}[]()<>,;:@!|+-=", c) >= 0:
			i++
			list = append(list, token{sign, text[from:i], line})
		default:
			return nil, fmt.Errorf("line %d: %q does not belong into PTX", line, c)
		}
	}
	return append(list, token{end, "", line}), nil
}

// endOfWord includes "::" in a word, as in L1::no_allocate, but not the colon of a label.
func endOfWord(text string, i int) int {
	for i < len(text) {
		switch {
		case letter(text[i]) || digit(text[i]):
			i++
		case strings.HasPrefix(text[i:], "::"):
			i += 2
		default:
			return i
		}
	}
	return i
}
