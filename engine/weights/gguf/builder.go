package gguf

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"specula/engine/compute"
)

// Builder collects metadata and tensors and writes them as one GGUF file. Tests, tools and the
// conversion of folders use it. The caller must check foreign input first: the Builder panics at a value or a
// tensor that does not fit into GGUF. Only Write returns errors: from its writer, and from the functions
// given to Stream. The Builder does not notice mistakes such as duplicate names.
type Builder struct {
	Version uint32 // 3 unless set
	// Alignment of tensor data in bytes; 0 means 32. If set, it is also written as
	// general.alignment.
	Alignment uint64

	metadata []byte
	keys     uint64
	tensors  []builderTensor
}

type builderTensor struct {
	name  string
	typ   compute.DType
	dims  []uint64
	bytes uint64
	write func(io.Writer) error // writes as many bytes as the field bytes says
}

// Set adds a metadata value: a Go bool, string, float32, float64 or integer of fixed size, or a
// slice of one of these. It becomes the GGUF type of the same name.
func (b *Builder) Set(key string, value any) *Builder {
	t, data := encodeValue(value)
	return b.SetRaw(key, t, data)
}

// SetRaw adds a metadata value with the given type number, followed by the given bytes.
func (b *Builder) SetRaw(key string, t ValueType, data []byte) *Builder {
	b.metadata = AppendString(b.metadata, key)
	b.metadata = binary.LittleEndian.AppendUint32(b.metadata, uint32(t))
	b.metadata = append(b.metadata, data...)
	b.keys++
	return b
}

// Tensor adds packed data with the dimensions dims, the contiguous one first: for a matrix, dims are the
// number of columns and then the number of rows.
func (b *Builder) Tensor(name string, t compute.DType, data []byte, dims ...uint64) *Builder {
	write := func(w io.Writer) error { _, err := w.Write(data); return err }
	b.tensors = append(b.tensors, builderTensor{name, t, dims, uint64(len(data)), write})
	return b
}

// Stream adds a tensor whose data are made while the file is written, so that they need not fit
// into memory. write must write exactly the bytes that t and dims take.
func (b *Builder) Stream(name string, t compute.DType, write func(io.Writer) error, dims ...uint64) *Builder {
	info, ok := Type(t)
	elements := uint64(1)
	for _, d := range dims {
		elements *= d
	}
	if !ok || len(dims) == 0 || dims[0]%info.BlockElements != 0 {
		panic(fmt.Sprintf("gguf: %s cannot have the dimensions %d as %s", name, dims, TypeName(t)))
	}
	b.tensors = append(b.tensors, builderTensor{name, t, dims, elements / info.BlockElements * info.BlockBytes, write})
	return b
}

// Matrix adds a matrix of rows × cols values, which are given row by row, packed as type t.
func (b *Builder) Matrix(name string, t compute.DType, rows, cols int, values []float32) *Builder {
	if rows*cols != len(values) {
		panic(fmt.Sprintf("gguf: %s has %d numbers, want %d×%d", name, len(values), rows, cols))
	}
	return b.Tensor(name, t, Encode(t, values), uint64(cols), uint64(rows))
}

// Vector adds values as F32.
func (b *Builder) Vector(name string, values []float32) *Builder {
	return b.Tensor(name, compute.F32, Encode(compute.F32, values), uint64(len(values)))
}

// Bytes returns the file. The Builder can be extended and written again.
func (b *Builder) Bytes() []byte {
	var out bytes.Buffer
	if err := b.Write(&out); err != nil {
		panic("gguf: " + err.Error()) // writing to a buffer cannot fail, so a Stream failed
	}
	return out.Bytes()
}

// Hollow returns a file whose tensor data are all zero and were never written. On systems that provide
// memory when it is first written, these data need none.
func (b *Builder) Hollow() []byte {
	header, size := b.Header()
	file := make([]byte, size)
	copy(file, header)
	return file
}

// Header returns everything before the data of the tensors, and the size of the whole file.
func (b *Builder) Header() (header []byte, size int64) {
	alignment := b.alignment()
	header = b.header(alignment)
	total := padded(uint64(len(header)), alignment)
	for _, t := range b.tensors {
		total += padded(t.bytes, alignment)
	}
	return header, int64(total)
}

func (b *Builder) alignment() uint64 {
	if b.Alignment == 0 {
		return DefaultAlignment
	}
	return b.Alignment
}

