package folder

import (
	"encoding/json"
	"fmt"
	"math"

	"specula/engine/weights"
)

// Fields are the fields of a JSON object. A getter takes several names for a field, and reads the first
// that exists; null counts as missing. If the field is refused, the value that a getter returns has no meaning.
// The first error is kept for Err, so that fields can be read one after the other.
type Fields struct {
	file   string // path of the file
	prefix string // put before the names in errors, such as "rope_parameters."
	values map[string]any
	err    *error // shared by all objects of the file
}

// Err returns the first error.
func (f Fields) Err() error { return *f.err }

// With returns the fields, with the values of defaults in place of missing fields.
func (f Fields) With(defaults map[string]any) Fields {
	values := map[string]any{}
	for _, from := range []map[string]any{defaults, f.values} {
		for name, value := range from {
			if value != nil {
				values[name] = value
			}
		}
	}
	f.values = values
	return f
}

// find returns the first of the names that the object has a field for, and the value of that field.
func (f Fields) find(names []string) (name string, value any) {
	for _, name := range names {
		if value := f.values[name]; value != nil {
			return name, value
		}
	}
	return "", nil
}

// Has returns the first of the names that the object has a field for; "" if there is none.
func (f Fields) Has(names ...string) string { name, _ := f.find(names); return name }

// Value returns the value of a field as encoding/json decodes it; nil if the field is missing.
func (f Fields) Value(name string) any { return f.values[name] }

// Only refuses the field unless it has the given value or is missing.
func (f Fields) Only(name string, value any) {
	if got := f.values[name]; got != nil && fmt.Sprint(got) != fmt.Sprint(value) {
		f.Refuse(name, fmt.Sprint(value))
	}
}

// Refuse records that a field has a value that is not allowed.
func (f Fields) Refuse(name, allowed string) {
	f.fail(f.refuse(name, fmt.Sprintf("%.64s", fmt.Sprint(f.values[name])), allowed))
}

func (f Fields) fail(err error) {
	if *f.err == nil {
		*f.err = err
	}
}

func (f Fields) refuse(name, got, allowed string) error {
	return fmt.Errorf("reading %q: field %.64q: got %s, allowed %s: %w", f.file, f.prefix+name, got, allowed, weights.ErrMalformed)
}

// get reads a field of type T.
func get[T any](f Fields, names []string, allowed string, read func(any) (T, bool)) (value T, name string) {
	name, raw := f.find(names)
	if raw == nil {
		return value, ""
	}
	value, ok := read(raw)
	if !ok {
		f.Refuse(name, allowed)
	}
	return value, name
}

// Integer reads an integer of 0 or more. name is "" if the field is missing.
func (f Fields) Integer(names ...string) (n int64, name string) {
	return get(f, names, "a whole number from 0 on", func(raw any) (int64, bool) {
		x, ok := number(raw)
		return int64(x), ok && x == math.Trunc(x) && x >= 0 && x < 1<<53
	})
}

// Number reads a number.
func (f Fields) Number(names ...string) (x float64, name string) {
	return get(f, names, "a finite number", number)
}

func number(raw any) (float64, bool) {
	switch n := raw.(type) {
	case json.Number:
		x, err := n.Float64()
		return x, err == nil
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

// Bool reads true or false.
func (f Fields) Bool(names ...string) (b bool, name string) {
	return get(f, names, "true or false", func(raw any) (bool, bool) { b, ok := raw.(bool); return b, ok })
}

// Text reads a text.
func (f Fields) Text(names ...string) string {
	s, _ := get(f, names, "a text", func(raw any) (string, bool) { s, ok := raw.(string); return s, ok })
	return s
}

// Object reads an object, which is empty if the field is not there.
func (f Fields) Object(names ...string) Fields {
	values, name := get(f, names, "an object", func(raw any) (map[string]any, bool) { m, ok := raw.(map[string]any); return m, ok })
	return Fields{file: f.file, prefix: f.prefix + name + ".", values: values, err: f.err}
}

// maxList bounds the length of a list.
const maxList = 1 << 16

// list reads a list whose elements are all of type T.
func list[T any](f Fields, names []string, allowed string, read func(any) (T, bool)) []T {
	all, _ := get(f, names, allowed, func(raw any) (all []T, ok bool) {
		elements, ok := raw.([]any)
		for _, element := range elements {
			value, fits := read(element)
			all, ok = append(all, value), ok && fits
		}
		return all, ok && len(elements) <= maxList
	})
	return all
}

// Numbers reads a list of numbers.
func (f Fields) Numbers(names ...string) []float64 {
	return list(f, names, "a list of numbers", number)
}

// Texts reads a list of texts.
func (f Fields) Texts(names ...string) []string {
	return list(f, names, "a list of texts", func(raw any) (string, bool) { s, ok := raw.(string); return s, ok })
}
