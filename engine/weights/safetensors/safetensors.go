// Package safetensors reads and writes the file format in which trained heads, and the models of package
// folder, are published. Open returns a File; its methods Tensor and Integers give the contents. Builder
// writes files, for tests.
//
// A file is a length of eight bytes, little-endian, a JSON object of that length, and data. The
// object gives the type, shape and byte range of each tensor:
//
//	{"fc.weight": {"dtype": "F16", "shape": [64, 128], "data_offsets": [0, 16384]}, "__metadata__": {"format": "pt"}}
//
// A file is as hostile as any model file until proven otherwise. The length is checked before the
// object is read. The object is read token by token, so that it cannot nest or grow beyond what a
// tensor needs. Sizes are multiplied with overflow checks. The ranges must follow each other
// without gap or overlap and cover all data, as the format demands.
//
// One invariant: every file leads either to a File whose tensors all lie inside its data, or to an
// error that names file, tensor, byte offset, what was found and what is allowed.
//
// Source of the format: the README of huggingface/safetensors.
package safetensors

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"specula/engine/compute"
	"specula/engine/weights"
)

// File is a file that passed every check. It never changes, and several goroutines may use it.
type File struct {
	name     string
	data     []byte // the bytes after the header; nil if only the header was read
	dataAt   int64  // file offset of data
	config   []byte
	tensors  []Tensor // in the order of their bytes
	byName   map[string]int
	metadata map[string]string
}

// Tensor describes a tensor of a file.
type Tensor struct {
	Name  string
	Type  string  // "F32", "BF16", "I64", …
	Shape []int64 // the contiguous dimension last; empty for a single number

	begin, end int64 // range of its bytes, counted from the end of the header
	infoAt     int64 // file offset of its name
}

// Name returns the path or name under which the file was opened.
func (f *File) Name() string { return f.name }

// Tensors lists the tensors in the order of their bytes.
func (f *File) Tensors() []Tensor { return slices.Clone(f.tensors) }

// Metadata returns a text from the file's __metadata__; "" if there is none.
func (f *File) Metadata(key string) string { return f.metadata[key] }

// Config returns the content of the config.json beside the file; nil if there is none. It is as
// hostile as the file.
func (f *File) Config() []byte { return f.config }

// Span returns the file offset of a tensor's bytes, and their number.
func (f *File) Span(t Tensor) (at, bytes int64) { return f.dataAt + t.begin, t.end - t.begin }

// Tensor returns a tensor of one or two dimensions; a vector has one row. found is false if the
// file has no tensor of that name. It is an error if the tensor has another number of dimensions,
// no numbers, or a type other than F32, F16 and BF16.
func (f *File) Tensor(name string) (w compute.Weight, found bool, err error) {
	i, found := f.byName[name]
	if !found {
		return compute.Weight{}, false, nil
	}
	t := f.tensors[i]
	typ := types[t.Type]
	if !typ.weight {
		return w, true, f.refuse(t, "type "+t.Type, "F32, F16 and BF16")
	}
	if len(t.Shape) < 1 || len(t.Shape) > 2 || t.begin == t.end {
		return w, true, f.refuse(t, fmt.Sprintf("shape %v", t.Shape), "one or two dimensions, none of them 0")
	}
	cols := t.Shape[len(t.Shape)-1]
	return compute.Weight{
		Name: t.Name, Type: typ.dtype, Rows: int((t.end - t.begin) / (cols * typ.bytes)), Cols: int(cols), Data: f.data[t.begin:t.end:t.end],
	}, true, nil
}

// Integers returns a vector of whole numbers, or of truth values as 0 and 1.
func (f *File) Integers(name string) (numbers []int64, found bool, err error) {
	i, found := f.byName[name]
	if !found {
		return nil, false, nil
	}
	t := f.tensors[i]
	typ := types[t.Type]
	if typ.integer == nil || len(t.Shape) != 1 {
		return nil, true, f.refuse(t, fmt.Sprintf("type %s and shape %v", t.Type, t.Shape), "one dimension of I64, I32, I16, I8, U8 or BOOL")
	}
	for at := t.begin; at < t.end; at += typ.bytes {
		numbers = append(numbers, typ.integer(f.data[at:]))
	}
	return numbers, true, nil
}

func (f *File) refuse(t Tensor, got, allowed string) error {
	return &weights.MalformedError{File: f.name, Field: fmt.Sprintf("tensor %.64q", t.Name), Offset: t.infoAt, Got: got, Allowed: allowed}
}

// dtype describes a type of the format.
type dtype struct {
	bytes   int64
	weight  bool // usable as a weight
	dtype   compute.DType
	integer func([]byte) int64 // reads one number; nil: Integers refuses the type
}

var types = map[string]dtype{
	"F64": {bytes: 8}, "U64": {bytes: 8}, "U32": {bytes: 4}, "U16": {bytes: 2}, "F8_E5M2": {bytes: 1}, "F8_E4M3": {bytes: 1},
	"F32":  {bytes: 4, weight: true, dtype: compute.F32},
	"F16":  {bytes: 2, weight: true, dtype: compute.F16},
	"BF16": {bytes: 2, weight: true, dtype: compute.BF16},
	"I64":  {bytes: 8, integer: func(b []byte) int64 { return int64(binary.LittleEndian.Uint64(b)) }},
	"I32":  {bytes: 4, integer: func(b []byte) int64 { return int64(int32(binary.LittleEndian.Uint32(b))) }},
	"I16":  {bytes: 2, integer: func(b []byte) int64 { return int64(int16(binary.LittleEndian.Uint16(b))) }},
	"I8":   {bytes: 1, integer: func(b []byte) int64 { return int64(int8(b[0])) }},
	"U8":   {bytes: 1, integer: func(b []byte) int64 { return int64(b[0]) }},
	"BOOL": {bytes: 1, integer: func(b []byte) int64 { return int64(min(b[0], 1)) }},
}

// maxBytes is the largest size of a tensor that can be represented.
const maxBytes = math.MaxInt64
