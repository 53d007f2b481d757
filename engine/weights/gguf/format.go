// Package gguf holds what the GGUF file format fixes: the numbers of value types and tensor types
// (ValueType, Type), codecs for F32, F16, BF16 and Q8_0 (Encode, Decode), and a Builder that writes
// files.
//
// A GGUF file is, in order and little-endian:
//
//	magic "GGUF", version u32, tensor count u64, metadata count u64
//	metadata:  key string, value type u32, value …
//	tensors:   name string, dimension count u32, dimensions u64…, type u32, offset u64 …
//	padding to the alignment (metadata key general.alignment; 32 if missing)
//	tensor data; each tensor's offset counts from here and is a multiple of the alignment
//
// A string is its length as u64 and its bytes. An array is its element type as u32, its count as
// u64 and its elements. The first dimension is the contiguous one: a matrix of R rows and C columns
// has the dimensions (C, R). Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// The parent package reads files. They may be hostile, and nothing here checks for that.
package gguf

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/format"
)

// Magic is the first four bytes of every GGUF file.
const Magic = "GGUF"

// DefaultAlignment is the alignment in bytes of a file without general.alignment.
const DefaultAlignment = 32

// MaxDims is the largest number of dimensions of a tensor.
const MaxDims = 4

// ValueType is the number of a metadata value's type.
type ValueType uint32

// The value types of GGUF.
const (
	Uint8 ValueType = iota
	Int8
	Uint16
	Int16
	Uint32
	Int32
	Float32
	Bool // one byte, 0 or 1
	String
	Array
	Uint64
	Int64
	Float64
)

var valueTypes = [...]struct {
	name  string
	bytes int // 0: variable size
}{
	Uint8: {"u8", 1}, Int8: {"i8", 1}, Uint16: {"u16", 2}, Int16: {"i16", 2}, Uint32: {"u32", 4}, Int32: {"i32", 4},
	Float32: {"f32", 4}, Bool: {"bool", 1}, String: {"string", 0}, Array: {"array", 0},
	Uint64: {"u64", 8}, Int64: {"i64", 8}, Float64: {"f64", 8},
}

// Known reports whether the format defines the type.
func (t ValueType) Known() bool { return int64(t) < int64(len(valueTypes)) }

// Bytes returns the size of one value; 0 for strings, arrays and unknown types.
func (t ValueType) Bytes() int {
	if !t.Known() {
		return 0
	}
	return valueTypes[t].bytes
}

func (t ValueType) String() string {
	if !t.Known() {
		return fmt.Sprintf("value type %d", uint32(t))
	}
	return valueTypes[t].name
}

// TensorType says how a tensor type packs numbers: BlockElements of them in BlockBytes.
type TensorType struct {
	Name          string
	BlockElements uint64
	BlockBytes    uint64
}

// Type describes a tensor type. ok is false for a number that ggml does not define or has
// withdrawn.
func Type(t compute.DType) (info TensorType, ok bool) {
	f := format.Find(uint32(t))
	if f == nil {
		return TensorType{}, false
	}
	return TensorType{f.Name, uint64(f.BlockElements), uint64(f.BlockBytes)}, true
}

// TypeName returns the name of a tensor type, or its number if the type is unknown.
func TypeName(t compute.DType) string {
	if info, ok := Type(t); ok {
		return info.Name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Loadable reports whether specula can compute with tensors of this type. If not, it can only list
// them.
func Loadable(t compute.DType) bool { return format.CanLoad(uint32(t)) }
