package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// formatMethod is Python's str.format. A field must be empty, a number or a name. A width or a
// conversion is an error: no published template asks for one.
func formatMethod(r *runner, t Text, a arguments) Value {
	var parts []Text
	automatic := 0
	for at := 0; at < len(t.s) && r.step() && r.alloc(64); {
		brace := strings.IndexAny(t.s[at:], "{}")
		if brace < 0 {
			parts = append(parts, t.slice(at, len(t.s)))
			break
		}
		parts = append(parts, t.slice(at, at+brace))
		at += brace
		if rest := t.s[at:]; strings.HasPrefix(rest, "{{") || strings.HasPrefix(rest, "}}") {
			parts = append(parts, t.slice(at, at+1))
			at += 2
			continue
		}
		field, _, closed := strings.Cut(t.s[at+1:], "}")
		if t.s[at] == '}' || !closed || strings.ContainsAny(field, "{.[!:") {
			return r.fail("the format field %.40q is not supported; allowed: {}, {0}, {name}, {{ and }}", t.s[at:])
		}
		at += len(field) + 2
		if field == "" {
			field = strconv.Itoa(automatic)
			automatic++
		}
		v, ok := a.named[field]
		if i, err := strconv.Atoi(field); err == nil && i >= 0 && i < len(a.positional) {
			v, ok = a.positional[i], true
		}
		if !ok {
			return r.fail("the format asks for an argument %.40q, which is not given", field)
		}
		parts = append(parts, r.str(v))
	}
	return r.join(Text{}, parts)
}

// formatPercent is Python's operator % on a string: t % right. right is one value, or a tuple of several.
func (r *runner) formatPercent(t Text, right Value) Value {
	values := []Value{right}
	if list, ok := right.(*List); ok && list.form == formTuple {
		values = list.items
	}
	var parts []Text
	for at := 0; at < len(t.s) && r.step() && r.alloc(64); {
		sign := strings.IndexByte(t.s[at:], '%')
		if sign < 0 || at+sign+1 == len(t.s) {
			parts = append(parts, t.slice(at, len(t.s)))
			break
		}
		parts = append(parts, t.slice(at, at+sign))
		at += sign + 2
		verb := t.s[at-1]
		if verb == '%' {
			parts = append(parts, t.slice(at-1, at))
			continue
		}
		if len(values) == 0 {
			return r.fail("the format has more %% than there are values")
		}
		v := values[0]
		values = values[1:]
		x, isNumber := number(v)
		switch {
		case verb == 's':
		case verb == 'r':
			v = r.repr(v)
		case strings.IndexByte("diu", verb) >= 0 && isNumber && math.Abs(x) < 1<<62:
			v = int(x)
		default:
			return r.fail("%%%c in a format is not supported for %s; allowed: %%s %%r %%d %%%%", verb, kind(v))
		}
		parts = append(parts, r.str(v))
	}
	if len(values) > 0 {
		return r.fail("%d values more than %% in the format", len(values))
	}
	return r.join(Text{}, parts)
}

// strftimeNow formats the present time as C's strftime does. A code that it does not know is an error.
func (r *runner) strftimeNow(a arguments) Value {
	format, ok := a.at(0, nil).(Text)
	if !ok || len(format.s) > 256 {
		return r.fail("strftime_now needs a string of at most 256 bytes")
	}
	now := r.now()
	var out strings.Builder
	for s := format.s; s != ""; {
		plain, rest, found := strings.Cut(s, "%")
		out.WriteString(plain)
		if !found || rest == "" {
			break
		}
		text := map[byte]string{'%': "%", 'j': fmt.Sprintf("%03d", now.YearDay())}[rest[0]]
		if layout, ok := map[byte]string{
			'Y': "2006", 'y': "06", 'm': "01", 'B': "January", 'b': "Jan", 'h': "Jan", 'd': "02", 'e': "_2", 'A': "Monday", 'a': "Mon",
			'H': "15", 'I': "03", 'M': "04", 'S': "05", 'p': "PM", 'F': "2006-01-02", 'T': "15:04:05", 'D': "01/02/06", 'Z': "MST", 'z': "-0700",
		}[rest[0]]; ok {
			text = now.Format(layout)
		} else if text == "" {
			return r.fail("%%%c in the format of a time is not supported", rest[0])
		}
		out.WriteString(text)
		s = rest[1:]
	}
	if format.runs != nil {
		return Data(out.String())
	}
	return Literal(out.String())
}
