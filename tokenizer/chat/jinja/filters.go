package jinja

import (
	"errors"
	"fmt"
	"strings"
)

// filterFunc is value|filter(args).
type filterFunc func(r *runner, v Value, args arguments) (Value, error)

func (r *runner) applyFilter(name string, v Value, args arguments) (Value, error) {
	f, ok := filterByName(name)
	if !ok {
		return nil, fmt.Errorf("filter %.40q does not exist or is not allowed", name)
	}
	result, err := f(r, v, args)
	if err != nil {
		return nil, fmt.Errorf("|%s: %w", name, err)
	}
	return result, nil
}

// filterByName finds a filter among those that templates may use.
func filterByName(name string) (filterFunc, bool) {
	if f, ok := textFilter(name); ok {
		return f, true
	}
	f, ok := map[string]filterFunc{
		"length": lengthFilter, "count": lengthFilter, "first": firstFilter, "last": lastFilter, "list": listFilter,
		"join": joinFilter, "reverse": reverseFilter, "sort": sortFilter, "unique": uniqueFilter, "items": itemsFilter,
		"dictsort": dictsortFilter, "map": mapFilter, "sum": sumFilter, "min": minFilter, "max": maxFilter,
		"select": selecting(true, false), "reject": selecting(false, false),
		"selectattr": selecting(true, true), "rejectattr": selecting(false, true),
		"default": defaultFilter, "d": defaultFilter, "tojson": tojsonFilter,
		"int": intFilter, "float": floatFilter, "abs": absFilter, "round": roundFilter,
	}[name]
	return f, ok
}

// textFilter returns the filters that work on the text of any value.
func textFilter(name string) (filterFunc, bool) {
	var method func(r *runner, t Text, args arguments) (Value, error)
	switch name {
	case "trim":
		method = textMethods["strip"]
	case "upper", "lower", "capitalize", "title", "replace":
		method = textMethods[name]
	case "string", "safe":
		method = func(_ *runner, t Text, _ arguments) (Value, error) { return t, nil }
	case "escape", "e":
		method = escapeFilter
	case "indent":
		method = indentFilter
	default:
		return nil, false
	}
	return func(r *runner, v Value, args arguments) (Value, error) {
		t, err := r.str(v)
		if err != nil {
			return nil, err
		}
		return method(r, t, args)
	}, true
}

func escapeFilter(r *runner, t Text, _ arguments) (Value, error) {
	v := Value(t)
	for _, pair := range [][2]string{{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"'", "&#39;"}, {`"`, "&#34;"}} {
		var err error
		v, err = replaceMethod(r, v.(Text), arguments{positional: []Value{Literal(pair[0]), Literal(pair[1])}})
		if err != nil {
			return nil, err
		}
	}
	return v, nil
}

// indentFilter indents every line except the first and, unless asked to, the empty ones.
func indentFilter(r *runner, t Text, args arguments) (Value, error) {
	width, err := args.integer(0, "width", 4)
	if err != nil {
		return nil, err
	}
	if width < 0 || width > 64 {
		return nil, fmt.Errorf("width %d is outside 0 to 64", width)
	}
	first, blank := truth(args.get(1, "first", false)), truth(args.get(2, "blank", false))
	if err := r.scan(len(t.s)); err != nil {
		return nil, err
	}
	count := strings.Count(t.s, "\n") + 1
	if err := r.allocParts(t, 2*count); err != nil {
		return nil, err
	}
	indent := Literal(strings.Repeat(" ", width))
	var parts []Text
	for i, line := range t.splitAll("\n", -1) {
		if i > 0 {
			parts = append(parts, Literal("\n"))
		}
		if (i > 0 || first) && (blank || line.s != "") {
			parts = append(parts, indent)
		}
		parts = append(parts, line)
	}
	return r.join(Text{}, parts)
}

func lengthFilter(r *runner, v Value, _ arguments) (Value, error) {
	switch v := v.(type) {
	case undefined:
		return 0, nil
	case Text:
		return v.runes(), r.scan(len(v.s))
	case *List:
		return len(v.items), nil
	case *Dict:
		return len(v.keys), nil
	}
	return nil, fmt.Errorf("%s has no length", kind(v))
}

func firstFilter(r *runner, v Value, _ arguments) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return undefined{"the first of nothing"}, nil
	}
	return items[0], nil
}

func lastFilter(r *runner, v Value, _ arguments) (Value, error) {
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return undefined{"the last of nothing"}, nil
	}
	return items[len(items)-1], nil
}

func listFilter(r *runner, v Value, _ arguments) (Value, error) { return r.list(r.iterate(v)) }

func joinFilter(r *runner, v Value, args arguments) (Value, error) {
	separator, err := r.str(args.get(0, "d", Text{}))
	if err != nil {
		return nil, err
	}
	attribute := args.get(1, "attribute", nil)
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	if err := r.alloc(48 * len(items)); err != nil {
		return nil, err
	}
	texts := make([]Text, len(items))
	for i, item := range items {
		if attribute != nil {
			if item, err = r.item(item, attribute); err != nil {
				return nil, err
			}
		}
		if texts[i], err = r.str(item); err != nil {
			return nil, err
		}
	}
	return r.join(separator, texts)
}

func reverseFilter(r *runner, v Value, _ arguments) (Value, error) {
	minus := -1
	switch v := v.(type) {
	case Text:
		return r.sliceText(v, nil, nil, minus)
	case *List:
		return r.sliceList(&List{items: v.items}, nil, nil, minus)
	}
	items, err := r.iterate(v)
	if err != nil {
		return nil, err
	}
	return r.sliceList(&List{items: items}, nil, nil, minus)
}

func itemsFilter(r *runner, v Value, _ arguments) (Value, error) {
	switch v := v.(type) {
	case undefined:
		return &List{}, nil
	case *Dict:
		return r.items(v)
	}
	return nil, fmt.Errorf("%s has no items", kind(v))
}

func defaultFilter(_ *runner, v Value, args arguments) (Value, error) {
	_, missing := v.(undefined)
	if missing || truth(args.get(1, "boolean", false)) && !truth(v) {
		return args.get(0, "default_value", Text{}), nil
	}
	return v, nil
}

func tojsonFilter(r *runner, v Value, args arguments) (Value, error) {
	style := jsonStyle{indent: -1, item: ", ", key: ": ", sortKeys: truth(args.get(3, "sort_keys", false))}
	if truth(args.get(0, "ensure_ascii", false)) {
		return nil, errors.New("ensure_ascii is not supported")
	}
	if args.get(1, "indent", nil) != nil {
		indent, err := args.integer(1, "indent", 0)
		if err != nil {
			return nil, err
		}
		if indent < 0 || indent > 16 {
			return nil, fmt.Errorf("indent %d is outside 0 to 16", indent)
		}
		style.indent, style.item = indent, ","
	}
	if separators, ok := args.get(2, "separators", nil).(*List); ok && len(separators.items) == 2 {
		item, okItem := separators.items[0].(Text)
		key, okKey := separators.items[1].(Text)
		if !okItem || !okKey || item.runs != nil || key.runs != nil {
			return nil, errors.New("separators must be two strings of the template's")
		}
		style.item, style.key = item.s, key.s
	}
	return r.toJSON(v, style)
}
