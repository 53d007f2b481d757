package jinja

import (
	"cmp"
	"strings"
	"unicode/utf8"
)

// equal is ==. Values of different kinds differ, but True equals 1 and 1 equals 1.0.
func (r *runner) equal(a, b Value) bool {
	if !r.enter() {
		return false
	}
	defer r.leave()
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	switch x := a.(type) {
	case nil:
		return b == nil
	case undefined:
		_, ok := b.(undefined)
		return ok
	case Text:
		y, ok := b.(Text)
		return r.scan(len(x.s)) && ok && x.s == y.s
	case *List:
		y, ok := b.(*List)
		if !ok || x.form != y.form || len(x.items) != len(y.items) {
			return false
		}
		for i := range x.items {
			if !r.equal(x.items[i], y.items[i]) {
				return false
			}
		}
		return true
	case *Dict:
		y, ok := b.(*Dict)
		if !ok || len(x.keys) != len(y.keys) {
			return false
		}
		for i, key := range x.keys {
			if other, ok := y.get(key); !ok || !r.equal(x.values[i], other) {
				return false
			}
		}
		return true
	case function: // cannot be compared in Go
		return false
	}
	return a == b
}

// order compares two numbers (truth values count as such), two strings (by code point), two lists or
// two tuples, like cmp.Compare. For any other values it fails.
func (r *runner) order(a, b Value) int {
	if !r.enter() {
		return 0
	}
	defer r.leave()
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return cmp.Compare(x, y)
		}
	}
	switch x := a.(type) {
	case undefined:
		x.use(r)
	case Text:
		if y, ok := b.(Text); ok && r.scan(min(len(x.s), len(y.s))) {
			return strings.Compare(x.s, y.s)
		}
	case *List:
		if y, ok := b.(*List); ok && x.form == y.form && x.form <= formTuple {
			for i := range min(len(x.items), len(y.items)) {
				if !r.equal(x.items[i], y.items[i]) {
					return r.order(x.items[i], y.items[i])
				}
			}
			return cmp.Compare(len(x.items), len(y.items))
		}
	}
	r.fail("%s and %s have no order", kind(a), kind(b))
	return 0
}

// contains is "item in container".
func (r *runner) contains(container, item Value) bool {
	switch c := container.(type) {
	case Text:
		t, ok := item.(Text)
		if !ok {
			r.fail("looking for %s in a string", kind(item))
		}
		return r.scan(len(c.s)+len(t.s)) && strings.Contains(c.s, t.s)
	case *Dict:
		if _, ok := hashed(item); !ok {
			r.fail("looking for %s among the keys of a dict", kind(item))
		}
		_, found := c.get(item)
		return found
	case *generator:
		for v, ok := c.next(); ok && r.step(); v, ok = c.next() {
			if r.equal(v, item) {
				return true
			}
		}
		return false
	}
	for _, v := range r.iterate(container) {
		if r.err != nil || r.equal(v, item) {
			return r.err == nil
		}
	}
	return false
}

// iterate returns the elements that a loop over v visits.
func (r *runner) iterate(v Value) (items []Value) {
	switch v := v.(type) {
	case undefined:
	case *List:
		return v.items
	case *generator:
		for item, ok := v.next(); ok && r.step() && r.alloc(16); item, ok = v.next() {
			items = append(items, item)
		}
	case *Dict:
		return v.keys
	case *loop:
		r.fail("a loop cannot be read by another")
	case Text:
		if r.alloc(80 * len(v.s)) {
			for i := 0; i < len(v.s); {
				_, width := utf8.DecodeRuneInString(v.s[i:])
				items = append(items, v.slice(i, i+width))
				i += width
			}
		}
	default:
		r.fail("%s has no elements", kind(v))
	}
	return items
}
