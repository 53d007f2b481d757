package constrain

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Grammar returns a constraint that is satisfied by texts of the rule root of a grammar in GBNF,
// the notation of llama.cpp:
//
//	root   ::= "Answer: " answer "\n"
//	answer ::= "yes" | "no" | [0-9]{1,3} | ( [^\n] )+   # and comments
func Grammar(ctx context.Context, text string) (*Constraint, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the grammar has %d bytes: at most %d are read", len(text), MaxBytes)
	}
	if !utf8.ValidString(text) {
		return nil, errors.New("the grammar is not UTF-8")
	}
	p := &gbnf{text: text, g: newGrammar(newWork(ctx)), rule: map[string]gbnfRule{}}
	if err := p.grammar(); err != nil {
		return nil, fmt.Errorf("line %d of the grammar: %w", 1+strings.Count(text[:min(p.at, len(text))], "\n"), err)
	}
	for _, name := range p.order {
		if r := p.rule[name]; r.end == 0 {
			return nil, fmt.Errorf("the grammar uses the rule %.64q, which it does not define", name)
		}
	}
	root, ok := p.rule["root"]
	if !ok {
		return nil, errors.New("the grammar has no rule root, with which a reply begins: write root ::= …")
	}
	return newConstraint("grammar", p.g, root.use, nil)
}

// gbnf reads a grammar by recursive descent.
type gbnf struct {
	text  string
	at    int
	depth int
	g     *grammar
	rule  map[string]gbnfRule
	order []string // the names in the order in which they were first seen
}

type gbnfRule struct {
	id  int
	use expr
	end int // the position after the ::= of its definition; 0: not defined yet
}

// maxGroups is how deep parentheses may nest.
const maxGroups = 64

func (p *gbnf) grammar() error {
	p.space(true)
	if p.at == len(p.text) {
		return errors.New("it is empty: write root ::= …")
	}
	for p.at < len(p.text) {
		if err := p.definition(); err != nil {
			return err
		}
		p.space(true)
	}
	return nil
}

func (p *gbnf) definition() error {
	name := p.name()
	if name == "" {
		return fmt.Errorf("a rule must begin with its name, got %s", p.here())
	}
	p.space(false)
	if !p.take("::=") {
		return fmt.Errorf("after the name %.64q there must be ::=, got %s", name, p.here())
	}
	r := p.named(name)
	if r.end != 0 {
		return fmt.Errorf("the rule %.64q is defined twice, first on line %d", name, 1+strings.Count(p.text[:r.end], "\n"))
	}
	r.end = p.at
	p.rule[name] = r
	p.space(true)
	e, err := p.alternatives()
	if err != nil {
		return fmt.Errorf("in the rule %.64q: %w", name, err)
	}
	p.g.rules[r.id] = e
	if p.at < len(p.text) && p.text[p.at] != '\n' {
		return fmt.Errorf("in the rule %.64q: cannot read %s", name, p.here())
	}
	return nil
}

// named returns the rule of this name, which the grammar may define later.
func (p *gbnf) named(name string) gbnfRule {
	r, ok := p.rule[name]
	if !ok {
		r.id, r.use = p.g.declare(fmt.Sprintf("the rule %.64q", name))
		p.rule[name] = r
		p.order = append(p.order, name)
	}
	return r
}

func (p *gbnf) alternatives() (expr, error) {
	var list []expr
	for {
		e, err := p.sequence()
		if err != nil {
			return never, err
		}
		list = append(list, e)
		p.space(p.depth > 0)
		if !p.take("|") {
			return p.g.alt(list...), nil
		}
		p.space(true)
	}
}

func (p *gbnf) sequence() (expr, error) {
	var parts []expr
	for {
		p.space(p.depth > 0)
		if p.at == len(p.text) || strings.ContainsRune("|)\n", rune(p.text[p.at])) {
			return p.g.seq(parts...), nil
		}
		e, err := p.item()
		if err != nil {
			return never, err
		}
		if e, err = p.repetitions(e); err != nil {
			return never, err
		}
		parts = append(parts, e)
	}
}

func (p *gbnf) item() (expr, error) {
	switch {
	case p.take(`"`):
		return p.quoted()
	case p.take("["):
		return p.characters()
	case p.take("."):
		return p.g.runes(0, utf8.MaxRune), nil
	case p.take("("):
		if p.depth++; p.depth > maxGroups {
			return never, fmt.Errorf("parentheses nest more than %d deep", maxGroups)
		}
		p.space(true)
		e, err := p.alternatives()
		if err != nil {
			return never, err
		}
		if !p.take(")") {
			return never, fmt.Errorf("a ) is missing, got %s", p.here())
		}
		p.depth--
		return e, nil
	}
	if name := p.name(); name != "" {
		return p.named(name).use, nil
	}
	return never, fmt.Errorf("cannot read %s: a rule is made of \"text\", [characters], names, . and ( )", p.here())
}

func (p *gbnf) repetitions(e expr) (expr, error) {
	for {
		switch {
		case p.take("*"):
			e = p.g.repeat(e, 0, unlimited)
		case p.take("+"):
			e = p.g.repeat(e, 1, unlimited)
		case p.take("?"):
			e = p.g.optional(e)
		case p.take("{"):
			low, high, err := p.counts()
			if err != nil {
				return never, err
			}
			e = p.g.repeat(e, low, high)
		default:
			return e, nil
		}
	}
}

