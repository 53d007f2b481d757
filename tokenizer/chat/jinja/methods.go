package jinja

import (
	"errors"
	"fmt"
	"strings"
	"unicode"
)

// textMethods are the methods of strings that templates may call.
var textMethods = map[string]func(r *runner, t Text, args arguments) (Value, error){
	"strip":        func(r *runner, t Text, args arguments) (Value, error) { return r.stripped(t, true, true, args) },
	"lstrip":       func(r *runner, t Text, args arguments) (Value, error) { return r.stripped(t, true, false, args) },
	"rstrip":       func(r *runner, t Text, args arguments) (Value, error) { return r.stripped(t, false, true, args) },
	"split":        splitMethod,
	"rsplit":       rsplitMethod,
	"splitlines":   splitLinesMethod,
	"replace":      replaceMethod,
	"join":         joinMethod,
	"startswith":   func(r *runner, t Text, args arguments) (Value, error) { return r.affix(t, args, strings.HasPrefix) },
	"endswith":     func(r *runner, t Text, args arguments) (Value, error) { return r.affix(t, args, strings.HasSuffix) },
	"removeprefix": func(r *runner, t Text, args arguments) (Value, error) { return r.removed(t, args, true) },
	"removesuffix": func(r *runner, t Text, args arguments) (Value, error) { return r.removed(t, args, false) },
	"find":         func(r *runner, t Text, args arguments) (Value, error) { return r.found(t, args, strings.Index) },
	"rfind":        func(r *runner, t Text, args arguments) (Value, error) { return r.found(t, args, strings.LastIndex) },
	"count":        countMethod,
	"upper":        func(r *runner, t Text, _ arguments) (Value, error) { return r.mapped(t, unicode.ToUpper) },
	"lower":        func(r *runner, t Text, _ arguments) (Value, error) { return r.mapped(t, unicode.ToLower) },
	"capitalize":   func(r *runner, t Text, _ arguments) (Value, error) { return r.capitalized(t) },
	"title":        func(r *runner, t Text, _ arguments) (Value, error) { return r.titled(t) },
	"isdigit":      func(r *runner, t Text, _ arguments) (Value, error) { return r.all(t, unicode.IsDigit) },
	"isalpha":      func(r *runner, t Text, _ arguments) (Value, error) { return r.all(t, unicode.IsLetter) },
	"isspace":      func(r *runner, t Text, _ arguments) (Value, error) { return r.all(t, IsSpace) },
	"isalnum": func(r *runner, t Text, _ arguments) (Value, error) {
		return r.all(t, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsNumber(c) })
	},
}

// dictMethods are the methods of dicts that templates may call.
var dictMethods = map[string]func(r *runner, d *Dict, args arguments) (Value, error){
	"get": func(_ *runner, d *Dict, args arguments) (Value, error) {
		key, err := args.text(0, "key")
		if err != nil {
			return nil, err
		}
		if v, ok := d.Get(key.s); ok {
			return v, nil
		}
		return args.get(1, "default", nil), nil
	},
	"keys":   func(r *runner, d *Dict, _ arguments) (Value, error) { return r.list(r.iterate(d)) },
	"values": func(_ *runner, d *Dict, _ arguments) (Value, error) { return &List{items: d.values}, nil },
	"items":  func(r *runner, d *Dict, _ arguments) (Value, error) { return r.items(d) },
}

func (r *runner) list(items []Value, err error) (Value, error) { return &List{items: items}, err }

// items returns the pairs of a dict.
func (r *runner) items(d *Dict) (Value, error) {
	if err := r.alloc(160 * len(d.keys)); err != nil {
		return nil, err
	}
	pairs := make([]Value, len(d.keys))
	for i, key := range d.keys {
		pairs[i] = &List{items: []Value{key, d.values[i]}, tuple: true}
	}
	return &List{items: pairs}, nil
}

