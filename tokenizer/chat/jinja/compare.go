package jinja

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"
)

// equal is ==. Values of different kinds differ, but True equals 1 and 1 equals 1.0.
func (r *runner) equal(a, b Value) (bool, error) {
	if err := r.enter(); err != nil {
		return false, err
	}
	defer r.leave()
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y, nil
	}
	switch x := a.(type) {
	case nil:
		return b == nil, nil
	case undefined:
		_, ok := b.(undefined)
		return ok, nil
	case Text:
		y, ok := b.(Text)
		return ok && x.s == y.s, r.scan(len(x.s))
	case *List:
		y, ok := b.(*List)
		if !ok || x.tuple != y.tuple || len(x.items) != len(y.items) {
			return false, nil
		}
		for i := range x.items {
			if same, err := r.equal(x.items[i], y.items[i]); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false, nil
		}
		for i, key := range x.keys {
			other, ok := y.Get(key.s)
			if !ok {
				return false, nil
			}
			if same, err := r.equal(x.values[i], other); err != nil || !same {
				return false, err
			}
		}
		return true, nil
	case *namespace:
		y, ok := b.(*namespace)
		return ok && x == y, nil
	case *loop:
		y, ok := b.(*loop)
		return ok && x == y, nil
	}
	return false, nil
}

// compare orders numbers among themselves and strings among themselves, by code point.
func (r *runner) compare(a, b Value) (int, error) {
	if err := r.step(); err != nil {
		return 0, err
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return cmp.Compare(x, y), nil
		}
	}
	if x, ok := a.(Text); ok {
		if y, ok := b.(Text); ok {
			return strings.Compare(x.s, y.s), r.scan(min(len(x.s), len(y.s)))
		}
	}
	return 0, fmt.Errorf("%s and %s have no order", kind(a), kind(b))
}

// iterate returns the elements that a loop over v visits.
func (r *runner) iterate(v Value) ([]Value, error) {
	switch v := v.(type) {
	case undefined:
		return nil, nil
	case *List:
		return v.items, nil
	case *Dict:
		if err := r.alloc(64 * len(v.keys)); err != nil {
			return nil, err
		}
		items := make([]Value, len(v.keys))
		for i, key := range v.keys {
			items[i] = key
		}
		return items, nil
	case Text:
		if err := r.alloc(80 * len(v.s)); err != nil {
			return nil, err
		}
		var items []Value
		for i := 0; i < len(v.s); {
			_, width := utf8.DecodeRuneInString(v.s[i:])
			items = append(items, v.slice(i, i+width))
			i += width
		}
		return items, nil
	}
	return nil, fmt.Errorf("%s has no elements", kind(v))
}
