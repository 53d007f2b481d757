package jinja

import (
	"slices"
	"strings"
	"unicode"
)

// textMethod makes a method of strings. As a filter it works on the text of any value.
func textMethod(parameters string, f func(r *runner, t Text, a arguments) Value) builtin {
	return builtin{parameters, func(r *runner, v Value, a arguments) Value { return f(r, r.str(v), a) }}
}

// textMethods are the methods of strings that templates may call.
var textMethods = map[string]builtin{
	"strip":        stripping(true, true),
	"lstrip":       stripping(true, false),
	"rstrip":       stripping(false, true),
	"split":        textMethod("sep maxsplit", splitMethod),
	"rsplit":       textMethod("sep maxsplit", rsplitMethod),
	"splitlines":   textMethod("", splitLinesMethod),
	"replace":      textMethod("old new count", replaceMethod),
	"join":         textMethod("iterable", joinMethod),
	"format":       textMethod("*", formatMethod),
	"startswith":   affix(strings.HasPrefix),
	"endswith":     affix(strings.HasSuffix),
	"removeprefix": removing(strings.TrimPrefix, true),
	"removesuffix": removing(strings.TrimSuffix, false),
	"find":         finding(strings.Index),
	"rfind":        finding(strings.LastIndex),
	"count":        textMethod("sub", countMethod),
	"upper":        mapping(upperRune),
	"lower":        mapping(lowerRune),
	"capitalize":   titling(func(rune) bool { return false }),
	"title":        titling(func(c rune) bool { return !unicode.IsLetter(c) }),
	"isdigit":      all(unicode.IsDigit),
	"isalpha":      all(unicode.IsLetter),
	"isspace":      all(IsSpace),
	"isalnum":      all(func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) }),
	"isupper":      casing(unicode.IsUpper, unicode.IsLower),
	"islower":      casing(unicode.IsLower, unicode.IsUpper),
}

// dictMethods are the methods of dicts that templates may call.
var dictMethods = map[string]builtin{
	"get": {"key default", func(_ *runner, v Value, a arguments) Value {
		if found, ok := v.(*Dict).get(a.at(0, nil)); ok {
			return found
		}
		return a.at(1, nil)
	}},
	"keys":   {"", func(_ *runner, v Value, _ arguments) Value { return &List{v.(*Dict).keys, formView} }},
	"values": {"", func(_ *runner, v Value, _ arguments) Value { return &List{v.(*Dict).values, formView} }},
	"items":  {"", func(r *runner, v Value, _ arguments) Value { return &List{r.items(v.(*Dict)), formView} }},
}

// items returns the pairs of a dict.
func (r *runner) items(d *Dict) []Value {
	if !r.alloc(160 * len(d.keys)) {
		return nil
	}
	pairs := make([]Value, len(d.keys))
	for i, key := range d.keys {
		pairs[i] = &List{[]Value{key, d.values[i]}, formTuple}
	}
	return pairs
}

func stripping(left, right bool) builtin {
	return textMethod("chars", func(r *runner, t Text, a arguments) Value {
		drop := IsSpace
		if a.at(0, nil) != nil {
			set := a.text(0)
			if len(set.s) > 256 {
				return r.fail("more than 256 characters to strip are not supported")
			}
			drop = func(c rune) bool { return strings.ContainsRune(set.s, c) }
		}
		if !r.scan(len(t.s)) {
			return nil
		}
		return r.made(t.strip(left, right, drop))
	})
}

func splitMethod(r *runner, t Text, a arguments) Value {
	limit := a.integer(1, -1)
	if a.at(0, nil) == nil {
		return r.fields(t, limit)
	}
	separator := a.text(0)
	if separator.s == "" {
		return r.fail("the separator is empty")
	}
	return r.parts(t, separator.s, limit)
}

// parts cuts a text at each separator, at most limit times if limit ≥ 0.
func (r *runner) parts(t Text, separator string, limit int) Value {
	if !r.partable(t, separator) {
		return nil
	}
	return textList(t.splitAll(separator, limit))
}

