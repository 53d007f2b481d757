package jinja

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/nikolalohinski/gonja/v2/config"
	"github.com/nikolalohinski/gonja/v2/tokens"
)

// literals maps the token of a string constant to its value.
type literals map[*tokens.Token]string

// lex splits the source into tokens, applies the rules for white space, and checks everything that
// gonja's recursive parser relies on.
func lex(source string) (*tokens.Stream, literals, error) {
	if len(source) > maxSourceBytes {
		return nil, nil, fmt.Errorf("the template has %d bytes; at most %d are allowed", len(source), maxSourceBytes)
	}
	source = strings.ReplaceAll(strings.ReplaceAll(source, "\r\n", "\n"), "\r", "\n")
	cfg := config.New()
	cfg.TrimBlocks = true

	l := lexer{source: source, literals: literals{}}
	stream := tokens.LexAll(source, cfg)
	for ; !stream.EOF(); stream.Next() {
		if err := l.take(stream.Current()); err != nil {
			return nil, nil, err
		}
	}
	if l.begin != nil {
		return nil, nil, fmt.Errorf("line %d: the tag is not closed", l.begin.Line)
	}
	l.trim()
	l.tokens = append(l.tokens, &tokens.Token{Type: tokens.EOF, Line: 1 + strings.Count(source, "\n")})
	return tokens.NewStream(bracketOperandsOfIn(l.tokens)), l.literals, nil
}

type lexer struct {
	source   string
	tokens   []*tokens.Token
	literals literals

	begin    *tokens.Token // of the tag or comment being read; nil between tags
	inTag    int           // tokens since begin
	brackets int           // open ones
	operands [maxNesting + 1]operand
	end      int // of the previous token in the tag
}

func (l *lexer) take(t *tokens.Token) error {
	if len(l.tokens) >= maxTokens {
		return fmt.Errorf("the template has more than %d tokens", maxTokens)
	}
	l.tokens = append(l.tokens, t)
	if t.Type == tokens.Error {
		return fmt.Errorf("line %d: the template breaks off: %.64q", l.line(), t.Val)
	}
	if l.begin != nil && t.Type != tokens.Data && t.Type != tokens.CommentEnd {
		if err := l.gap(t); err != nil {
			return err
		}
	}
	l.end = t.Pos + len(t.Val)
	switch t.Type {
	case tokens.Data:
		return nil
	case tokens.BlockBegin, tokens.VariableBegin, tokens.CommentBegin:
		l.begin, l.inTag, l.brackets = t, 0, 0
		l.operands[0] = operand{}
		return nil
	case tokens.BlockEnd, tokens.VariableEnd, tokens.CommentEnd:
		l.begin = nil
		if end := strings.TrimFunc(t.Val, IsSpace); len(end) > len("-%}") {
			return fmt.Errorf("line %d: unexpected character in %.64q", t.Line, end)
		}
		return nil
	case tokens.String:
		return l.decode(t)
	}
	if l.inTag++; l.inTag > maxTagTokens {
		return fmt.Errorf("line %d: more than %d tokens in one tag", t.Line, maxTagTokens)
	}
	return l.clean(t)
}

// line is the line in which the tag being read begins.
func (l *lexer) line() int {
	if l.begin == nil {
		return 1
	}
	return l.begin.Line
}

// gap checks that there is only white space between the previous token and t. gonja's lexer skips
// characters that it does not know, and disagrees with Python about where a string ends whose last
// character is a backslash.
func (l *lexer) gap(t *tokens.Token) error {
	if l.end > t.Pos {
		return fmt.Errorf("line %d: a backslash before the closing quote of a string is not supported", t.Line)
	}
	if between := strings.TrimFunc(l.source[l.end:t.Pos], IsSpace); between != "" {
		return fmt.Errorf("line %d: unexpected character in %.64q", t.Line, between)
	}
	return nil
}

// clean undoes two habits of gonja's lexer: unknown characters stick to the front of the next
// token, and a keyword is recognised only before a space.
func (l *lexer) clean(t *tokens.Token) error {
	t.Val = strings.TrimFunc(t.Val, IsSpace)
	odd := func(r rune) bool { return r > unicode.MaxASCII || strings.ContainsRune("@;$?\\^&`\x00", r) }
	if t.Type == tokens.Name {
		odd = func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	}
	if strings.ContainsFunc(t.Val, odd) {
		return fmt.Errorf("line %d: unexpected character in %.64q", t.Line, t.Val)
	}
	if t.Type == tokens.Name {
		t.Type = keyword(t.Val)
	}
	switch t.Type {
	case tokens.LeftParenthesis, tokens.LeftBracket, tokens.LeftBrace:
		if l.brackets++; l.brackets > maxNesting {
			return fmt.Errorf("line %d: more than %d brackets inside each other", t.Line, maxNesting)
		}
		l.operands[l.brackets] = operand{}
		return nil
	case tokens.RightParenthesis, tokens.RightBracket, tokens.RightBrace:
		if l.brackets--; l.brackets < 0 {
			return fmt.Errorf("line %d: a closing bracket too many", t.Line)
		}
		return nil
	}
	return l.operands[l.brackets].take(t)
}

// operand says what the operand of and, or and if that is being read contains so far, outside of
// inner brackets.
type operand struct{ calculation, comparison bool }