// counts reads the rest of {m}, {m,} or {m,n} after the opening brace.
func (p *gbnf) counts() (low, high int32, err error) {
	body, rest, ok := strings.Cut(p.text[p.at:], "}")
	if !ok {
		return 0, 0, errors.New("a } is missing")
	}
	p.at = len(p.text) - len(rest)
	first, second, ranged := strings.Cut(body, ",")
	low, ok = count(first)
	if high = low; ok && ranged {
		if high = unlimited; strings.TrimSpace(second) != "" {
			high, ok = count(second)
		}
	}
	if !ok || high != unlimited && high < low {
		return 0, 0, fmt.Errorf("cannot read {%s}: write {3}, {3,} or {3,5}", body)
	}
	return boundCounts(low, high)
}

func count(text string) (int32, bool) {
	n, err := strconv.ParseUint(strings.TrimSpace(text), 10, 31)
	return int32(n), err == nil
}

// boundCounts lowers high to MaxRepeat, unless high is unlimited. A low above MaxRepeat is an error.
func boundCounts(low, high int32) (int32, int32, error) {
	if low > MaxRepeat {
		return 0, 0, fmt.Errorf("at least %d repetitions are asked for; at most %d can be", low, MaxRepeat)
	}
	return low, min(high, MaxRepeat), nil
}

// quoted reads a text after its opening quote.
func (p *gbnf) quoted() (expr, error) {
	var text []byte
	for !p.take(`"`) {
		r, raw, err := p.character()
		if err != nil {
			return never, err
		}
		if raw {
			text = append(text, byte(r))
		} else {
			text = utf8.AppendRune(text, r)
		}
	}
	return p.g.literal(string(text)), nil
}

// characters reads a set after its opening bracket.
func (p *gbnf) characters() (expr, error) {
	inverted := p.take("^")
	var ranges []rune
	for !p.take("]") {
		lo, _, err := p.character()
		if err != nil {
			return never, err
		}
		hi := lo
		if strings.HasPrefix(p.text[p.at:], "-") && !strings.HasPrefix(p.text[p.at:], "-]") {
			p.at++
			if hi, _, err = p.character(); err != nil {
				return never, err
			}
		}
		if hi < lo {
			return never, fmt.Errorf("the range %q-%q is upside down", lo, hi)
		}
		ranges = append(ranges, lo, hi)
	}
	if inverted {
		ranges = invert(ranges)
	}
	return p.g.runes(normalise(ranges)...), nil
}

// character reads one character, perhaps escaped. raw means that r is a byte of 0x80 or more, written
// as \xHH. In a text, r then stands for this byte and not for a character.
func (p *gbnf) character() (r rune, raw bool, err error) {
	if p.at == len(p.text) || p.text[p.at] == '\n' {
		return 0, false, errors.New("the line ends inside of a text or a set")
	}
	r, size := utf8.DecodeRuneInString(p.text[p.at:])
	p.at += size
	if r != '\\' {
		return r, false, nil
	}
	if p.at == len(p.text) {
		return 0, false, errors.New(`the grammar ends in \`)
	}
	c := p.text[p.at]
	p.at++
	switch c {
	case 'n':
		return '\n', false, nil
	case 'r':
		return '\r', false, nil
	case 't':
		return '\t', false, nil
	case '\\', '"', '[', ']', '-', '^':
		return rune(c), false, nil
	case 'x':
		r, err = p.hex(2)
		return r, r > math.MaxInt8, err
	case 'u':
		r, err = p.hex(4)
		return r, false, err
	case 'U':
		r, err = p.hex(8)
		return r, false, err
	}
	return 0, false, fmt.Errorf(`\%c is not known: use \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH`, c)
}

func (p *gbnf) hex(digits int) (rune, error) {
	if len(p.text)-p.at < digits {
		return 0, fmt.Errorf("an escape needs %d hexadecimal digits", digits)
	}
	n, err := strconv.ParseUint(p.text[p.at:p.at+digits], 16, 32)
	if err != nil || n > utf8.MaxRune || n >= 0xD800 && n <= 0xDFFF {
		return 0, fmt.Errorf("%q is not the number of a character in %d hexadecimal digits", p.text[p.at:p.at+digits], digits)
	}
	p.at += digits
	return rune(n), nil
}

func (p *gbnf) name() string {
	start := p.at
	for p.at < len(p.text) {
		c := p.text[p.at]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_') {
			break
		}
		p.at++
	}
	return p.text[start:p.at]
}

// take skips the text of what if the grammar continues with this text, and reports whether it did.
func (p *gbnf) take(what string) bool {
	if !strings.HasPrefix(p.text[p.at:], what) {
		return false
	}
	p.at += len(what)
	return true
}

// space skips white space and comments. It skips ends of lines only if lines is set.
func (p *gbnf) space(lines bool) {
	for p.at < len(p.text) {
		switch c := p.text[p.at]; {
		case c == '#':
			for p.at < len(p.text) && p.text[p.at] != '\n' {
				p.at++
			}
		case c == ' ' || c == '\t' || c == '\r' || c == '\n' && lines:
			p.at++
		default:
			return
		}
	}
}

// here quotes the text at which reading stopped, for errors.
func (p *gbnf) here() string {
	rest := p.text[p.at:]
	if rest == "" {
		return "the end"
	}
	if line, _, found := strings.Cut(rest, "\n"); found && line == "" {
		return "the end of the line"
	} else if len(line) > 0 {
		rest = line
	}
	return fmt.Sprintf("%.20q", rest)
}