// partable counts the work and the memory of cutting a text at each separator. It returns false if that
// exceeds a limit.
func (r *runner) partable(t Text, separator string) bool {
	count := strings.Count(t.s, separator) + 1
	return r.scan(2*len(t.s)) && r.alloc(96*count+16*len(t.runs))
}

func textList(texts []Text) *List {
	list := &List{items: make([]Value, len(texts))}
	for i, t := range texts {
		list.items[i] = t
	}
	return list
}

// fields splits at white space, at most limit times if limit ≥ 0.
func (r *runner) fields(t Text, limit int) Value {
	var parts []Text
	rest := t.strip(true, false, IsSpace)
	for rest.s != "" && r.scan(len(t.s)-len(rest.s)+16) && r.alloc(96+16*len(rest.runs)) {
		end := strings.IndexFunc(rest.s, IsSpace)
		if end < 0 || len(parts) == limit {
			parts = append(parts, rest)
			break
		}
		parts = append(parts, rest.slice(0, end))
		rest = rest.slice(end, len(rest.s)).strip(true, false, IsSpace)
	}
	return textList(parts)
}

// rsplitMethod cuts a text at each separator, from the right, at most maxsplit times if maxsplit ≥ 0.
func rsplitMethod(r *runner, t Text, a arguments) Value {
	limit := a.integer(1, -1)
	switch {
	case a.at(0, nil) != nil:
	case limit < 0:
		return r.fields(t, limit)
	default:
		return r.fail("a limit needs a separator")
	}
	separator := a.text(0).s
	if separator == "" {
		return r.fail("the separator is empty")
	}
	if !r.partable(t, separator) {
		return nil
	}
	var parts []Text
	end := len(t.s)
	for limit < 0 || len(parts) < limit {
		at := strings.LastIndex(t.s[:end], separator)
		if at < 0 {
			break
		}
		parts = append(parts, t.slice(at+len(separator), end))
		end = at
	}
	parts = append(parts, t.slice(0, end))
	slices.Reverse(parts)
	return textList(parts)
}

// isLineBreak reports whether Python's splitlines splits at c.
func isLineBreak(c rune) bool {
	return '\n' <= c && c <= '\r' || 0x1c <= c && c <= 0x1e || c == 0x85 || c == 0x2028 || c == 0x2029
}

func splitLinesMethod(r *runner, t Text, _ arguments) Value {
	t = r.str(replaceMethod(r, t, arguments{positional: []Value{Literal("\r\n"), Literal("\n")}}))
	t = r.str(r.mapped(t, func(c rune) string {
		if isLineBreak(c) {
			return "\n"
		}
		return string(c)
	}))
	lines := r.iterate(r.parts(t, "\n", -1))
	if last := len(lines) - 1; last >= 0 && lines[last].(Text).s == "" {
		lines = lines[:last]
	}
	return &List{items: lines}
}

func replaceMethod(r *runner, t Text, a arguments) Value {
	old, replacement := a.text(0), a.text(1)
	if old.s == "" {
		return r.fail("replacing the empty string is not supported")
	}
	parts := r.parts(t, old.s, a.integer(2, -1))
	if r.err != nil {
		return nil
	}
	return r.joinAll(replacement, parts.(*List).items)
}

func joinMethod(r *runner, t Text, a arguments) Value {
	items := r.iterate(a.at(0, undefined{}))
	for _, item := range items {
		if _, ok := item.(Text); !ok {
			return r.fail("cannot join %s", kind(item))
		}
	}
	return r.joinAll(t, items)
}

// joinAll puts the separator between the texts of the values.
func (r *runner) joinAll(separator Text, values []Value) Value {
	if !r.alloc(48 * len(values)) {
		return nil
	}
	texts := make([]Text, len(values))
	for i, v := range values {
		texts[i] = r.str(v)
	}
	return r.join(separator, texts)
}

