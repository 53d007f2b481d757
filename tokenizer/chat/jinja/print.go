package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is Python's str(v), which {{ v }} and ~ use.
func (r *runner) str(v Value) Text {
	switch v := v.(type) {
	case Text:
		return v
	case undefined:
		return Text{}
	}
	return r.repr(v)
}

// repr is Python's repr(v).
func (r *runner) repr(v Value) Text {
	p := printer{runner: r}
	p.repr(v)
	return p.out.text()
}

// printer writes values within the limits of a rendering.
type printer struct {
	*runner
	out builder
}

func (p *printer) put(s string, data bool) {
	if len(p.out.buf)+len(s) > maxText {
		p.fail("the template makes a text of more than %d MiB", maxText>>20)
	} else if p.allocText(len(s)) {
		p.out.add(s, data)
	}
}

func (p *printer) repr(v Value) {
	if !p.enter() {
		return
	}
	defer p.leave()
	switch v := v.(type) {
	case nil:
		p.put("None", false)
	case bool:
		p.put(map[bool]string{true: "True", false: "False"}[v], false)
	case int:
		p.put(strconv.Itoa(v), false)
	case float64:
		p.put(formatFloat(v), false)
	case undefined:
		p.put("Undefined", false)
	case Text:
		if v.safe {
			p.put("Markup(", false)
		}
		p.reprText(v)
		if v.safe {
			p.put(")", false)
		}
	case *List:
		begin, end := "[", "]"
		switch {
		case v.form > formTuple:
			p.fail("%s cannot be printed", kind(v))
		case v.form == formTuple && len(v.items) == 1:
			begin, end = "(", ",)"
		case v.form == formTuple:
			begin, end = "(", ")"
		}
		p.items(begin, end, len(v.items), ", ", func(i int) { p.repr(v.items[i]) })
	case *Dict:
		p.items("{", "}", len(v.keys), ", ", func(i int) {
			p.repr(v.keys[i])
			p.put(": ", false)
			p.repr(v.values[i])
		})
	default:
		p.fail("%s cannot be printed", kind(v))
	}
}

// items writes count elements, element i by calling one(i).
func (p *printer) items(begin, end string, count int, separator string, one func(i int)) {
	p.put(begin, false)
	for i := 0; i < count && p.err == nil; i++ {
		if i > 0 {
			p.put(separator, false)
		}
		one(i)
	}
	p.put(end, false)
}

func (p *printer) reprText(t Text) {
	quote := "'"
	if strings.Contains(t.s, "'") && !strings.Contains(t.s, `"`) {
		quote = `"`
	}
	p.quoted(t, quote, func(s string) string { return escapeRepr(s, quote) })
}

// quoted writes quote, the text changed by f, and quote again. It writes about 4 KiB at a time, so that
// a limit is noticed before it is far exceeded.
func (p *printer) quoted(t Text, quote string, f func(string) string) {
	p.put(quote, false)
	for piece, data := range t.Pieces() {
		for len(piece) > 0 && p.scan(len(piece)) {
			cut := min(len(piece), 4096)
			for cut < len(piece) && !utf8.RuneStart(piece[cut]) {
				cut++
			}
			p.put(f(piece[:cut]), data)
			piece = piece[cut:]
		}
	}
	p.put(quote, false)
}

func escapeRepr(s, quote string) string {
	var out strings.Builder
	for _, c := range s {
		switch {
		case c == '\n':
			out.WriteString(`\n`)
		case c == '\r':
			out.WriteString(`\r`)
		case c == '\t':
			out.WriteString(`\t`)
		case c == '\\' || string(c) == quote:
			out.WriteString(`\` + string(c))
		case unicode.IsPrint(c):
			out.WriteRune(c)
		case c < 0x100:
			fmt.Fprintf(&out, `\x%02x`, c)
		case c < 0x10000:
			fmt.Fprintf(&out, `\u%04x`, c)
		default:
			fmt.Fprintf(&out, `\U%08x`, c)
		}
	}
	return out.String()
}
