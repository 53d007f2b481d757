package constrain

import (
	"slices"
	"unicode/utf8"
)

// A text of characters becomes bytes here: sets of characters are written as sets of UTF-8 sequences.

// runes matches one character of the ranges, which are pairs of first and last.
func (g *grammar) runes(ranges ...rune) expr {
	var ascii byteSet
	var longer []expr
	for i := 0; i+1 < len(ranges); i += 2 {
		lo, hi := max(ranges[i], 0), min(ranges[i+1], utf8.MaxRune)
		if lo <= min(hi, 0x7F) {
			ascii.addRange(byte(lo), byte(min(hi, 0x7F)))
		}
		if hi > 0x7F {
			longer = g.sequences(longer, max(lo, 0x80), hi)
		}
	}
	return g.alt(append([]expr{g.oneOf(ascii)}, longer...)...)
}

// sequences appends what matches the characters from lo to hi, none of them ASCII. A range is cut until the sets of its
// first and last bytes, position by position, describe it exactly.
func (g *grammar) sequences(list []expr, lo, hi rune) []expr {
	if lo > hi {
		return list
	}
	cut := func(at rune) []expr { return g.sequences(g.sequences(list, lo, at), at+1, hi) }
	if lo <= 0xDFFF && hi >= 0xD800 { // surrogates are no characters
		return g.sequences(g.sequences(list, lo, 0xD7FF), 0xE000, hi)
	}
	for _, last := range []rune{0x7FF, 0xFFFF} {
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
	parts := make([]expr, len(first))
	for i := range first {
		var set byteSet
		set.addRange(first[i], last[i])
		parts[i] = g.oneOf(set)
	}
	return append(list, g.seq(parts...))
}

// normalise sorts ranges and joins those that touch.
func normalise(ranges []rune) []rune {
	type span struct{ lo, hi rune }
	var spans []span
	for i := 0; i+1 < len(ranges); i += 2 {
		if ranges[i] <= ranges[i+1] {
			spans = append(spans, span{ranges[i], ranges[i+1]})
		}
	}
	slices.SortFunc(spans, func(a, b span) int { return int(a.lo - b.lo) })
	var out []rune
	for _, s := range spans {
		if n := len(out); n > 0 && s.lo <= out[n-1]+1 {
			out[n-1] = max(out[n-1], s.hi)
			continue
		}
		out = append(out, s.lo, s.hi)
	}
	return out
}

// invert returns the characters that are not in ranges.
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
