package jinja

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// str is Python's str(v), which {{ v }} and ~ use.
func (r *runner) str(v Value) (Text, error) {
	switch v := v.(type) {
	case Text:
		return v, nil
	case undefined:
		return Text{}, nil
	case int:
		return Literal(strconv.Itoa(v)), nil
	case function, *namespace, *loop:
		return Text{}, fmt.Errorf("%s cannot be printed", kind(v))
	}
	p := printer{runner: r}
	err := p.repr(v)
	return p.out.text(), err
}

// printer writes values within the limits of a rendering.
type printer struct {
	*runner
	out builder
}

func (p *printer) put(s string, data bool) error {
	if err := p.allocText(len(s)); err != nil {
		return err
	}
	if len(p.out.buf)+len(s) > maxText {
		return fmt.Errorf("the template makes a text of more than %d MiB", maxText>>20)
	}
	p.out.add(s, data)
	return nil
}

// repr writes Python's repr(v).
func (p *printer) repr(v Value) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	switch v := v.(type) {
	case nil:
		return p.put("None", false)
	case bool:
		if v {
			return p.put("True", false)
		}
		return p.put("False", false)
	case int:
		return p.put(strconv.Itoa(v), false)
	case float64:
		return p.put(formatFloat(v), false)
	case undefined:
		return p.put("Undefined", false)
	case Text:
		return p.reprText(v)
	case *List:
		return p.reprList(v)
	case *Dict:
		for i, key := range v.keys {
			if err := p.put([]string{", ", "{"}[oneIf(i == 0)], false); err != nil {
				return err
			}
			if err := p.reprText(key); err != nil {
				return err
			}
			if err := p.put(": ", false); err != nil {
				return err
			}
			if err := p.repr(v.values[i]); err != nil {
				return err
			}
		}
		return p.put([]string{"}", "{}"}[oneIf(len(v.keys) == 0)], false)
	}
	return fmt.Errorf("%s cannot be printed", kind(v))
}

func oneIf(condition bool) int {
	if condition {
		return 1
	}
	return 0
}

func (p *printer) reprList(l *List) error {
	begin, end := "[", "]"
	if l.tuple {
		begin, end = "(", ")"
		if len(l.items) == 1 {
			end = ",)"
		}
	}
	for i, item := range l.items {
		if err := p.put([]string{", ", begin}[oneIf(i == 0)], false); err != nil {
			return err
		}
		if err := p.repr(item); err != nil {
			return err
		}
	}
	if len(l.items) == 0 {
		end = begin + end
	}
	return p.put(end, false)
}

func (p *printer) reprText(t Text) error {
	quote := "'"
	if strings.Contains(t.s, "'") && !strings.Contains(t.s, `"`) {
		quote = `"`
	}
	if err := p.put(quote, false); err != nil {
		return err
	}
	if err := p.scan(len(t.s)); err != nil {
		return err
	}
	if err := p.escape(t, func(s string) string { return escapeRepr(s, quote) }); err != nil {
		return err
	}
	return p.put(quote, false)
}

// escape writes f of the text in short pieces, so that a limit is noticed before it is far
// exceeded.
func (p *printer) escape(t Text, f func(string) string) error {
	for piece, data := range t.Pieces() {
		for len(piece) > 0 {
			cut := min(len(piece), 4096)
			for cut < len(piece) && !utf8.RuneStart(piece[cut]) {
				cut++
			}
			if err := p.put(f(piece[:cut]), data); err != nil {
				return err
			}
			piece = piece[cut:]
		}
	}
	return nil
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
