package constrain

import (
	"context"
	"errors"
	"fmt"
	"regexp/syntax"
	"unicode"
)

// maxPatternBytes is the largest size of all regular expressions of a form together. The parser of the
// standard library cannot be interrupted. The most that a pattern of this size was seen to cost is 5 s and
// 315 MB of allocations, on an Intel Xeon with AMX (family 6), two virtual cores, beside other work. The pattern
// was one class that names \pL 10,900 times, to be matched without regard to case.
const maxPatternBytes = 32 << 10

// Regex returns a constraint that is satisfied by texts which the regular expression matches as a
// whole. The syntax is that of Go's package regexp without word boundaries and without (?m). ^ may stand only
// at the start of the pattern or of one of its alternatives, and $ only at their end.
func Regex(ctx context.Context, pattern string) (*Constraint, error) {
	g := newGrammar(newWork(ctx))
	root, err := (&regex{g: g, char: g.runes, around: empty}).compile(pattern)
	return newConstraint("regular expression", g, root, err)
}

// regex turns a parsed regular expression into nodes.
type regex struct {
	g      *grammar
	char   func(ranges ...rune) expr // returns what matches one character of the ranges
	around expr                      // what may be written before or after the match, on a side without an anchor
}

func (r *regex) compile(pattern string) (expr, error) {
	if r.g.patternBytes += len(pattern); r.g.patternBytes > maxPatternBytes {
		return never, fmt.Errorf("what is written as regular expressions has more than %d bytes: shorten it, or list texts as choices", maxPatternBytes)
	}
	re, err := syntax.Parse(pattern, syntax.Perl)
	var wrong *syntax.Error
	if errors.As(err, &wrong) { // wrong.Error() would quote the whole pattern
		return never, fmt.Errorf("%s: %.64q", wrong.Code, wrong.Expr)
	}
	if err != nil {
		return never, err
	}
	return r.whole(re)
}

// whole converts an expression that spans the whole text. ^ and $ are supported only here, because an
// automaton does not know what came before.
func (r *regex) whole(re *syntax.Regexp) (expr, error) {
	switch re.Op {
	case syntax.OpCapture:
		return r.whole(re.Sub[0])
	case syntax.OpAlternate:
		return r.each(re.Sub, r.whole, r.g.alt)
	}
	parts, before, after := re.Sub, r.around, r.around
	if re.Op != syntax.OpConcat {
		parts = []*syntax.Regexp{re}
	}
	for len(parts) > 0 && parts[0].Op == syntax.OpBeginText {
		parts, before = parts[1:], empty
	}
	for len(parts) > 0 && parts[len(parts)-1].Op == syntax.OpEndText {
		parts, after = parts[:len(parts)-1], empty
	}
	e, err := r.each(parts, r.inner, r.g.seq)
	return r.g.seq(before, e, after), err
}

func (r *regex) each(list []*syntax.Regexp, convert func(*syntax.Regexp) (expr, error), join func(...expr) expr) (expr, error) {
	parts := make([]expr, len(list))
	for i, sub := range list {
		var err error
		if parts[i], err = convert(sub); err != nil {
			return never, err
		}
	}
	return join(parts...), nil
}

func (r *regex) inner(re *syntax.Regexp) (expr, error) {
	switch re.Op {
	case syntax.OpNoMatch:
		return never, nil
	case syntax.OpEmptyMatch:
		return empty, nil
	case syntax.OpLiteral:
		return r.literal(re), nil
	case syntax.OpCharClass:
		return r.char(re.Rune...), nil
	case syntax.OpAnyCharNotNL:
		return r.char(0, '\n'-1, '\n'+1, unicode.MaxRune), nil
	case syntax.OpAnyChar:
		return r.char(0, unicode.MaxRune), nil
	case syntax.OpCapture:
		return r.inner(re.Sub[0])
	case syntax.OpConcat:
		return r.each(re.Sub, r.inner, r.g.seq)
	case syntax.OpAlternate:
		return r.each(re.Sub, r.inner, r.g.alt)
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		return r.repeated(re)
	}
	return never, fmt.Errorf("%.64s stands where it cannot be decided from the text before it: ^ may stand at the start and $ at the end only, word boundaries nowhere", re.String())
}

func (r *regex) repeated(re *syntax.Regexp) (expr, error) {
	e, err := r.inner(re.Sub[0])
	if err != nil {
		return never, err
	}
	switch re.Op {
	case syntax.OpStar:
		return r.g.repeat(e, 0, unlimited), nil
	case syntax.OpPlus:
		return r.g.repeat(e, 1, unlimited), nil
	case syntax.OpQuest:
		return r.g.optional(e), nil
	}
	return r.g.repeat(e, int32(re.Min), int32(re.Max)), nil // the parser allows counts up to 1000, and −1 for no maximum
}

func (r *regex) literal(re *syntax.Regexp) expr {
	parts := make([]expr, len(re.Rune))
	for i, c := range re.Rune {
		ranges := []rune{c, c}
		if re.Flags&syntax.FoldCase != 0 {
			for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
				ranges = append(ranges, f, f)
			}
		}
		parts[i] = r.char(normalise(ranges)...)
	}
	return r.g.seq(parts...)
}
