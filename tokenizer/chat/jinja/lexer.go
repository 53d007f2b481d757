package jinja

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

type tokenKind int

const (
	tokenEOF    tokenKind = iota
	tokenData             // text outside of tags
	tokenBegin            // {{ or {%
	tokenEnd              // }} or %}
	tokenName             // a name or a keyword
	tokenString           // a string constant; its text is without quotes and escapes
	tokenInteger
	tokenFloat
	tokenOperator
)

type token struct {
	kind tokenKind
	text string
	at   pos
}

// String describes a token in an error.
func (t token) String() string {
	switch t.kind {
	case tokenEOF:
		return "the end of the template"
	case tokenString:
		return fmt.Sprintf("the string %.40q", t.text)
	}
	return fmt.Sprintf("%.40q", t.text)
}

// lexer cuts a template into tokens and applies the rules for white space around tags. A minus sign
// in a tag strips all white space on its side. trim_blocks drops the line break after a statement
// or a comment. lstrip_blocks drops the blanks between the start of a line and a statement or a
// comment. A plus sign in a tag turns these two rules off on its side.
type lexer struct {
	source   string
	at       int
	tokens   []token
	brackets []byte // the closing brackets that must still come, the next one last
	err      error
}

func (l *lexer) fail(at int, format string, args ...any) {
	if l.err == nil {
		l.err = locate(l.source, at, fmt.Errorf(format, args...))
	}
	l.at = len(l.source)
}

func (l *lexer) emit(kind tokenKind, text string, at int) {
	if len(l.tokens) >= maxTokens {
		l.fail(at, "the template has more than %d tokens", maxTokens)
	}
	l.tokens = append(l.tokens, token{kind, text, pos(at)})
}

func (l *lexer) run() {
	for l.at < len(l.source) {
		l.data()
	}
	l.emit(tokenEOF, "", len(l.source))
}

// data reads text up to the next tag, and then the tag.
func (l *lexer) data() {
	start, begin := l.at, l.at
	for {
		i := strings.IndexByte(l.source[begin:], '{')
		if i < 0 || begin+i+1 == len(l.source) {
			l.emit(tokenData, l.source[start:], start)
			l.at = len(l.source)
			return
		}
		if begin += i; strings.IndexByte("{%#", l.source[begin+1]) >= 0 {
			break
		}
		begin++
	}
	kind, sign := l.source[begin+1], byte(0)
	l.at = begin + 2
	if l.at < len(l.source) && (l.source[l.at] == '-' || l.source[l.at] == '+') {
		sign = l.source[l.at]
		l.at++
	}
	text := l.source[start:begin]
	if sign == '-' {
		text = strings.TrimRightFunc(text, IsSpace)
	} else if line := strings.LastIndexByte(text, '\n') + 1; kind != '{' && sign == 0 &&
		(line > 0 || start == 0 || l.source[start-1] == '\n') && strings.TrimFunc(text[line:], IsSpace) == "" {
		text = text[:line]
	}
	if text != "" {
		l.emit(tokenData, text, start)
	}
	switch {
	case kind == '#':
		end := strings.Index(l.source[l.at:], "#}")
		if end < 0 {
			l.fail(begin, "the comment is not closed by #}")
			return
		}
		l.at += end
		if end > 0 && strings.IndexByte("+-", l.source[l.at-1]) >= 0 {
			l.at--
		}
		l.closing("#}")
	default:
		l.emit(tokenBegin, l.source[begin:begin+2], begin)
		l.tag(begin, map[byte]string{'{': "}}", '%': "%}"}[kind])
	}
}

// closing reads the end of a tag, if that comes next, and the white space after it that the rules of
// lexer drop. It reports whether the tag ended.
func (l *lexer) closing(end string) bool {
	rest := l.source[l.at:]
	switch {
	case strings.HasPrefix(rest, end):
		l.at += len(end)
		if end != "}}" && strings.HasPrefix(l.source[l.at:], "\n") {
			l.at++
		}
	case strings.HasPrefix(rest, "-"+end):
		l.at += 1 + len(end)
		l.skipSpace()
	case end != "}}" && strings.HasPrefix(rest, "+"+end):
		l.at += 1 + len(end)
	default:
		return false
	}
	return true
}

func (l *lexer) skipSpace() {
	l.at = len(l.source) - len(strings.TrimLeftFunc(l.source[l.at:], IsSpace))
}