func (r *runner) stripped(t Text, left, right bool, args arguments) (Value, error) {
	drop := IsSpace
	if chars := args.get(0, "chars", nil); chars != nil {
		set, err := args.text(0, "chars")
		if err != nil {
			return nil, err
		}
		if len(set.s) > 256 {
			return nil, errors.New("more than 256 characters to strip are not supported")
		}
		drop = func(c rune) bool { return strings.ContainsRune(set.s, c) }
	}
	if err := r.scan(len(t.s)); err != nil {
		return nil, err
	}
	return r.made(t.strip(left, right, drop))
}

func splitMethod(r *runner, t Text, args arguments) (Value, error) {
	limit, err := args.integer(1, "maxsplit", -1)
	if err != nil {
		return nil, err
	}
	if args.get(0, "sep", nil) == nil {
		return r.fields(t, limit)
	}
	separator, err := args.text(0, "sep")
	if err != nil {
		return nil, err
	}
	if separator.s == "" {
		return nil, errors.New("empty separator")
	}
	if err := r.scan(2 * len(t.s)); err != nil {
		return nil, err
	}
	if err := r.allocParts(t, strings.Count(t.s, separator.s)+1); err != nil {
		return nil, err
	}
	return textList(t.splitAll(separator.s, limit)), nil
}

// allocParts counts the memory of a text that is cut into parts.
func (r *runner) allocParts(t Text, parts int) error { return r.alloc(96*parts + 16*len(t.runs)) }

func textList(texts []Text) *List {
	list := &List{items: make([]Value, len(texts))}
	for i, t := range texts {
		list.items[i] = t
	}
	return list
}

// fields splits at white space, at most limit times if limit ≥ 0.
func (r *runner) fields(t Text, limit int) (Value, error) {
	if err := r.scan(3 * len(t.s)); err != nil {
		return nil, err
	}
	if err := r.allocParts(t, len(strings.FieldsFunc(t.s, IsSpace))); err != nil {
		return nil, err
	}
	var parts []Text
	rest := t.strip(true, false, IsSpace)
	for rest.s != "" {
		end := strings.IndexFunc(rest.s, IsSpace)
		if end < 0 || len(parts) == limit {
			parts = append(parts, rest)
			break
		}
		parts = append(parts, rest.slice(0, end))
		rest = rest.slice(end, len(rest.s)).strip(true, false, IsSpace)
		if err := r.alloc(16 * len(rest.runs)); err != nil {
			return nil, err
		}
	}
	return textList(parts), nil
}

func rsplitMethod(r *runner, t Text, args arguments) (Value, error) {
	limit, err := args.integer(1, "maxsplit", -1)
	if err != nil {
		return nil, err
	}
	all, err := splitMethod(r, t, arguments{positional: []Value{args.get(0, "sep", nil)}})
	if err != nil || limit < 0 {
		return all, err
	}
	parts := all.(*List).items
	separator, ok := args.get(0, "sep", nil).(Text)
	if !ok {
		return nil, errors.New("rsplit with a limit needs a separator")
	}
	cut := max(len(parts)-1-limit, 0)
	head := make([]Text, cut+1)
	for i := range head {
		head[i] = parts[i].(Text)
	}
	first, err := r.join(separator, head)
	return &List{items: append([]Value{first}, parts[cut+1:]...)}, err
}

func splitLinesMethod(r *runner, t Text, _ arguments) (Value, error) {
	if err := r.scan(2 * len(t.s)); err != nil {
		return nil, err
	}
	if err := r.allocParts(t, strings.Count(t.s, "\n")+1); err != nil {
		return nil, err
	}
	lines := t.splitAll("\n", -1)
	if lines[len(lines)-1].s == "" {
		lines = lines[:len(lines)-1]
	}
	for i, line := range lines {
		if strings.HasSuffix(line.s, "\r") {
			lines[i] = line.slice(0, len(line.s)-1)
		}
	}
	return textList(lines), nil
}

