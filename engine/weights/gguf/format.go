// Package gguf holds what the GGUF file format fixes: the numbers of value types and tensor types
// (ValueType, Type), the codecs of the tensor types that need one (Encode, Decode), and a Builder
// that writes files for tests and tools.
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

// Sizes from ggml's type traits. Gaps are numbers that ggml never used or has withdrawn.
var tensorTypes = [...]TensorType{
	0: {"F32", 1, 4}, 1: {"F16", 1, 2}, 2: {"Q4_0", 32, 18}, 3: {"Q4_1", 32, 20},
	6: {"Q5_0", 32, 22}, 7: {"Q5_1", 32, 24}, 8: {"Q8_0", 32, 34}, 9: {"Q8_1", 32, 36},
	10: {"Q2_K", 256, 84}, 11: {"Q3_K", 256, 110}, 12: {"Q4_K", 256, 144}, 13: {"Q5_K", 256, 176},
	14: {"Q6_K", 256, 210}, 15: {"Q8_K", 256, 292}, 16: {"IQ2_XXS", 256, 66}, 17: {"IQ2_XS", 256, 74},
	18: {"IQ3_XXS", 256, 98}, 19: {"IQ1_S", 256, 50}, 20: {"IQ4_NL", 32, 18}, 21: {"IQ3_S", 256, 110},
	22: {"IQ2_S", 256, 82}, 23: {"IQ4_XS", 256, 136}, 24: {"I8", 1, 1}, 25: {"I16", 1, 2}, 26: {"I32", 1, 4},
	27: {"I64", 1, 8}, 28: {"F64", 1, 8}, 29: {"IQ1_M", 256, 56}, 30: {"BF16", 1, 2},
	34: {"TQ1_0", 256, 54}, 35: {"TQ2_0", 256, 66}, 39: {"MXFP4", 32, 17}, 40: {"NVFP4", 64, 36}, 41: {"Q1_0", 128, 18},
}

// Type describes a tensor type. ok is false for a number that ggml does not define or has
// withdrawn.
func Type(t compute.DType) (info TensorType, ok bool) {
	if int64(t) >= int64(len(tensorTypes)) {
		return TensorType{}, false
	}
	info = tensorTypes[t]
	return info, info.BlockElements != 0
}

// TypeName returns the name of a tensor type, or its number if the type is unknown.
func TypeName(t compute.DType) string {
	if info, ok := Type(t); ok {
		return info.Name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Loadable reports whether specula can compute with tensors of this type; it can only list the
// others.
func Loadable(t compute.DType) bool {
	switch t {
	case compute.F32, compute.F16, compute.BF16,
		compute.Q8_0, compute.Q4_0, compute.Q4_1, compute.Q5_0, compute.Q5_1, compute.Q4_K, compute.Q5_K, compute.Q6_K:
		return true
	}
	return false
}