// Write writes the file to w, one tensor after the other.
func (b *Builder) Write(w io.Writer) error {
	alignment := b.alignment()
	out := &counter{Writer: bufio.NewWriterSize(w, 1<<20)}
	if _, err := out.Write(b.header(alignment)); err != nil {
		return fmt.Errorf("writing the header: %w", err)
	}
	for _, t := range b.tensors {
		if err := out.pad(alignment); err != nil {
			return err
		}
		start := out.bytes
		if err := t.write(out); err != nil {
			return fmt.Errorf("writing the tensor %q: %w", t.name, err)
		}
		if out.bytes-start != t.bytes {
			panic(fmt.Sprintf("gguf: %s was written with %d bytes, want %d", t.name, out.bytes-start, t.bytes))
		}
	}
	if err := out.pad(alignment); err != nil {
		return err
	}
	return out.Flush()
}

// header returns everything before the tensor data.
func (b *Builder) header(alignment uint64) []byte {
	version, metadata, keys := b.Version, b.metadata, b.keys
	if version == 0 {
		version = 3
	}
	if b.Alignment != 0 {
		with := Builder{metadata: append([]byte(nil), metadata...), keys: keys}
		with.Set("general.alignment", uint32(alignment))
		metadata, keys = with.metadata, with.keys
	}
	out := append([]byte(nil), Magic...)
	out = binary.LittleEndian.AppendUint32(out, version)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(b.tensors)))
	out = binary.LittleEndian.AppendUint64(out, keys)
	out = append(out, metadata...)
	var offset uint64
	for _, t := range b.tensors {
		out = appendTensorInfo(out, t, offset)
		offset = padded(offset+t.bytes, alignment)
	}
	return out
}

// counter counts the bytes written through it.
type counter struct {
	*bufio.Writer
	bytes uint64
}

func (c *counter) Write(p []byte) (int, error) {
	n, err := c.Writer.Write(p)
	c.bytes += uint64(n)
	return n, err
}

func (c *counter) pad(alignment uint64) error {
	_, err := c.Write(make([]byte, padded(c.bytes, alignment)-c.bytes))
	return err
}

func appendTensorInfo(out []byte, t builderTensor, offset uint64) []byte {
	out = AppendString(out, t.name)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(t.dims)))
	for _, d := range t.dims {
		out = binary.LittleEndian.AppendUint64(out, d)
	}
	out = binary.LittleEndian.AppendUint32(out, uint32(t.typ))
	return binary.LittleEndian.AppendUint64(out, offset)
}

func padded(n, alignment uint64) uint64 { return (n + alignment - 1) / alignment * alignment }

// AppendString appends s in the way GGUF writes strings.
func AppendString(out []byte, s string) []byte {
	out = binary.LittleEndian.AppendUint64(out, uint64(len(s)))
	return append(out, s...)
}

func encodeValue(value any) (ValueType, []byte) {
	switch v := value.(type) {
	case []bool:
		return encodeArray(v)
	case []string:
		return encodeArray(v)
	case []uint8:
		return encodeArray(v)
	case []int8:
		return encodeArray(v)
	case []uint16:
		return encodeArray(v)
	case []int16:
		return encodeArray(v)
	case []uint32:
		return encodeArray(v)
	case []int32:
		return encodeArray(v)
	case []uint64:
		return encodeArray(v)
	case []int64:
		return encodeArray(v)
	case []float32:
		return encodeArray(v)
	case []float64:
		return encodeArray(v)
	}
	return encodeScalar(nil, value)
}

func encodeArray[T any](values []T) (ValueType, []byte) {
	var zero T
	elem, _ := encodeScalar(nil, zero)
	out := binary.LittleEndian.AppendUint32(nil, uint32(elem))
	out = binary.LittleEndian.AppendUint64(out, uint64(len(values)))
	for _, v := range values {
		_, out = encodeScalar(out, v)
	}
	return Array, out
}

func encodeScalar(out []byte, value any) (ValueType, []byte) {
	le := binary.LittleEndian
	switch v := value.(type) {
	case bool:
		if v {
			return Bool, append(out, 1)
		}
		return Bool, append(out, 0)
	case string:
		return String, AppendString(out, v)
	case uint8:
		return Uint8, append(out, v)
	case int8:
		return Int8, append(out, byte(v))
	case uint16:
		return Uint16, le.AppendUint16(out, v)
	case int16:
		return Int16, le.AppendUint16(out, uint16(v))
	case uint32:
		return Uint32, le.AppendUint32(out, v)
	case int32:
		return Int32, le.AppendUint32(out, uint32(v))
	case uint64:
		return Uint64, le.AppendUint64(out, v)
	case int64:
		return Int64, le.AppendUint64(out, uint64(v))
	case float32:
		return Float32, le.AppendUint32(out, math.Float32bits(v))
	case float64:
		return Float64, le.AppendUint64(out, math.Float64bits(v))
	}
	panic(fmt.Sprintf("gguf: no metadata type for %T", value))
}