func replaceMethod(r *runner, t Text, args arguments) (Value, error) {
	old, err := args.text(0, "old")
	if err != nil {
		return nil, err
	}
	replacement, err := args.text(1, "new")
	if err != nil {
		return nil, err
	}
	limit, err := args.integer(2, "count", -1)
	if err != nil {
		return nil, err
	}
	if old.s == "" {
		return nil, errors.New("replacing the empty string is not supported")
	}
	if err := r.scan(2 * len(t.s)); err != nil {
		return nil, err
	}
	if err := r.allocParts(t, strings.Count(t.s, old.s)+1); err != nil {
		return nil, err
	}
	return r.join(replacement, t.splitAll(old.s, limit))
}

func joinMethod(r *runner, t Text, args arguments) (Value, error) {
	items, err := r.iterate(args.get(0, "iterable", undefined{}))
	if err != nil {
		return nil, err
	}
	texts := make([]Text, len(items))
	for i, item := range items {
		text, ok := item.(Text)
		if !ok {
			return nil, fmt.Errorf("cannot join %s", kind(item))
		}
		texts[i] = text
	}
	if err := r.alloc(48 * len(texts)); err != nil {
		return nil, err
	}
	return r.join(t, texts)
}

// affix tests for a prefix or suffix, or for one of several.
func (r *runner) affix(t Text, args arguments, has func(s, affix string) bool) (Value, error) {
	wanted := []Value{args.get(0, "affix", undefined{"its argument"})}
	if list, ok := wanted[0].(*List); ok {
		wanted = list.items
	}
	for _, w := range wanted {
		affix, ok := w.(Text)
		if !ok {
			return nil, fmt.Errorf("its argument must be a string, not %s", kind(w))
		}
		if err := r.scan(len(affix.s)); err != nil {
			return nil, err
		}
		if has(t.s, affix.s) {
			return true, nil
		}
	}
	return false, nil
}

func (r *runner) removed(t Text, args arguments, prefix bool) (Value, error) {
	affix, err := args.text(0, "affix")
	if err != nil {
		return nil, err
	}
	switch {
	case prefix && strings.HasPrefix(t.s, affix.s):
		t = t.slice(len(affix.s), len(t.s))
	case !prefix && strings.HasSuffix(t.s, affix.s):
		t = t.slice(0, len(t.s)-len(affix.s))
	}
	return r.made(t)
}

// found returns the position of a part in code points, or -1.
func (r *runner) found(t Text, args arguments, index func(s, part string) int) (Value, error) {
	part, err := args.text(0, "sub")
	if err != nil {
		return nil, err
	}
	at := index(t.s, part.s)
	if at > 0 {
		at = Text{s: t.s[:at]}.runes()
	}
	return at, r.scan(2 * len(t.s))
}

func countMethod(r *runner, t Text, args arguments) (Value, error) {
	part, err := args.text(0, "sub")
	if err != nil {
		return nil, err
	}
	return strings.Count(t.s, part.s), r.scan(len(t.s))
}

func (r *runner) mapped(t Text, f func(rune) rune) (Value, error) {
	if err := r.allocText(2*len(t.s) + 16*len(t.runs)); err != nil {
		return nil, err
	}
	return t.mapRunes(f), nil
}

func (r *runner) capitalized(t Text) (Value, error) {
	first := true
	return r.mapped(t, func(c rune) rune {
		if first {
			first = false
			return unicode.ToTitle(c)
		}
		return unicode.ToLower(c)
	})
}

func (r *runner) titled(t Text) (Value, error) {
	inWord := false
	return r.mapped(t, func(c rune) rune {
		begins := !inWord
		inWord = unicode.IsLetter(c)
		if begins {
			return unicode.ToTitle(c)
		}
		return unicode.ToLower(c)
	})
}

func (r *runner) all(t Text, holds func(rune) bool) (Value, error) {
	none := !strings.ContainsFunc(t.s, func(c rune) bool { return !holds(c) })
	return none && t.s != "", r.scan(len(t.s))
}