// tag reads the tokens of a tag, up to its end.
func (l *lexer) tag(begin int, end string) {
	l.brackets = l.brackets[:0]
	for first := len(l.tokens); l.err == nil; {
		l.skipSpace()
		at := l.at
		if at == len(l.source) {
			l.fail(begin, "the tag is not closed by %s", end)
		} else if len(l.brackets) == 0 && l.closing(end) {
			l.emit(tokenEnd, end, at)
			return
		} else if len(l.tokens)-first >= maxTagTokens {
			l.fail(at, "more than %d tokens in one tag", maxTagTokens)
		} else {
			l.one()
		}
	}
}

// inTag matches one token inside a tag: a name, a number, a string or an operator.
var inTag = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?s:([\pL_][\pL\p{Nd}_]*)|([0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][-+]?[0-9]+)?)` +
		`|('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(//|\*\*|[=!<>]=|[-+/*%~<>=.:|,()\[\]{}]))`)
})

// one reads a token inside a tag.
func (l *lexer) one() {
	at, rest := l.at, l.source[l.at:]
	match := inTag().FindStringSubmatch(rest)
	if match == nil {
		c, _ := utf8.DecodeRuneInString(rest)
		if c == '"' || c == '\'' {
			l.fail(at, "the string is not closed by %c", c)
		}
		l.fail(at, "unexpected character %q", c)
		return
	}
	whole, name, number, text := match[0], match[1], match[2], match[5]
	l.at += len(whole)
	switch {
	case name != "":
		l.emit(tokenName, name, at)
	case number != "":
		kind := tokenInteger
		if l.source[at-1] == '.' { // an index, as in x.0.1
			number, _, _ = strings.Cut(number, ".")
			l.at = at + len(number)
		} else if match[3]+match[4] != "" {
			kind = tokenFloat
		}
		l.emit(kind, strings.ReplaceAll(number, "_", ""), at)
	case text != "":
		decoded, err := unescape(text[1 : len(text)-1])
		if err != nil {
			l.fail(at, "string %.40q: %w", text, err)
		}
		l.emit(tokenString, decoded, at)
	default:
		l.bracket(at, whole)
		l.emit(tokenOperator, whole, at)
	}
}

// bracket updates l.brackets for an opening or closing bracket.
func (l *lexer) bracket(at int, operator string) {
	last := len(l.brackets) - 1
	switch i := strings.Index("()[]{}", operator); {
	case i < 0:
	case i%2 == 0 && last+1 == maxNesting:
		l.fail(at, "more than %d brackets inside each other", maxNesting)
	case i%2 == 0:
		l.brackets = append(l.brackets, "()[]{}"[i+1])
	case last < 0 || l.brackets[last] != operator[0]:
		l.fail(at, "a closing bracket %s too many", operator)
	default:
		l.brackets = l.brackets[:last]
	}
}

// unescape decodes Python's escapes. An unknown escape stays as it is.
func unescape(s string) (string, error) {
	simple := map[byte]string{'n': "\n", 't': "\t", 'r': "\r", 'a': "\a", 'b': "\b", 'f': "\f", 'v': "\v",
		'\\': `\`, '\'': "'", '"': `"`, '\n': ""}
	digits := map[byte]int{'x': 2, 'u': 4, 'U': 8}
	var out strings.Builder
	for {
		plain, rest, escaped := strings.Cut(s, `\`)
		out.WriteString(plain)
		if !escaped {
			return out.String(), nil
		}
		text, isSimple := simple[rest[0]]
		n, isHex := digits[rest[0]]
		octal := len(rest[:min(3, len(rest))]) - len(strings.TrimLeft(rest[:min(3, len(rest))], "01234567"))
		switch {
		case isSimple:
			out.WriteString(text)
			s = rest[1:]
		case isHex:
			if len(rest) <= n {
				return "", errors.New("an escape is cut off")
			}
			code, err := strconv.ParseUint(rest[1:1+n], 16, 32)
			if err != nil || code > unicode.MaxRune {
				return "", errors.New("an escape is not a hexadecimal code point")
			}
			out.WriteRune(rune(code))
			s = rest[1+n:]
		case octal > 0:
			code, _ := strconv.ParseUint(rest[:octal], 8, 32)
			out.WriteRune(rune(code))
			s = rest[octal:]
		default:
			out.WriteByte('\\')
			out.WriteByte(rest[0])
			s = rest[1:]
		}
	}
}

// is reports whether a token is one of the operators or keywords.
func (t token) is(texts ...string) bool {
	return (t.kind == tokenOperator || t.kind == tokenName) && slices.Contains(texts, t.text)
}
