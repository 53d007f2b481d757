package jinja

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
)

// tojsonFilter writes v as Python's json.dumps does, but as in transformers it writes letters beyond
// ASCII as they are unless ensure_ascii is true. Text inside quotes keeps its origin.
func tojsonFilter(r *runner, v Value, a arguments) Value {
	p := jsonPrinter{printer: printer{runner: r}, indent: -1, item: ", ", key: ": "}
	p.ascii, p.sortKeys = truth(a.at(0, false)), truth(a.at(3, false))
	if a.at(1, nil) != nil {
		p.indent, p.item = a.integer(1, 0), ","
		if p.indent < 0 || p.indent > 16 {
			return r.fail("indent %d is outside 0 to 16", p.indent)
		}
	}
	if separators, ok := a.at(2, nil).(*List); ok && len(separators.items) == 2 {
		item, okItem := separators.items[0].(Text)
		key, okKey := separators.items[1].(Text)
		if !okItem || !okKey || item.runs != nil || key.runs != nil {
			return r.fail("separators must be two strings of the template's")
		}
		p.item, p.key = item.s, key.s
	}
	p.json(v, 0)
	return p.out.text()
}

type jsonPrinter struct {
	printer
	indent          int // spaces per level; -1 writes one line
	item, key       string
	ascii, sortKeys bool
}

func (p *jsonPrinter) json(v Value, level int) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch v := v.(type) {
	case nil:
		p.put("null", false)
	case bool:
		p.put(strconv.FormatBool(v), false)
	case int:
		p.put(strconv.Itoa(v), false)
	case float64:
		text := formatFloat(v)
		if name, ok := map[string]string{"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[text]; ok {
			text = name
		}
		p.put(text, false)
	case Text:
		p.quoted(v, `"`, p.escape)
	case *List:
		if v.form > formTuple {
			p.fail("%s cannot be written as JSON", kind(v))
		}
		p.nested("[", "]", len(v.items), level, func(i int) { p.json(v.items[i], level+1) })
	case *Dict:
		p.dict(v, level)
	default:
		p.fail("%s cannot be written as JSON", kind(v))
	}
}

func (p *jsonPrinter) dict(d *Dict, level int) {
	order := make([]int, len(d.keys))
	for i := range order {
		order[i] = i
	}
	if p.sortKeys {
		slices.SortFunc(order, func(a, b int) int { return p.order(d.keys[a], d.keys[b]) })
	}
	p.nested("{", "}", len(d.keys), level, func(i int) {
		if key, ok := d.keys[order[i]].(Text); ok {
			p.json(key, level)
		} else {
			p.put(`"`, false)
			p.json(d.keys[order[i]], level)
			p.put(`"`, false)
		}
		p.put(p.key, false)
		p.json(d.values[order[i]], level+1)
	})
}

// nested writes elements; if there is an indent, each on its own line.
func (p *jsonPrinter) nested(begin, end string, count, level int, one func(i int)) {
	// Bounded: the level is at most maxDepth, the indent at most 16.
	lineBreak := func(level int) string { return "\n" + strings.Repeat(" ", p.indent*level) }
	separator := p.item
	if p.indent >= 0 && count > 0 {
		begin, separator, end = begin+lineBreak(level+1), separator+lineBreak(level+1), lineBreak(level)+end
	}
	p.items(begin, end, count, separator, one)
}

func (p *jsonPrinter) escape(s string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\b': `\b`, '\f': `\f`}
	var out strings.Builder
	for _, c := range s {
		if text, ok := short[c]; ok {
			out.WriteString(text)
		} else if c >= 0x20 && c < 0x7f || c >= 0x7f && !p.ascii {
			out.WriteRune(c)
		} else if high, low := utf16.EncodeRune(c); c > 0xffff {
			fmt.Fprintf(&out, `\u%04x\u%04x`, high, low)
		} else {
			fmt.Fprintf(&out, `\u%04x`, c)
		}
	}
	return out.String()
}
