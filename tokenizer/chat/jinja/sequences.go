package jinja

import (
	"slices"
	"strconv"
	"strings"
)

// pull returns a function that returns the next element of v, and false after the last one or after
// an error. If v cannot have elements, pull succeeds, and the first call of the returned function
// fails.
func (r *runner) pull(v Value) func() (Value, bool) {
	if g, ok := v.(*generator); ok {
		return g.next
	}
	var items []Value
	at := -1
	return func() (Value, bool) {
		if at++; at == 0 {
			items = r.iterate(v)
		}
		if at >= len(items) || !r.step() {
			return nil, false
		}
		return items[at], true
	}
}

// lazily returns a generator that makes its elements from the elements of v: become returns what to make of an
// element, or false to leave the element out. As in Jinja, an element is made only when it is asked for, so its
// errors come only then. If v is None or another false value, the generator has no elements.
func (r *runner) lazily(v Value, become func(item Value) (Value, bool)) Value {
	if !truth(v) {
		v = &List{}
	}
	next := r.pull(v)
	return &generator{func() (Value, bool) {
		if !r.enter() {
			return nil, false
		}
		defer r.leave()
		for item, ok := next(); ok; item, ok = next() {
			if result, kept := become(item); kept {
				return result, r.err == nil
			}
		}
		return nil, false
	}}
}

// mapFilter gives an attribute of each element, or the result of a filter on each.
func mapFilter(r *runner, v Value, a arguments) Value {
	if len(a.positional) > 0 {
		name, ok := a.positional[0].(Text)
		if !ok {
			return r.fail("the name of a filter must be a string, not %s", kind(a.positional[0]))
		}
		a.positional = a.positional[1:]
		return r.lazily(v, func(item Value) (Value, bool) { return r.applyFilter(name.s, item, a), true })
	}
	attribute, ok := a.named["attribute"]
	if !ok {
		return r.fail("it needs the name of a filter, or attribute=")
	}
	return r.lazily(v, func(item Value) (Value, bool) {
		item = r.path(item, attribute)
		if _, missing := item.(undefined); missing && a.named["default"] != nil {
			item = a.named["default"]
		}
		return item, true
	})
}

// selecting makes the filters select, reject, selectattr and rejectattr. They keep or drop the
// elements that pass a test, or those whose attribute passes it. Without a test, a value passes if
// it is true.
func selecting(keep, byAttribute bool) builtin {
	return builtin{"*", func(r *runner, v Value, a arguments) Value {
		var attribute Value
		if byAttribute {
			if len(a.positional) == 0 {
				return r.fail("it needs the name of an attribute")
			}
			attribute, a.positional = a.positional[0], a.positional[1:]
		}
		test, named := Text{}, len(a.positional) > 0
		if named {
			test, _ = a.positional[0].(Text)
			a.positional = a.positional[1:]
		}
		return r.lazily(v, func(item Value) (Value, bool) {
			subject := item
			if byAttribute {
				subject = r.path(item, attribute)
			}
			if named {
				subject = r.applyTest(test.s, subject, a)
			}
			return item, truth(subject) == keep
		})
	}}
}

// path follows attribute from v. The text "function.name" asks for the attribute "name" of the attribute
// "function"; a part that is a number is an index. An attribute that is not text is a key or an index of v.
// If attribute is None, path returns v.
func (r *runner) path(v, attribute Value) Value {
	name, ok := attribute.(Text)
	if attribute == nil {
		return v
	} else if !ok {
		return r.item(v, attribute)
	}
	for part := range strings.SplitSeq(name.s, ".") {
		if i, err := strconv.Atoi(part); err == nil && i >= 0 {
			v = r.item(v, i)
		} else {
			v = r.item(v, Literal(part))
		}
	}
	return v
}

// key returns what sort, unique, min and max compare: the element, or its attribute if one is given.
// Text is compared in lower case unless caseful.
func (r *runner) key(item, attribute Value, caseful bool) Value {
	item = r.path(item, attribute)
	if t, ok := item.(Text); ok && !caseful {
		return r.mapped(t, lowerRune)
	}
	return item
}

func firstFilter(r *runner, v Value, _ arguments) Value {
	if first, ok := r.pull(v)(); ok {
		return first
	}
	return undefined{"the first of nothing"}
}

func lastFilter(r *runner, v Value, _ arguments) Value {
	if _, ok := v.(*generator); ok {
		return r.fail("a generator has no last element; make a list of it first")
	}
	items := r.iterate(v)
	if len(items) == 0 {
		return undefined{"the last of nothing"}
	}
	return items[len(items)-1]
}

