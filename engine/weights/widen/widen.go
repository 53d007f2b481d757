// Package widen makes test files. ToF16 turns the matrices of a GGUF file, such as Q8_0 weights, into F16.
// With F16 matrices the program rounds neither weights nor activations any further. So its scores must be
// close to those of a reference in float32 (assets/reference).
package widen

import (
	"encoding/binary"
	"fmt"

	"specula/engine/compute"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
)

// ToF16 returns a copy of a GGUF file in which the matrices are F16. Vectors stay as they are. It
// fails if the file is malformed, or has a matrix of a type without a codec.
func ToF16(file []byte) ([]byte, error) {
	f, err := weights.Parse("the file to widen", file)
	if err != nil {
		return nil, err
	}
	var b gguf.Builder
	copyMetadata(&b, file)
	for _, t := range f.Tensors() {
		w, _, err := f.Tensor(t.Name)
		if err != nil {
			return nil, err
		}
		typ, data := t.Type, w.Data
		if len(t.Shape()) > 1 && typ != compute.F16 {
			values, err := gguf.Decode(typ, data)
			if err != nil {
				return nil, fmt.Errorf("widening the tensor %q: %w", t.Name, err)
			}
			typ, data = compute.F16, gguf.Encode(compute.F16, values)
		}
		var dims []uint64
		for _, d := range t.Shape() {
			dims = append(dims, uint64(d))
		}
		b.Tensor(t.Name, typ, data, dims...)
	}
	return b.Bytes(), nil
}

// copyMetadata adds the metadata of a file to b. The file must have been parsed: copyMetadata does
// not check lengths.
func copyMetadata(b *gguf.Builder, file []byte) {
	le := binary.LittleEndian
	at := 24 // the position after magic, version and the two counts
	text := func() string {
		n := int(le.Uint64(file[at:]))
		at += 8 + n
		return string(file[at-n : at])
	}
	var skip func(t gguf.ValueType)
	skip = func(t gguf.ValueType) {
		switch t {
		case gguf.String:
			text()
		case gguf.Array:
			of, n := gguf.ValueType(le.Uint32(file[at:])), le.Uint64(file[at+4:])
			at += 12
			for range n {
				skip(of)
			}
		default:
			at += t.Bytes()
		}
	}
	for range le.Uint64(file[16:]) {
		key := text()
		t := gguf.ValueType(le.Uint32(file[at:]))
		at += 4
		from := at
		skip(t)
		b.SetRaw(key, t, file[from:at])
	}
}
