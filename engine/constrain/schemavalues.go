package constrain

import (
	"fmt"
	"math/big"
	"unicode/utf8"
)

// jsonParts are expressions that all schemas use.
type jsonParts struct {
	space   expr // optional white space between two parts
	char    expr // one character of a string
	text    expr // a string
	boolean expr
	null    expr
	any     expr // any JSON value
}

func newJSONParts(g *grammar) jsonParts {
	var p jsonParts
	var blank byteSet
	blank.add(' ')
	p.space = g.optional(g.alt(g.literal(" "), g.seq(g.literal("\n"), g.repeat(g.oneOf(blank), 0, 20))))
	p.char = g.alt(plainCharacter(g), escapedCharacter(g))
	p.text = g.label(g.seq(g.literal(`"`), g.repeat(p.char, 0, unlimited), g.literal(`"`)), "a string")
	p.boolean = g.label(g.alt(g.literal("true"), g.literal("false")), "true or false")
	p.null = g.label(g.literal("null"), "null")
	rule, any := g.declare("JSON")
	p.any = any
	key := g.label(g.seq(g.literal(`"`), g.repeat(p.char, 0, unlimited), g.literal(`"`)), "a key")
	member := g.seq(key, g.literal(":"), p.space, any)
	g.rules[rule] = g.alt(p.text, anyNumber(g), p.boolean, p.null,
		g.seq(g.literal("{"), p.space, g.optional(g.seq(p.list(g, member, 1, unlimited), p.space)), g.literal("}")),
		g.seq(g.literal("["), p.space, g.optional(g.seq(p.list(g, any, 1, unlimited), p.space)), g.literal("]")))
	return p
}

// list matches low to high items with commas between them. low is at least 1.
func (p *jsonParts) list(g *grammar, item expr, low, high int32) expr {
	if high != unlimited {
		high--
	}
	return g.seq(item, g.repeat(g.seq(p.comma(g), item), low-1, high))
}

func (p *jsonParts) comma(g *grammar) expr { return g.seq(g.literal(","), p.space) }

// plainCharacter matches a character that a string contains without an escape.
func plainCharacter(g *grammar) expr {
	return g.runes(' ', '!', '#', '[', ']', utf8.MaxRune)
}

