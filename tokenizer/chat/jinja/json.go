package jinja

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// jsonStyle says how tojson writes.
type jsonStyle struct {
	indent    int // spaces per level; -1 writes one line
	item, key string
	sortKeys  bool
}

// toJSON writes v as json.dumps(v, ensure_ascii=False) does. Text inside quotes keeps its origin.
func (r *runner) toJSON(v Value, style jsonStyle) (Text, error) {
	p := printer{runner: r}
	err := p.json(v, style, 0)
	return p.out.text(), err
}

func (p *printer) json(v Value, style jsonStyle, level int) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	switch v := v.(type) {
	case nil:
		return p.put("null", false)
	case bool:
		return p.put(strconv.FormatBool(v), false)
	case int:
		return p.put(strconv.Itoa(v), false)
	case float64:
		return p.put(jsonFloat(v), false)
	case Text:
		return p.jsonText(v)
	case *List:
		return p.jsonItems("[", "]", len(v.items), style, level, func(i int) error {
			return p.json(v.items[i], style, level+1)
		})
	case *Dict:
		order := make([]int, len(v.keys))
		for i := range order {
			order[i] = i
		}
		if style.sortKeys {
			slices.SortFunc(order, func(a, b int) int { return strings.Compare(v.keys[a].s, v.keys[b].s) })
		}
		return p.jsonItems("{", "}", len(v.keys), style, level, func(i int) error {
			if err := p.jsonText(v.keys[order[i]]); err != nil {
				return err
			}
			if err := p.put(style.key, false); err != nil {
				return err
			}
			return p.json(v.values[order[i]], style, level+1)
		})
	}
	return fmt.Errorf("%s cannot be written as JSON", kind(v))
}

func (p *printer) jsonItems(begin, end string, count int, style jsonStyle, level int, item func(i int) error) error {
	if err := p.put(begin, false); err != nil {
		return err
	}
	lineBreak := func(level int) error {
		if style.indent < 0 || count == 0 {
			return nil
		}
		// Bounded: the level is at most maxDepth, the indent at most 16 (checked by the filter).
		return p.put("\n"+strings.Repeat(" ", style.indent*level), false)
	}
	for i := range count {
		if i > 0 {
			if err := p.put(style.item, false); err != nil {
				return err
			}
		}
		if err := lineBreak(level + 1); err != nil {
			return err
		}
		if err := item(i); err != nil {
			return err
		}
	}
	if err := lineBreak(level); err != nil {
		return err
	}
	return p.put(end, false)
}

func (p *printer) jsonText(t Text) error {
	if err := p.scan(len(t.s)); err != nil {
		return err
	}
	if err := p.put(`"`, false); err != nil {
		return err
	}
	if err := p.escape(t, escapeJSON); err != nil {
		return err
	}
	return p.put(`"`, false)
}

func escapeJSON(s string) string {
	short := strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`, "\b", `\b`, "\f", `\f`)
	s = short.Replace(s)
	if !strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 }) {
		return s
	}
	var out strings.Builder
	for i := range len(s) {
		if s[i] < 0x20 {
			fmt.Fprintf(&out, `\u%04x`, s[i])
		} else {
			out.WriteByte(s[i])
		}
	}
	return out.String()
}

func jsonFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return formatFloat(f)
}
