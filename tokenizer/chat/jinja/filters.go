package jinja

import (
	"math"
	"strconv"
	"strings"
)

// applyFilter computes the filter call value|name(arguments).
func (r *runner) applyFilter(name string, v Value, a arguments) Value {
	f, ok := r.filters[name]
	if !ok {
		return r.fail("filter %.40q does not exist or is not allowed", name)
	}
	return f.call(r, "|"+name, v, a)
}

// filters are the filters that templates may use.
var filters = map[string]builtin{
	"trim":       stripping(true, true),
	"upper":      textMethods["upper"],
	"lower":      textMethods["lower"],
	"capitalize": textMethods["capitalize"],
	"title":      titling(func(c rune) bool { return IsSpace(c) || strings.ContainsRune("-({[<", c) }),
	"replace":    {"old new count", replaceFilter},
	"string":     textMethod("", func(_ *runner, t Text, _ arguments) Value { return t }),
	"safe":       textMethod("", safeFilter),
	"escape":     textMethod("", func(r *runner, t Text, _ arguments) Value { return r.escaped(t) }),
	"e":          textMethod("", func(r *runner, t Text, _ arguments) Value { return r.escaped(t) }),
	"indent":     {"width first blank", indentFilter},
	"tojson":     {"ensure_ascii indent separators sort_keys", tojsonFilter},
	"default":    {"default_value boolean", defaultFilter},
	"d":          {"default_value boolean", defaultFilter},
	"int":        {"default", intFilter},
	"float":      {"default", floatFilter},
	"abs":        {"", absFilter},
	"round":      {"precision method", roundFilter},

	"length":     {"", lengthFilter},
	"count":      {"", lengthFilter},
	"first":      {"", firstFilter},
	"last":       {"", lastFilter},
	"list":       {"", func(r *runner, v Value, _ arguments) Value { return &List{items: r.iterate(v)} }},
	"join":       {"d attribute", joinFilter},
	"reverse":    {"", reverseFilter},
	"sort":       {"reverse case_sensitive attribute", sortFilter},
	"dictsort":   {"case_sensitive by reverse", dictsortFilter},
	"unique":     {"case_sensitive attribute", uniqueFilter},
	"items":      {"", itemsFilter},
	"sum":        {"attribute start", sumFilter},
	"min":        extreme(-1),
	"max":        extreme(1),
	"map":        {"*", mapFilter},
	"select":     selecting(true, false),
	"reject":     selecting(false, false),
	"selectattr": selecting(true, true),
	"rejectattr": selecting(false, true),
}

func safeFilter(_ *runner, t Text, _ arguments) Value {
	t.safe = true
	return t
}

// escaped replaces the characters that HTML would read as markup. A text that is safe stays as it is.
func (r *runner) escaped(t Text) Text {
	if t.safe || !r.allocText(5*len(t.s)+16*len(t.runs)) {
		return t
	}
	t = t.mapRunes(func(c rune) string {
		if name, ok := map[rune]string{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\'': "&#39;", '"': "&#34;"}[c]; ok {
			return name
		}
		return string(c)
	})
	t.safe = true
	return t
}

func replaceFilter(r *runner, v Value, a arguments) Value {
	for i := range a.positional[:min(2, len(a.positional))] {
		a.positional[i] = r.str(a.positional[i])
	}
	return replaceMethod(r, r.str(v), a)
}

// indentFilter indents every line except the first one and empty ones. If its argument first is true,
// it indents the first line, too; if blank is true, empty lines after the first.
func indentFilter(r *runner, v Value, a arguments) Value {
	t, ok := v.(Text)
	if !ok {
		return r.fail("%s is not a string", kind(v))
	}
	indent, given := a.at(0, 4).(Text)
	if !given {
		width := a.integer(0, 4)
		if width < 0 || width > 64 {
			return r.fail("width %d is outside 0 to 64", width)
		}
		indent = Literal(strings.Repeat(" ", width))
	}
	first, blank := truth(a.at(1, false)), truth(a.at(2, false))
	lines := splitLinesMethod(r, r.join(Text{}, []Text{t, Literal("\n")}), a)
	var parts []Text
	for i, line := range lines.(*List).items {
		if i > 0 {
			parts = append(parts, Literal("\n"))
		}
		if i == 0 && first || i > 0 && (blank || line.(Text).s != "") {
			parts = append(parts, indent)
		}
		parts = append(parts, line.(Text))
	}
	return r.join(Text{}, parts)
}

func defaultFilter(_ *runner, v Value, a arguments) Value {
	_, missing := v.(undefined)
	if missing || truth(a.at(1, false)) && !truth(v) {
		return a.at(0, Text{})
	}
	return v
}

