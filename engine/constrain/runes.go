package constrain

import (
	"slices"
	"unicode/utf8"
)

// Here sets of characters become sets of UTF-8 sequences.

// span is the range of one byte of a character.
type span struct{ first, last byte }

// runes matches one character of the ranges. The ranges are pairs of first and last, sorted, and do
// not overlap.
func (g *grammar) runes(ranges ...rune) expr {
	var list [][]span
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := max(ranges[i], 0), min(ranges[i+1], utf8.MaxRune)
		list = g.spell(list, lo, hi)
	}
	return g.tree(list)
}

// spell appends the spellings of the characters from lo to hi to list. It splits the range into parts
// so that one span for each byte describes a part exactly: every choice of a byte from each span is a
// character of the part.
func (g *grammar) spell(list [][]span, lo, hi rune) [][]span {
	if lo > hi || !g.work.spend(1, 0) {
		return list
	}
	cut := func(at rune) [][]span { return g.spell(g.spell(list, lo, at), at+1, hi) }
	if lo <= 0xDFFF && hi >= 0xD800 { // surrogates are not characters
		return g.spell(g.spell(list, lo, 0xD7FF), 0xE000, hi)
	}
	for _, last := range []rune{0x7F, 0x7FF, 0xFFFF} {
		if lo <= last && last < hi {
			return cut(last)
		}
	}
	first, last := utf8.AppendRune(nil, lo), utf8.AppendRune(nil, hi)
	for i := 1; i < len(first); i++ {
		low := rune(1)<<(6*i) - 1
		if lo&^low == hi&^low {
			continue
		}
		if lo&low != 0 {
			return cut(lo | low)
		}
		if hi&low != low {
			return cut(hi&^low - 1)
		}
	}
	spans := make([]span, len(first))
	for i := range first {
		spans[i] = span{first[i], last[i]}
	}
	return append(list, spans)
}

// tree matches any one of the spellings. A spelling is a UTF-8 sequence with a span for each byte.
// Spellings that begin with the same span share it. First spans that have the same continuation become
// one set of bytes. Without these two steps the automaton would follow a stack for each spelling.
//
// tree relies on this: any two spellings have the same first span, or no first byte in common.
func (g *grammar) tree(list [][]span) expr {
	beginnings := map[expr]byteSet{} // first bytes, by the expression of what follows
	var order []expr
	for i := 0; i < len(list); {
		j := i
		var rest [][]span
		for ; j < len(list) && list[j][0] == list[i][0]; j++ {
			if tail := list[j][1:]; len(tail) > 0 {
				rest = append(rest, tail)
			}
		}
		follows := empty
		if len(rest) > 0 {
			follows = g.tree(rest)
		}
		set, seen := beginnings[follows]
		if !seen {
			order = append(order, follows)
		}
		set.addRange(list[i][0].first, list[i][0].last)
		beginnings[follows] = set
		i = j
	}
	parts := make([]expr, len(order))
	for i, follows := range order {
		parts[i] = g.seq(g.oneOf(beginnings[follows]), follows)
	}
	return g.alt(parts...)
}

// normalise sorts ranges and joins those that overlap or touch.
func normalise(ranges []rune) []rune {
	type pair struct{ lo, hi rune }
	var pairs []pair
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= ranges[i+1] {
			pairs = append(pairs, pair{ranges[i], ranges[i+1]})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return int(a.lo - b.lo) })
	var out []rune
	for _, s := range pairs {
		if n := len(out); n > 0 && s.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], s.hi)
			continue
		}
		out = append(out, s.lo, s.hi)
	}
	return out
}

// invert returns the ranges of the characters that are not in ranges.
func invert(ranges []rune) []rune {
	var out []rune
	next := rune(0)
	sorted := normalise(ranges)
	for i := 0; i < len(sorted); i += 2 {
		if next < sorted[i] {
			out = append(out, next, sorted[i]-1)
		}
		next = sorted[i+1] + 1
	}
	if next <= utf8.MaxRune {
		out = append(out, next, utf8.MaxRune)
	}
	return out
}