func escapedCharacter(g *grammar) expr {
	var short, hex, safe, low byteSet
	for _, b := range []byte(`"\/bfnrt`) {
		short.add(b)
	}
	for _, b := range []byte("0123456789abcdefABCDEF") {
		hex.add(b)
		if b != 'd' && b != 'D' {
			safe.add(b)
		}
	}
	low.addRange('0', '7')
	d := g.alt(g.literal("d"), g.literal("D"))
	digits := func(n int32) expr { return g.repeat(g.oneOf(hex), n, n) }
	// Surrogates are excluded: a character that would need a pair of them is written without an
	// escape.
	unicode := g.seq(g.literal("u"), g.alt(g.seq(g.oneOf(safe), digits(3)), g.seq(d, g.oneOf(low), digits(2))))
	return g.seq(g.literal(`\`), g.alt(g.oneOf(short), unicode))
}

// spelled returns a function for regex.char. The function matches one character of the ranges in a JSON
// string, in one spelling: without an escape if JSON allows that, otherwise by the usual escape.
func spelled(g *grammar) func(ranges ...rune) expr {
	return func(ranges ...rune) expr {
		var plain []rune
		var escaped []expr
		for i := 0; i+1 < len(ranges); i += 2 {
			lo, hi := ranges[i], ranges[i+1]
			for c := lo; c <= min(hi, '\\'); c++ {
				if c < ' ' || c == '"' || c == '\\' {
					text := jsonString(string(c))
					escaped = append(escaped, g.literal(text[1:len(text)-1]))
				} else {
					plain = append(plain, c, c)
				}
			}
			plain = append(plain, max(lo, '\\'+1), hi)
		}
		return g.alt(append(escaped, g.runes(normalise(plain)...))...)
	}
}

// text returns the expression for a JSON string.
func (s *schema) text(v value, at string) (expr, error) {
	low, high, err := s.counts(v, at, "minLength", "maxLength")
	if err != nil {
		return never, err
	}
	counted := low > 0 || high != unlimited
	pattern, hasPattern := v.get("pattern")
	format, hasFormat := v.get("format")
	if counted && (hasPattern || hasFormat) || hasPattern && hasFormat {
		return never, fmt.Errorf("%s: of pattern, format and minLength or maxLength only one is supported at a time", at)
	}
	body, name := s.g.repeat(s.parts.char, low, high), "a string"
	switch {
	case hasPattern:
		r := &regex{g: s.g, char: spelled(s.g), around: s.g.repeat(s.parts.char, 0, unlimited)}
		if pattern.kind != "string" {
			return never, fmt.Errorf("%s/pattern: must be a regular expression", at)
		}
		if body, err = r.compile(pattern.text); err != nil {
			return never, fmt.Errorf("%s/pattern: %w", at, err)
		}
	case hasFormat:
		if body, name, err = s.format(format, at); err != nil {
			return never, err
		}
	}
	return s.g.label(s.g.seq(s.g.literal(`"`), body, s.g.literal(`"`)), name), nil
}

const (
	datePattern = `[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)|02-(?:0[1-9]|1[0-9]|2[0-8]))`
	timePattern = `(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\.[0-9]{1,9})?(?:Z|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])`
	bytePattern = `(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	wordPattern = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
)

// formats are the supported formats. Each pattern matches only valid values, but some patterns do not
// match all valid values.
var formats = []struct{ name, words, pattern string }{
	{"date", "a date", datePattern},
	{"time", "a time", timePattern},
	{"date-time", "a date and time", datePattern + "T" + timePattern},
	{"uuid", "a UUID", `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`},
	{"email", "an address", `[A-Za-z0-9_+-]{1,30}(?:\.[A-Za-z0-9_+-]{1,30})?@(?:` + wordPattern + `\.){1,3}[A-Za-z]{2,20}`},
	{"ipv4", "an address", bytePattern + `(?:\.` + bytePattern + `){3}`},
}

func (s *schema) format(name value, at string) (expr, string, error) {
	known := ""
	for _, f := range formats {
		if f.name == name.text {
			e, err := (&regex{g: s.g, char: spelled(s.g), around: empty}).compile(f.pattern)
			return e, f.words, err
		}
		known += " " + f.name
	}
	return never, "", fmt.Errorf("%s/format: %.64s is not supported; there are%s", at, name.json(), known)
}

// counts reads a pair of bounds such as minItems and maxItems.
func (s *schema) counts(v value, at, least, most string) (low, high int32, err error) {
	high = unlimited
	for _, bound := range []struct {
		key string
		to  *int32
	}{{least, &low}, {most, &high}} {
		given, ok := v.get(bound.key)
		if !ok {
			continue
		}
		n, err := wholeNumber(given)
		if err != nil || n.Sign() < 0 {
			return 0, 0, fmt.Errorf("%s/%s: must be a whole number from 0, got %.64s", at, bound.key, given.json())
		}
		*bound.to = int32(min(n.Int64(), 1<<30)) // changes nothing: boundCounts refuses or lowers such a large count
	}
	if high != unlimited && high < low {
		return 0, 0, fmt.Errorf("%s/%s: %d is less than %s, which is %d", at, most, high, least, low)
	}
	if low, high, err = boundCounts(low, high); err != nil {
		return 0, 0, fmt.Errorf("%s/%s: %w", at, least, err)
	}
	return low, high, nil
}

// wholeNumber reads an integer of up to wholeDigits digits. It may be spelled like 1000, 1000.0 or 1e3, in up to
// 32 characters.
func wholeNumber(v value) (*big.Int, error) {
	if v.kind != "number" || len(v.text) > 32 {
		return nil, fmt.Errorf("%.64s is not a number that can be used", v.json())
	}
	r, ok := new(big.Rat).SetString(v.text)
	if !ok || !r.IsInt() || r.Num().CmpAbs(big.NewInt(maxWhole)) > 0 {
		return nil, fmt.Errorf("%s is not a whole number of up to %d digits", v.text, wholeDigits)
	}
	return r.Num(), nil
}
