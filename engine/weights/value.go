package weights

import (
	"fmt"

	"specula/engine/weights/gguf"
)

// value says where one metadata value lies in the file. A scalar's bits are stored here as well.
// Strings and arrays stay in the file's bytes until they are read, so that the index is small compared
// with the header.
type value struct {
	key  string
	typ  gguf.ValueType
	elem gguf.ValueType // type of an array's elements
	// Scalars: the bytes as stored, zero-extended. Strings: length. Arrays: count.
	bits   uint64
	offset int64 // position of the scalar, of the string's first byte, or of the array's first element
	end    int64 // position after the value
}

// mustBeString reports whether a method of File reads the key without returning an error. The types of
// such values are checked while parsing.
func mustBeString(key string) bool {
	return key == "general.architecture" || key == "general.name" || key == "tokenizer.chat_template"
}

const alignmentKey = "general.alignment"

// readValue reads one key and skips its value.
func (h *header) readValue(c *cursor) value {
	var v value
	v.key = c.identifier("key", maxKeyBytes)
	c.name = v.key
	typeAt := c.pos
	v.typ = gguf.ValueType(c.u32("value type"))
	if c.err == nil && !v.typ.Known() {
		c.fail("value type", typeAt, fmt.Sprint(uint32(v.typ)), fmt.Sprintf("0 to %d", uint32(gguf.Float64)))
	}
	if c.err == nil && mustBeString(v.key) && v.typ != gguf.String {
		c.fail("value type", typeAt, v.typ.String(), "string")
	}
	switch v.typ {
	case gguf.Array:
		v.readArray(c)
	case gguf.String:
		at := c.pos
		v.bits = c.u64("string length")
		v.offset = c.pos
		if c.room(v.bits, "string length", at) {
			c.pos += int64(v.bits)
		}
	default:
		v.offset = c.pos
		v.bits = readScalar(c, v.typ, "value")
	}
	v.end = c.pos
	if v.key == alignmentKey {
		h.setAlignment(c, v)
	}
	return v
}

// readScalar reads the bits of a value of fixed size.
func readScalar(c *cursor, t gguf.ValueType, field string) uint64 {
	at := c.pos
	var b uint64
	for i, octet := range c.take(t.Bytes(), field) {
		b |= uint64(octet) << (8 * i)
	}
	if t == gguf.Bool && b > 1 {
		c.fail(field, at, fmt.Sprint(b), "0 and 1 for a bool")
	}
	return b
}

// readArray reads the element type and the count of an array, and skips its elements. It refuses arrays of
// arrays: no model in use has them, and with them a file could choose the depth of a recursion.
func (v *value) readArray(c *cursor) {
	at := c.pos
	v.elem = gguf.ValueType(c.u32("element type"))
	if c.err == nil && (!v.elem.Known() || v.elem == gguf.Array) {
		c.fail("element type", at, v.elem.String(), "scalars and strings")
	}
	if c.err != nil {
		return
	}
	size := uint64(v.elem.Bytes())
	switch v.elem {
	case gguf.String:
		v.bits = c.count("array count", 8, maxElements)
		v.offset = c.pos
		for i := uint64(0); i < v.bits && c.err == nil; i++ {
			c.element = int64(i)
			c.skipString("string length")
		}
	case gguf.Bool:
		v.bits = c.count("array count", size, maxElements)
		v.offset = c.pos
		for i := uint64(0); i < v.bits && c.err == nil; i++ {
			c.element = int64(i)
			readScalar(c, gguf.Bool, "value")
		}
	default:
		v.bits = c.count("array count", size, maxElements)
		v.offset = c.pos
		c.skip(v.bits*size, "value") // both factors are bounded: no overflow
	}
	c.element = -1
}

// setAlignment takes the alignment of tensor data from the metadata, which precedes all tensors.
func (h *header) setAlignment(c *cursor, v value) {
	if c.err != nil {
		return
	}
	n, ok := v.unsigned()
	if !ok {
		c.fail("value", v.offset, v.describe(), "an unsigned integer")
		return
	}
	if n == 0 || n > maxAlignment || n&(n-1) != 0 {
		c.fail("value", v.offset, fmt.Sprint(n), fmt.Sprintf("powers of two up to %d", maxAlignment))
		return
	}
	h.alignment = n
}

// unsigned returns the value if it is an integer of any type and not negative.
func (v value) unsigned() (uint64, bool) {
	if v.typ == gguf.Uint64 {
		return v.bits, true
	}
	n, ok := signed(v.typ, v.bits)
	return uint64(n), ok && n >= 0
}

// signed interprets the bits of an integer type. ok is false for other types and for numbers above
// int64.
func signed(t gguf.ValueType, b uint64) (n int64, ok bool) {
	switch t {
	case gguf.Uint8, gguf.Uint16, gguf.Uint32:
		return int64(b), true
	case gguf.Int8:
		return int64(int8(b)), true
	case gguf.Int16:
		return int64(int16(b)), true
	case gguf.Int32:
		return int64(int32(b)), true
	case gguf.Int64:
		return int64(b), true
	case gguf.Uint64:
		return int64(b), b>>63 == 0
	}
	return 0, false
}

// describe says in words what a value is, for errors.
func (v value) describe() string {
	switch v.typ {
	case gguf.Array:
		return fmt.Sprintf("an array of %d %s", v.bits, v.elem)
	case gguf.String:
		return fmt.Sprintf("a string of %d bytes", v.bits)
	}
	if n, ok := signed(v.typ, v.bits); ok {
		return fmt.Sprintf("%s %d", v.typ, n)
	}
	return fmt.Sprintf("a value of type %s", v.typ)
}