func intFilter(r *runner, v Value, a arguments) Value {
	if t, ok := v.(Text); ok {
		if i, err := strconv.Atoi(strings.TrimFunc(t.s, IsSpace)); err == nil {
			return i
		}
	} else if i, ok := integer(v); ok {
		return i
	}
	f, _ := floatFilter(r, v, arguments{positional: []Value{math.NaN()}}).(float64)
	if math.Abs(f) < 1<<62 {
		return int(f)
	}
	return a.at(0, 0)
}

func floatFilter(r *runner, v Value, a arguments) Value {
	if u, ok := v.(undefined); ok {
		return u.use(r)
	}
	if f, ok := number(v); ok {
		return f
	}
	if t, ok := v.(Text); ok {
		if f, err := strconv.ParseFloat(strings.TrimFunc(t.s, IsSpace), 64); err == nil {
			return f
		}
	}
	return a.at(0, 0.0)
}

func absFilter(r *runner, v Value, _ arguments) Value {
	if truth(r.compared("<", v, 0)) {
		return r.calculate("-", 0, v)
	}
	return v
}

func roundFilter(r *runner, v Value, a arguments) Value {
	f, ok := number(v)
	precision := a.integer(0, 0)
	method, _ := a.at(1, Literal("common")).(Text)
	if !ok || precision < 0 || precision > 15 {
		return r.fail("rounding %s to %d digits is not supported; allowed: a number, and 0 to 15", kind(v), precision)
	}
	scale := math.Pow10(precision)
	switch method.s {
	case "common":
		if _, isInteger := integer(v); isInteger {
			return v
		}
		f, _ = strconv.ParseFloat(strconv.FormatFloat(f, 'f', precision, 64), 64)
		return f
	case "ceil":
		return math.Ceil(f*scale) / scale
	case "floor":
		return math.Floor(f*scale) / scale
	}
	return r.fail("method %.40q is unknown; allowed: common, ceil, floor", method.s)
}

func lengthFilter(r *runner, v Value, _ arguments) Value {
	switch v := v.(type) {
	case undefined:
		return 0
	case Text:
		r.scan(len(v.s))
		return v.runes()
	case *List:
		return len(v.items)
	case *Dict:
		return len(v.keys)
	}
	return r.fail("%s has no length", kind(v))
}

// applyTest computes the test "value is name(arguments)".
func (r *runner) applyTest(name string, v Value, a arguments) Value {
	if passed, known := kindTest(name, v); known && len(a.positional) == 0 {
		return passed
	}
	if operator, ok := map[string]string{"eq": "==", "equalto": "==", "ne": "!=", "gt": ">", "greaterthan": ">", "ge": ">=",
		"lt": "<", "lessthan": "<", "le": "<="}[name]; ok {
		name = operator
	}
	other := a.at(0, undefined{})
	switch name {
	case "==", "!=", "in", ">", ">=", "<", "<=":
		return r.compared(name, v, other)
	case "sameas":
		return kind(v) == kind(other) && r.equal(v, other)
	case "divisibleby":
		return r.equal(r.calculate("%", v, other), 0)
	case "odd":
		return r.equal(r.calculate("%", v, 2), 1)
	case "even":
		return r.equal(r.calculate("%", v, 2), 0)
	case "lower":
		return r.textMethods["islower"].run(r, v, a)
	case "upper":
		return r.textMethods["isupper"].run(r, v, a)
	}
	return r.fail("test %.40q does not exist, is not allowed or has arguments that it does not take", name)
}

func is[T any](v Value) bool {
	_, ok := v.(T)
	return ok
}

// kindTest applies the tests for the kind of a value, and the tests true, false and escaped. known is
// false for any other test.
func kindTest(name string, v Value) (passed, known bool) {
	list, isList := v.(*List)
	text, isText := v.(Text)
	sized := isText || isList || is[*Dict](v) || is[undefined](v)
	passed, known = map[string]bool{
		"defined":   !is[undefined](v),
		"undefined": is[undefined](v),
		"none":      v == nil,
		"string":    isText,
		"escaped":   text.safe,
		"mapping":   is[*Dict](v),
		"sequence":  sized && !(isList && list.form == formView),
		"iterable":  sized || is[*generator](v),
		"boolean":   is[bool](v),
		"true":      v == true,
		"false":     v == false,
		"integer":   is[int](v),
		"float":     is[float64](v),
		"number":    is[int](v) || is[float64](v) || is[bool](v),
		"callable":  is[function](v) || is[undefined](v),
	}[name]
	return passed, known
}
