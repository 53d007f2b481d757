// Package gguf holds what the GGUF file format itself fixes: the numbers of its value and tensor types, the codecs of the
// tensor types specula computes with, and a Builder that writes small files for tests and tools.
//
// A GGUF file is, in order and little-endian:
//
//	magic "GGUF", version u32, tensor count u64, metadata count u64
//	metadata:  key string, value type u32, value …
//	tensors:   name string, dimension count u32, dimensions u64…, type u32, offset u64 …
//	padding to the alignment (metadata key general.alignment, 32 unless told)
//	tensor data; each tensor's offset counts from here and is a multiple of the alignment
//
// A string is its length as u64 and its bytes; an array is its element type as u32, its count as u64 and its elements.
// The first dimension is the contiguous one, so a matrix of R rows and C columns has the dimensions (C, R).
// Source: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
//
// Reading files, which may be hostile, is the work of the parent package.
package gguf

import (
	"fmt"

	"specula/engine/compute"
)

// Magic opens every GGUF file.
const Magic = "GGUF"

// DefaultAlignment holds where a file has no general.alignment, in bytes.
const DefaultAlignment = 32

// MaxDims is the highest number of dimensions of a tensor.
const MaxDims = 4

// ValueType numbers the types of metadata values.
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
	bytes int // 0: of variable size
}{
	Uint8: {"u8", 1}, Int8: {"i8", 1}, Uint16: {"u16", 2}, Int16: {"i16", 2}, Uint32: {"u32", 4}, Int32: {"i32", 4},
	Float32: {"f32", 4}, Bool: {"bool", 1}, String: {"string", 0}, Array: {"array", 0},
	Uint64: {"u64", 8}, Int64: {"i64", 8}, Float64: {"f64", 8},
}

// Known reports whether the format defines the type.
func (t ValueType) Known() bool { return int64(t) < int64(len(valueTypes)) }

// Bytes is the size of one value, 0 for strings, arrays and unknown types.
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

// TensorType describes how a tensor type packs numbers: BlockElements of them in BlockBytes.
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

// Type describes a tensor type; ok is false for a number that ggml does not define or has withdrawn.
func Type(t compute.DType) (info TensorType, ok bool) {
	if int64(t) >= int64(len(tensorTypes)) {
		return TensorType{}, false
	}
	info = tensorTypes[t]
	return info, info.BlockElements != 0
}

// TypeName is the name of a tensor type, or its number when it is unknown.
func TypeName(t compute.DType) string {
	if info, ok := Type(t); ok {
		return info.Name
	}
	return fmt.Sprintf("type %d", uint32(t))
}

// Loadable reports whether specula computes with tensors of this type; the others can only be listed.
func Loadable(t compute.DType) bool {
	switch t {
	case compute.F32, compute.F16, compute.BF16,
		compute.Q8_0, compute.Q4_0, compute.Q4_1, compute.Q5_0, compute.Q5_1, compute.Q4_K, compute.Q5_K, compute.Q6_K:
		return true
	}
	return false
}
