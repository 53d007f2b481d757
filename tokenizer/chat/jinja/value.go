package jinja

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Value is what a variable can hold: nil for None, bool, int, float64, [Text], *[List] or *[Dict].
// The other values come up only while a template runs: a namespace, a loop, a function, a generator,
// or undefined.
type Value any

// List is a Python list, tuple or range, or a view of a dict. A template cannot change it.
type List struct {
	items []Value
	form  form
}

type form int

const (
	formList form = iota
	formTuple
	formRange // a range: it cannot be printed
	formView  // a view of a dict: it cannot be printed, indexed or sliced
)

// NewList returns a list of the items.
func NewList(items ...Value) *List { return &List{items: items} }

// generator is what lazy filters return: its elements are computed when they are asked for, and
// can be read once.
type generator struct {
	next func() (v Value, ok bool)
}

// Dict is a Python dict in the order of insertion. A template cannot change it.
type Dict struct {
	keys   []Value
	values []Value
	index  map[any]int
}

// Set adds a key or replaces its value.
func (d *Dict) Set(key Text, value Value) { d.set(key, value) }

// Get returns the value of a key.
func (d *Dict) Get(key string) (Value, bool) { return d.get(Literal(key)) }

// hashed returns a value that is equal for keys that Python's dict treats as the same, such as 1 and
// True. It returns false if key cannot be a key of a [Dict]: only text, numbers, truth values and None
// can. Python also allows tuples.
func hashed(key Value) (any, bool) {
	switch key := key.(type) {
	case Text:
		return key.s, true
	case nil:
		return nil, true
	}
	f, ok := number(key)
	return f, ok
}

// set adds a key or replaces its value. It returns false, and changes nothing, if a Dict
// cannot have this key.
func (d *Dict) set(key, value Value) bool {
	hash, ok := hashed(key)
	if i, known := d.index[hash]; ok && known {
		d.values[i] = value
	} else if ok {
		if d.index == nil {
			d.index = map[any]int{}
		}
		d.index[hash] = len(d.keys)
		d.keys, d.values = append(d.keys, key), append(d.values, value)
	}
	return ok
}

func (d *Dict) get(key Value) (Value, bool) {
	hash, ok := hashed(key)
	if i, known := d.index[hash]; ok && known {
		return d.values[i], true
	}
	return nil, false
}

// undefined is the value of a name, key or attribute that does not exist. It prints as nothing, is
// false and has no elements. Comparing by == and a few filters and tests accept it. Every other use
// is an error; most of these errors give the name.
type undefined struct{ name string }

func (u undefined) use(r *runner) Value { return r.fail("%.80s is undefined", u.name) }

// namespace is the only value that {% set %} can change.
type namespace struct{ attributes map[string]Value }

// function is a macro, a method or a global. Its arguments are already evaluated.
type function func(a arguments) Value

func kind(v Value) string {
	switch v := v.(type) {
	case nil:
		return "None"
	case bool:
		return "a truth value"
	case int:
		return "an integer"
	case float64:
		return "a float"
	case Text:
		return "a string"
	case *List:
		return [...]string{"a list", "a tuple", "a range", "a view of a dict"}[v.form]
	case *generator:
		return "a generator"
	case *Dict:
		return "a dict"
	case undefined:
		return "undefined"
	case *namespace:
		return "a namespace"
	case *loop:
		return "a loop"
	case function:
		return "a function"
	}
	panic(fmt.Sprintf("jinja: value of type %T", v))
}

// truth is Python's bool.
func truth(v Value) bool {
	switch v := v.(type) {
	case nil, undefined:
		return false
	case bool:
		return v
	case int:
		return v != 0
	case float64:
		return v != 0
	case Text:
		return v.s != ""
	case *List:
		return len(v.items) > 0
	case *Dict:
		return len(v.keys) > 0
	}
	return true
}

// number returns a number or truth value as a float. It returns false if v is neither.
func number(v Value) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}

// integer returns an integer or truth value as an integer. It returns false if v is neither.
func integer(v Value) (int, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int:
		return v, true
	}
	return 0, false
}

// formatFloat writes a float as Python does.
func formatFloat(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 1):
		return "inf"
	case math.IsInf(f, -1):
		return "-inf"
	case f != 0 && (math.Abs(f) >= 1e16 || math.Abs(f) < 1e-4):
		return strconv.FormatFloat(f, 'e', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}
