package tokenizer

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A pattern is a compiled regular expression of a pre-tokenizer. Package regexp cannot be used: it
// has no lookahead, which nearly all of these expressions need. The syntax is the part of
// Oniguruma's that they use:
//
//	a . [a-z] [^a-z] [a-z&&[^x]] \s \S \d \D \p{L} \p{Lu} \p{Han} \r \n \t   one character
//	? * + {n} {n,m}                                 how often, after one character
//	(…) (?:…) (?i:…), with ? * + after them, and |
//	(?=…) (?!…) \b $                                test a position, consume no character
//
// The first alternative that leads to a match counts; a repetition is as long as possible. Matching
// backtracks: if a later part of the pattern does not fit, match goes back to the newest choice and tries
// its next possibility, a shorter repetition or another alternative. This can take exponential time with
// some expressions, so expressions never come from a file: all of them are in pretokenizer.go.
type pattern []instruction

// instruction is one step of a pattern. Jumps are relative to the instruction itself.
type instruction struct {
	op         operation
	set        *runeSet // opRun
	least      int      // opRun: least number of characters
	most       int      // opRun: greatest number of characters; -1 for any number
	next       int      // opJump, opSplit
	otherwise  int      // opSplit: where to go on if next leads to no match
	look       pattern  // opLook
	mustNotFit bool     // opLook
}

type operation int

const (
	opRun   operation = iota // consume least to most characters of set
	opJump                   // go to next
	opSplit                  // try next, then otherwise
	opLook                   // fail unless look matches here; with mustNotFit, fail if it does
	opBound                  // fail unless a word begins or ends here
	opEnd                    // fail unless the text ends here
	opMatch
)

// choice is a state to go back to: the instruction with index code, at the offset at of the text. If the
// choice comes from an opRun, the run may end at each character from at back to low.
type choice struct{ code, at, low int }

// find returns where the first match that is not empty begins and ends. It looks for matches that
// begin at from or later. If there is none, it returns -1 and -1.
func (p pattern) find(text string, from int) (start, end int) {
	var back []choice
	for at := from; at < len(text); {
		if end, back = p.match(text, at, back[:0]); end > at {
			return at, end
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return -1, -1
}

// match returns where the match that begins at offset at ends, -1 if there is none. It puts its choices
// on top of back, takes them off again, and returns back, so that the caller can use its memory again.
func (p pattern) match(text string, at int, back []choice) (int, []choice) {
	bottom := len(back)
	for code := 0; ; {
		in, fits := &p[code], true
		switch in.op {
		case opMatch:
			return at, back[:bottom]
		case opJump:
			code += in.next
			continue
		case opSplit:
			back = append(back, choice{code + in.otherwise, at, at})
			code += in.next
			continue
		case opRun:
			end, low := in.run(text, at)
			if fits = low >= 0; fits && end > low {
				back = append(back, choice{code + 1, end, low})
			}
			at = end
		case opLook:
			var end int
			end, back = in.look.match(text, at, back)
			fits = (end < 0) == in.mustNotFit
		case opBound:
			fits = isWord(text[:at], utf8.DecodeLastRuneInString) != isWord(text[at:], utf8.DecodeRuneInString)
		case opEnd:
			fits = at == len(text)
		}
		if fits {
			code++
			continue
		}
		if len(back) == bottom {
			return -1, back
		}
		last := &back[len(back)-1]
		code, at = last.code, last.at
		if at > last.low { // a run: let it end one character earlier
			_, size := utf8.DecodeLastRuneInString(text[:at])
			at -= size
		}
		if last.at = at; at <= last.low {
			back = back[:len(back)-1]
		}
	}
}

// run reads characters of the set from an offset on. end is where the longest run ends; low is
// where a run of the least characters ends, -1 if there are fewer.
func (in *instruction) run(text string, at int) (end, low int) {
	low = -1
	for n := 0; ; n++ {
		if n == in.least {
			low = at
		}
		if n == in.most || at == len(text) {
			return at, low
		}
		r, size := rune(text[at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[at:])
		}
		if !in.set.has(r) {
			return at, low
		}
		at += size
	}
}

func isWord(text string, decode func(string) (rune, int)) bool {
	r, size := decode(text)
	return size > 0 && wordRunes.has(r)
}

// mustCompile panics on an expression that it does not understand: expressions are part of the
// program.
func mustCompile(expression string) pattern {
	c := compiler{text: expression}
	code := append(c.alternatives(), instruction{op: opMatch})
	if c.text != "" {
		c.fail()
	}
	return code
}

// compiler reads an expression from the left. Each method consumes what it compiles.
type compiler struct {
	text string // what is left
	fold bool   // a letter stands for both cases
}

func (c *compiler) fail() { panic("tokenizer: pattern not understood from here on: " + c.text) }

func (c *compiler) take(prefix string) (ok bool) {
	c.text, ok = strings.CutPrefix(c.text, prefix)
	return ok
}

// alternatives compiles a|b|c.
func (c *compiler) alternatives() pattern {
	var first pattern
	for c.text != "" && c.text[0] != '|' && c.text[0] != ')' {
		first = append(first, c.item()...)
	}
	if !c.take("|") {
		return first
	}
	rest := c.alternatives()
	code := append(pattern{{op: opSplit, next: 1, otherwise: len(first) + 2}}, first...)
	return append(append(code, instruction{op: opJump, next: len(rest) + 1}), rest...)
}

// item compiles a test of the position, or a character or a group with its repetition.
func (c *compiler) item() pattern {
	switch {
	case c.take("(?="):
		return pattern{{op: opLook, look: append(c.group(c.fold), instruction{op: opMatch})}}
	case c.take("(?!"):
		return pattern{{op: opLook, look: append(c.group(c.fold), instruction{op: opMatch}), mustNotFit: true}}
	case c.take("(?i:"):
		return c.repeated(c.group(true))
	case c.take("(?:"), c.take("("):
		return c.repeated(c.group(c.fold))
	case c.take(`\b`):
		return pattern{{op: opBound}}
	case c.take("$"):
		return pattern{{op: opEnd}}
	}
	run := instruction{op: opRun, set: c.set()}
	run.least, run.most = c.count()
	return pattern{run}
}

// group compiles the rest of a group after its opening bracket, up to its end.
func (c *compiler) group(fold bool) pattern {
	outer := c.fold
	c.fold = fold
	code := c.alternatives()
	c.fold = outer
	if !c.take(")") {
		c.fail()
	}
	return code
}

// repeated compiles ? * and + after a group.
func (c *compiler) repeated(code pattern) pattern {
	again := instruction{op: opSplit, next: -len(code), otherwise: 1} // after the group: once more, or go on
	switch {
	case c.take("?"):
		return append(pattern{{op: opSplit, next: 1, otherwise: len(code) + 1}}, code...)
	case c.take("*"):
		return append(append(pattern{{op: opSplit, next: 1, otherwise: len(code) + 2}}, code...), again)
	case c.take("+"):
		return append(code, again)
	}
	return code
}

// count compiles how often a character is repeated.
func (c *compiler) count() (least, most int) {
	switch {
	case c.take("?"):
		return 0, 1
	case c.take("*"):
		return 0, -1
	case c.take("+"):
		return 1, -1
	case !c.take("{"):
		return 1, 1
	}
	bounds, rest, _ := strings.Cut(c.text, "}")
	from, to, isRange := strings.Cut(bounds, ",")
	if !isRange {
		to = from
	}
	least, err := strconv.Atoi(from)
	most, err2 := strconv.Atoi(to)
	if err != nil || err2 != nil {
		c.fail()
	}
	c.text = rest
	return least, most
}