func joinFilter(r *runner, v Value, a arguments) Value {
	attribute := a.at(1, nil)
	items := r.iterate(v)
	if attribute != nil && r.alloc(16*len(items)) {
		items = slices.Clone(items)
		for i := range items {
			items[i] = r.path(items[i], attribute)
		}
	}
	return r.joinAll(r.str(a.at(0, Text{})), items)
}

func reverseFilter(r *runner, v Value, _ arguments) Value {
	if t, ok := v.(Text); ok {
		return r.slice(t, nil, nil, -1)
	}
	items := r.iterate(v)
	if !r.alloc(16 * len(items)) {
		return nil
	}
	reversed := &List{items: slices.Clone(items)}
	slices.Reverse(reversed.items)
	if _, ok := v.(*generator); ok {
		return reversed
	}
	return &generator{r.pull(reversed)}
}

func itemsFilter(r *runner, v Value, _ arguments) Value {
	switch v := v.(type) {
	case undefined:
		return &List{}
	case *Dict:
		return &generator{r.pull(&List{items: r.items(v)})}
	}
	return r.fail("%s has no items", kind(v))
}

func sumFilter(r *runner, v Value, a arguments) Value {
	sum := a.at(1, 0)
	for _, item := range r.iterate(v) {
		sum = r.calculate("+", sum, r.path(item, a.at(0, nil)))
	}
	return sum
}

// extreme makes the filters min (sign -1) and max (sign 1). Of equal elements they give the first.
func extreme(sign int) builtin {
	return builtin{"case_sensitive attribute", func(r *runner, v Value, a arguments) Value {
		var best, bestKey Value
		caseful := truth(a.at(0, false))
		items := r.iterate(v)
		for i, item := range items {
			key := r.key(item, a.at(1, nil), caseful)
			if i == 0 || r.order(key, bestKey)*sign > 0 {
				best, bestKey = item, key
			}
		}
		if len(items) == 0 {
			return undefined{"the extreme of nothing"}
		}
		return best
	}}
}

func uniqueFilter(r *runner, v Value, a arguments) Value {
	seen, caseful := &Dict{}, truth(a.at(0, false))
	next := r.pull(v)
	return &generator{func() (Value, bool) {
		for item, ok := next(); ok && r.alloc(128); item, ok = next() {
			key := r.key(item, a.at(1, nil), caseful)
			if _, known := seen.get(key); known {
				continue
			}
			if !seen.set(key, nil) {
				r.fail("%s cannot be told apart", kind(key))
			}
			return item, r.err == nil
		}
		return nil, false
	}}
}

func sortFilter(r *runner, v Value, a arguments) Value {
	return r.sorted(r.iterate(v), truth(a.at(0, false)), truth(a.at(1, false)), a.at(2, nil))
}

func dictsortFilter(r *runner, v Value, a arguments) Value {
	d, ok := v.(*Dict)
	by, _ := a.at(1, Literal("key")).(Text)
	column, known := map[string]int{"key": 0, "value": 1}[by.s]
	if !ok || !known {
		return r.fail("%s cannot be sorted by %.40q; allowed: a dict, by key or value", kind(v), by.s)
	}
	return r.sorted(r.items(d), truth(a.at(2, false)), truth(a.at(0, false)), column)
}

// sorted returns the items in a new list, sorted by an attribute. The attribute may name several,
// with commas between them; nil sorts by the items themselves.
func (r *runner) sorted(items []Value, reverse, caseful bool, attribute Value) Value {
	attributes := []Value{attribute}
	if name, ok := attribute.(Text); ok {
		attributes = nil
		for part := range strings.SplitSeq(name.s, ",") {
			attributes = append(attributes, Literal(part))
		}
	}
	type keyed struct{ key, item Value }
	if !r.alloc((48 + 16*len(attributes)) * len(items)) {
		return nil
	}
	order := make([]keyed, len(items))
	for i, item := range items {
		keys := make([]Value, len(attributes))
		for j, attribute := range attributes {
			keys[j] = r.key(item, attribute, caseful)
		}
		order[i] = keyed{&List{items: keys}, item}
	}
	slices.SortStableFunc(order, func(a, b keyed) int {
		if reverse {
			a, b = b, a
		}
		return r.order(a.key, b.key)
	})
	sorted := &List{items: make([]Value, len(items))}
	for i := range order {
		sorted.items[i] = order[i].item
	}
	return sorted
}
