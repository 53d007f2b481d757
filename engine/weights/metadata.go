package weights

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"specula/engine/weights/gguf"
)

// All getters return the value, whether the key exists, and an error. A value of another type or
// out of range is an error that wraps ErrMalformed. A missing key is no error.

// Uint reads an integer of 0 or more, of any integer type.
func (f *File) Uint(key string) (n uint64, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return 0, false, nil
	}
	n, ok := v.unsigned()
	if !ok {
		return 0, true, f.unfit(v, "an integer from 0 on")
	}
	return n, true, nil
}

// Int reads an integer that fits into int64, of any integer type.
func (f *File) Int(key string) (n int64, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return 0, false, nil
	}
	n, ok := signed(v.typ, v.bits)
	if !ok {
		return 0, true, f.unfit(v, "an integer up to 2⁶³-1")
	}
	return n, true, nil
}

// Float reads a finite f32 or f64.
func (f *File) Float(key string) (x float64, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return 0, false, nil
	}
	x, ok := float(v.typ, v.bits)
	if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0, true, f.unfit(v, "a finite f32 or f64")
	}
	return x, true, nil
}

// Bool reads a bool.
func (f *File) Bool(key string) (b, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return false, false, nil
	}
	if v.typ != gguf.Bool {
		return false, true, f.unfit(v, "a bool")
	}
	return v.bits != 0, true, nil
}

// String reads a string: any bytes, not necessarily UTF-8.
func (f *File) String(key string) (s string, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return "", false, nil
	}
	if v.typ != gguf.String {
		return "", true, f.unfit(v, "a string")
	}
	return string(f.data[v.offset:v.end]), true, nil
}

// Strings reads an array of strings.
func (f *File) Strings(key string) (list []string, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return nil, false, nil
	}
	if v.typ != gguf.Array || v.elem != gguf.String {
		return nil, true, f.unfit(v, "an array of string")
	}
	all := string(f.data[v.offset:v.end]) // one copy, shared by all elements
	list = make([]string, 0, v.bits)
	for at := 0; at < len(all); {
		n := f.stringLength(v.offset + int64(at))
		list = append(list, all[at+8:at+8+n])
		at += 8 + n
	}
	return list, true, nil
}

// stringLength reads the length of a string in an array; offset is where this length begins. The length
// was checked when the header was parsed.
func (f *File) stringLength(offset int64) int {
	return int(binary.LittleEndian.Uint64(f.data[offset:]))
}

// Ints reads an array of integers that fit into int64, of any integer type.
func (f *File) Ints(key string) (list []int64, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return nil, false, nil
	}
	if _, ok := signed(v.elem, 0); v.typ != gguf.Array || !ok {
		return nil, true, f.unfit(v, "an array of integers")
	}
	list = make([]int64, v.bits)
	for i := range list {
		n, ok := signed(v.elem, f.element(v, i))
		if !ok {
			return nil, true, f.unfitElement(v, i, "integers up to 2⁶³-1")
		}
		list[i] = n
	}
	return list, true, nil
}

// Bools reads an array of bool.
func (f *File) Bools(key string) (list []bool, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return nil, false, nil
	}
	if v.typ != gguf.Array || v.elem != gguf.Bool {
		return nil, true, f.unfit(v, "an array of bool")
	}
	list = make([]bool, v.bits)
	for i := range list {
		list[i] = f.element(v, i) != 0
	}
	return list, true, nil
}

// Floats reads an array of f32, or of f64 rounded to float32. It also returns numbers that are not
// finite: only the caller knows whether they make sense for the key.
func (f *File) Floats(key string) (list []float32, found bool, err error) {
	v, found := f.value(key)
	if !found {
		return nil, false, nil
	}
	if _, ok := float(v.elem, 0); v.typ != gguf.Array || !ok {
		return nil, true, f.unfit(v, "an array of f32 or f64")
	}
	list = make([]float32, v.bits)
	for i := range list {
		x, _ := float(v.elem, f.element(v, i))
		list[i] = float32(x)
	}
	return list, true, nil
}

// float interprets the bits of a float type. ok is false for other types.
func float(t gguf.ValueType, b uint64) (x float64, ok bool) {
	switch t {
	case gguf.Float32:
		return float64(math.Float32frombits(uint32(b))), true
	case gguf.Float64:
		return math.Float64frombits(b), true
	}
	return 0, false
}

// element returns the bits of element i of an array of scalars.
func (f *File) element(v value, i int) uint64 {
	size := v.elem.Bytes()
	at := v.offset + int64(i*size)
	var b uint64
	for i, octet := range f.data[at : at+int64(size)] {
		b |= uint64(octet) << (8 * i)
	}
	return b
}

func (f *File) value(key string) (value, bool) {
	at, found := slices.BinarySearchFunc(f.keys, key, func(i int32, key string) int {
		return strings.Compare(f.header.values[i].key, key)
	})
	if !found {
		return value{}, false
	}
	return f.header.values[f.keys[at]], true
}

// unfit returns the error for a value with the wrong type or out of range.
func (f *File) unfit(v value, allowed string) error {
	return &MalformedError{File: f.name, Field: "metadata " + quote(v.key), Offset: v.offset, Got: v.describe(), Allowed: allowed}
}

func (f *File) unfitElement(v value, i int, allowed string) error {
	got := "0x" + fmt.Sprintf("%x", f.element(v, i))
	if n, ok := signed(v.elem, f.element(v, i)); ok {
		got = fmt.Sprint(n)
	} else if x, ok := float(v.elem, f.element(v, i)); ok {
		got = fmt.Sprint(x)
	}
	field := fmt.Sprintf("metadata %s element %d", quote(v.key), i)
	return &MalformedError{File: f.name, Field: field, Offset: v.offset + int64(i*v.elem.Bytes()), Got: got, Allowed: allowed}
}
