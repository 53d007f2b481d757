package jinja

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text is a string that knows for each byte whether the template wrote it or it is data. Cutting, joining
// and changing case keep this origin. The zero value is the empty text.
type Text struct {
	s    string
	runs []run // the origins of all bytes of s, in order; nil: the template wrote all of s
	safe bool  // the text went through the filter safe or escape; + escapes another text that is added to it
}

// run is the origin of the bytes from the end of the previous run up to end. Neighbours have different
// origins.
type run struct {
	end  int
	data bool
}

// Data returns a text that came in from outside.
func Data(s string) Text {
	if s == "" {
		return Text{}
	}
	return Text{s: s, runs: []run{{len(s), true}}}
}

// Literal returns a text that counts as written by the template.
func Literal(s string) Text { return Text{s: s} }

func (t Text) String() string { return t.s }

// Pieces yields the text in order, in pieces of one origin each, and whether a piece is data.
func (t Text) Pieces() iter.Seq2[string, bool] {
	return func(yield func(text string, data bool) bool) {
		start := 0
		for _, r := range t.spans() {
			if !yield(t.s[start:r.end], r.data) {
				return
			}
			start = r.end
		}
	}
}

func (t Text) spans() []run {
	if t.runs == nil && t.s != "" {
		return []run{{len(t.s), false}}
	}
	return t.runs
}

// slice returns the bytes from i up to j.
func (t Text) slice(i, j int) Text {
	cut := Text{s: t.s[i:j], safe: t.safe}
	if i == j || t.runs == nil {
		return cut
	}
	first, _ := slices.BinarySearchFunc(t.runs, i+1, func(r run, at int) int { return r.end - at })
	for _, r := range t.runs[first:] {
		cut.runs = append(cut.runs, run{min(r.end, j) - i, r.data})
		if r.end >= j {
			break
		}
	}
	return cut
}

// splitAll cuts the text at each separator, at most n times if n ≥ 0.
func (t Text) splitAll(separator string, n int) []Text {
	var parts []Text
	start := 0
	for n < 0 || len(parts) < n {
		at := strings.Index(t.s[start:], separator)
		if at < 0 {
			break
		}
		parts = append(parts, t.slice(start, start+at))
		start += at + len(separator)
	}
	return append(parts, t.slice(start, len(t.s)))
}

// strip removes runes for which drop holds from the left end, the right end or both.
func (t Text) strip(left, right bool, drop func(rune) bool) Text {
	i, j := 0, len(t.s)
	if left {
		i = j - len(strings.TrimLeftFunc(t.s, drop))
	}
	if right {
		j = i + len(strings.TrimRightFunc(t.s[i:], drop))
	}
	return t.slice(i, j)
}

// mapRunes replaces each rune r by f(r).
func (t Text) mapRunes(f func(rune) string) Text {
	var b builder
	var out strings.Builder
	for piece, data := range t.Pieces() {
		out.Reset()
		for _, c := range piece {
			out.WriteString(f(c))
		}
		b.add(out.String(), data)
	}
	mapped := b.text()
	mapped.safe = t.safe
	return mapped
}

// runes returns the number of code points, which is Python's length of a string.
func (t Text) runes() int { return utf8.RuneCountInString(t.s) }

// sliceRunes returns the code points from i up to j.
func (t Text) sliceRunes(i, j int) Text {
	if i >= j {
		return Text{}
	}
	start, end, n := len(t.s), len(t.s), 0
	for at := range t.s {
		if n == i {
			start = at
		}
		if n == j {
			end = at
			break
		}
		n++
	}
	return t.slice(start, end)
}

// builder joins texts, and keeps the origin of each byte.
type builder struct {
	buf  []byte
	runs []run
}

func (b *builder) add(s string, data bool) {
	if s == "" {
		return
	}
	b.buf = append(b.buf, s...)
	if last := len(b.runs) - 1; last >= 0 && b.runs[last].data == data {
		b.runs[last].end = len(b.buf)
		return
	}
	b.runs = append(b.runs, run{len(b.buf), data})
}

func (b *builder) addText(t Text) {
	for piece, data := range t.Pieces() {
		b.add(piece, data)
	}
}

func (b *builder) text() Text {
	t := Text{s: string(b.buf), runs: b.runs}
	if len(t.runs) == 1 && !t.runs[0].data {
		t.runs = nil
	}
	return t
}

// IsSpace reports whether Python's str.strip removes r.
func IsSpace(r rune) bool { return unicode.IsSpace(r) || 0x1c <= r && r <= 0x1f }
