package tokenizer

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// runeSet is a set of characters, as a pattern describes it: [a-z\p{N}].
type runeSet struct {
	tables  []*unicode.RangeTable
	ranges  [][2]rune // first and last, included
	negated bool      // [^…]
	except  *runeSet  // what &&[^…] takes away
	ascii   [utf8.RuneSelf]bool
}

func (s *runeSet) has(r rune) bool {
	if r < utf8.RuneSelf {
		return s.ascii[r]
	}
	return s.search(r)
}

func (s *runeSet) search(r rune) bool {
	in := unicode.In(r, s.tables...)
	for _, ends := range s.ranges {
		in = in || (ends[0] <= r && r <= ends[1])
	}
	return in != s.negated && (s.except == nil || !s.except.search(r))
}

// indexed computes the answers of has for ASCII, the commonest characters, so that has looks them up.
func (s *runeSet) indexed() *runeSet {
	for r := range s.ascii {
		s.ascii[r] = s.search(rune(r))
	}
	return s
}

// wordRunes are the characters that count as parts of words for \b.
var wordRunes = (&runeSet{tables: []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.Pc}}).indexed()

// set compiles a part of the expression that matches one character.
func (c *compiler) set() *runeSet {
	s := &runeSet{}
	switch {
	case c.take("."):
		s.negated, s.ranges = true, [][2]rune{{'\n', '\n'}}
	case c.take("["):
		c.class(s)
	default:
		c.member(s)
	}
	return s.indexed()
}

// class compiles the rest of a set after [, with the closing bracket.
func (c *compiler) class(s *runeSet) {
	s.negated = c.take("^")
	for !c.take("]") {
		if c.take("&&[^") {
			s.except = &runeSet{}
			c.class(s.except)
			continue
		}
		c.member(s)
		if len(c.text) > 1 && c.text[0] == '-' && c.text[1] != ']' {
			c.text = c.text[1:]
			s.ranges[len(s.ranges)-1][1] = c.character()
		}
	}
}

// member adds one character or a property to a set.
func (c *compiler) member(s *runeSet) {
	switch {
	case c.take(`\s`):
		s.tables = append(s.tables, unicode.White_Space)
		return
	case c.take(`\S`):
		s.tables, s.negated = append(s.tables, unicode.White_Space), !s.negated
		return
	case c.take(`\D`):
		s.tables, s.negated = append(s.tables, unicode.Nd), !s.negated
		return
	case c.take(`\d`):
		s.tables = append(s.tables, unicode.Nd)
		return
	case c.take(`\p{`):
		name, rest, _ := strings.Cut(c.text, "}")
		table := unicode.Categories[name]
		if table == nil {
			table = unicode.Scripts[name]
		}
		if table == nil {
			c.fail()
		}
		c.text = rest
		s.tables = append(s.tables, table)
		return
	}
	r := c.character()
	s.ranges = append(s.ranges, [2]rune{r, r})
	if lower := unicode.ToLower(r); c.fold && lower < utf8.RuneSelf {
		s.ranges = append(s.ranges, [2]rune{lower, lower}, [2]rune{unicode.ToUpper(lower), unicode.ToUpper(lower)})
	}
}

// character reads one character, which may be escaped.
func (c *compiler) character() rune {
	if c.take(`\x{`) {
		hex, rest, _ := strings.Cut(c.text, "}")
		r, err := strconv.ParseInt(hex, 16, 32)
		if err != nil {
			c.fail()
		}
		c.text = rest
		return rune(r)
	}
	escaped := c.take(`\`)
	r, size := utf8.DecodeRuneInString(c.text)
	if size == 0 {
		c.fail()
	}
	c.text = c.text[size:]
	if named := strings.IndexRune("rnt", r); escaped && named >= 0 {
		return rune("\r\n\t"[named])
	}
	return r
}