// take refuses what gonja groups differently from Jinja: a < b < c, and a test after an operator.
func (o *operand) take(t *tokens.Token) error {
	switch t.Type {
	case tokens.And, tokens.Or, tokens.Comma, tokens.Colon, tokens.Assign:
		*o = operand{}
	case tokens.Name:
		if t.Val == "if" || t.Val == "else" {
			*o = operand{}
		}
	case tokens.Equals, tokens.Ne, tokens.GreaterThan, tokens.GreaterThanOrEqual, tokens.LowerThan, tokens.LowerThanOrEqual, tokens.In:
		if o.comparison {
			return fmt.Errorf("line %d: a comparison of a comparison needs parentheses", t.Line)
		}
		o.comparison = true
	case tokens.Addition, tokens.Subtraction, tokens.Multiply, tokens.Division, tokens.FloorDivision, tokens.Modulo, tokens.Power, tokens.Tilde:
		o.calculation = true
	case tokens.Is:
		if o.calculation || o.comparison {
			return fmt.Errorf("line %d: a test behind an operator needs parentheses", t.Line)
		}
	}
	return nil
}

func keyword(name string) tokens.Type {
	switch name {
	case "and":
		return tokens.And
	case "or":
		return tokens.Or
	case "not":
		return tokens.Not
	case "in":
		return tokens.In
	case "is":
		return tokens.Is
	}
	return tokens.Name
}

// decode reads the string constant at t from the source, with Python's escapes.
func (l *lexer) decode(t *tokens.Token) error {
	start := t.Pos + strings.IndexAny(l.source[t.Pos:], `'"`)
	if between := strings.TrimFunc(l.source[t.Pos:start], IsSpace); between != "" {
		return fmt.Errorf("line %d: unexpected character in %.64q", t.Line, between)
	}
	length, err := literalLength(l.source[start:])
	var value string
	if err == nil {
		l.end = start + length
		value, err = unescape(l.source[start+1 : l.end-1])
	}
	if err != nil {
		return fmt.Errorf("line %d: string %.40q: %w", t.Line, l.source[start:], err)
	}
	l.literals[t] = value
	t.Val = "" // else gonja would decode it again
	l.inTag++
	return nil
}

// trim applies Jinja's rules for white space at the borders of tags, including lstrip_blocks, and
// drops comments. The lexer has already applied trim_blocks: text after a tag has lost its first
// line break.
func (l *lexer) trim() {
	kept := l.tokens[:0]
	comment := false
	for i, t := range l.tokens {
		switch {
		case t.Type == tokens.CommentBegin:
			comment = true
		case t.Type == tokens.CommentEnd:
			comment = false
		case comment:
		case t.Type == tokens.Data:
			if l.trimData(i); t.Val != "" {
				kept = append(kept, t)
			}
		default:
			kept = append(kept, t)
		}
	}
	l.tokens = kept
}

func (l *lexer) trimData(i int) {
	t := l.tokens[i]
	lineStart := t.Pos == 0 || l.source[t.Pos-1] == '\n'
	if i > 0 && strings.HasPrefix(l.tokens[i-1].Val, "-") {
		t.Val = strings.TrimLeftFunc(t.Val, IsSpace)
	}
	if i+1 == len(l.tokens) {
		return
	}
	next := l.tokens[i+1]
	switch {
	case strings.HasSuffix(next.Val, "-"):
		t.Val = strings.TrimRightFunc(t.Val, IsSpace)
	case next.Type != tokens.VariableBegin && !strings.HasSuffix(next.Val, "+"):
		last := strings.LastIndexByte(t.Val, '\n') + 1
		if (last > 0 || lineStart) && strings.TrimFunc(t.Val[last:], IsSpace) == "" {
			t.Val = t.Val[:last]
		}
	}
}

// bracketOperandsOfIn rewrites x in y|f ~ z as x in (y|f ~ z). Without the brackets, gonja takes y
// alone as the operand.
func bracketOperandsOfIn(in []*tokens.Token) []*tokens.Token {
	out := make([]*tokens.Token, 0, len(in))
	closing := map[int]int{} // index in in → number of brackets to close before it
	for i, t := range in {
		for ; closing[i] > 0; closing[i]-- {
			out = append(out, &tokens.Token{Type: tokens.RightParenthesis, Val: ")", Line: t.Line})
		}
		out = append(out, t)
		if t.Type != tokens.In {
			continue
		}
		if end := operandEnd(in, i+1); end > i+1 {
			closing[end]++
			out = append(out, &tokens.Token{Type: tokens.LeftParenthesis, Val: "(", Line: t.Line})
		}
	}
	return out
}

// operandEnd returns where the operand of a comparison that begins at i ends.
func operandEnd(in []*tokens.Token, i int) int {
	ends := []tokens.Type{
		tokens.And, tokens.Or, tokens.Not, tokens.Is, tokens.In, tokens.Equals, tokens.Ne, tokens.GreaterThan, tokens.GreaterThanOrEqual,
		tokens.LowerThan, tokens.LowerThanOrEqual, tokens.Comma, tokens.Colon, tokens.Assign, tokens.BlockEnd, tokens.VariableEnd,
	}
	for depth := 0; i < len(in); i++ {
		t := in[i]
		switch t.Type {
		case tokens.LeftParenthesis, tokens.LeftBracket, tokens.LeftBrace:
			depth++
		case tokens.RightParenthesis, tokens.RightBracket, tokens.RightBrace:
			depth--
		}
		if depth < 0 || depth == 0 && (slices.Contains(ends, t.Type) || t.Type == tokens.Name && slices.Contains([]string{"if", "else", "recursive"}, t.Val)) {
			return i
		}
	}
	return i
}