// affix makes startswith and endswith. Their argument is one prefix or suffix, or a tuple of several.
func affix(has func(s, affix string) bool) builtin {
	return textMethod("affix", func(r *runner, t Text, a arguments) Value {
		wanted := []Value{a.at(0, undefined{})}
		if list, ok := wanted[0].(*List); ok && list.form == formTuple {
			wanted = list.items
		}
		for _, w := range wanted {
			affix, ok := w.(Text)
			if !ok || !r.scan(len(affix.s)) {
				return r.fail("its argument must be a string, not %s", kind(w))
			}
			if has(t.s, affix.s) {
				return true
			}
		}
		return false
	})
}

// removing makes removeprefix and removesuffix.
func removing(cut func(s, affix string) string, prefix bool) builtin {
	return textMethod("affix", func(r *runner, t Text, a arguments) Value {
		rest := len(cut(t.s, a.text(0).s))
		if prefix {
			return r.made(t.slice(len(t.s)-rest, len(t.s)))
		}
		return r.made(t.slice(0, rest))
	})
}

// finding makes find and rfind, which return the position of a part in code points, or -1.
func finding(index func(s, part string) int) builtin {
	return textMethod("sub", func(r *runner, t Text, a arguments) Value {
		at := index(t.s, a.text(0).s)
		if r.scan(2*len(t.s)) && at > 0 {
			at = Text{s: t.s[:at]}.runes()
		}
		return at
	})
}

func countMethod(r *runner, t Text, a arguments) Value {
	if !r.scan(len(t.s)) {
		return nil
	}
	return strings.Count(t.s, a.text(0).s)
}

// upperRune and lowerRune change the case as Python does: some letters become two or three. Of those,
// only the ones below are known. Python's rule for a capital sigma at the end of a word is left out.
func upperRune(c rune) string {
	if special, ok := map[rune]string{'ß': "SS", 'ŉ': "ʼN", 'ǰ': "J̌", 'ﬀ': "FF", 'ﬁ': "FI", 'ﬂ': "FL", 'ﬃ': "FFI", 'ﬄ': "FFL", 'ﬅ': "ST", 'ﬆ': "ST"}[c]; ok {
		return special
	}
	return string(unicode.ToUpper(c))
}

func lowerRune(c rune) string {
	if c == 'İ' {
		return "i̇"
	}
	return string(unicode.ToLower(c))
}

// mapped replaces each rune r of a text by f(r).
func (r *runner) mapped(t Text, f func(rune) string) Value {
	if !r.allocText(2*len(t.s) + 16*len(t.runs)) {
		return nil
	}
	return t.mapRunes(f)
}

func mapping(f func(rune) string) builtin {
	return textMethod("", func(r *runner, t Text, _ arguments) Value { return r.mapped(t, f) })
}

func titleRune(c rune) string {
	if c == 'ß' {
		return "Ss"
	}
	return string(unicode.ToTitle(c))
}

// titling makes title and capitalize: the first character of each word in title case, the others in lower
// case. separates reports whether a character ends a word.
func titling(separates func(rune) bool) builtin {
	return textMethod("", func(r *runner, t Text, _ arguments) Value {
		begins := true
		return r.mapped(t, func(c rune) string {
			first := begins
			begins = separates(c)
			if first {
				return titleRune(c)
			}
			return lowerRune(c)
		})
	})
}

// all makes a method that returns whether the text has characters and holds is true for each.
func all(holds func(rune) bool) builtin {
	return textMethod("", func(r *runner, t Text, _ arguments) Value {
		return r.scan(len(t.s)) && t.s != "" && !strings.ContainsFunc(t.s, func(c rune) bool { return !holds(c) })
	})
}

// casing makes isupper and islower: whether a text has letters of the wanted case, and none of another.
func casing(wanted, other func(rune) bool) builtin {
	return textMethod("", func(r *runner, t Text, _ arguments) Value {
		return r.scan(len(t.s)) && strings.ContainsFunc(t.s, wanted) && !strings.ContainsFunc(t.s, func(c rune) bool {
			return other(c) || unicode.IsTitle(c)
		})
	})
}
