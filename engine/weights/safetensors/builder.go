package safetensors

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// Builder collects tensors and writes them as a file. The zero Builder is empty. Add panics if the
// size of the data does not fit the shape.
type Builder struct {
	header bytes.Buffer
	data   bytes.Buffer
}

// Floats adds a tensor of numbers in F32, F16 or BF16, rounding to nearest.
func (b *Builder) Floats(name string, t compute.DType, numbers []float32, shape ...int) {
	b.Add(name, gguf.TypeName(t), gguf.Encode(t, numbers), shape...)
}

// Integers adds a vector of type I64.
func (b *Builder) Integers(name string, numbers []int64) {
	var data []byte
	for _, n := range numbers {
		data = binary.LittleEndian.AppendUint64(data, uint64(n))
	}
	b.Add(name, "I64", data, len(numbers))
}

// Add adds a tensor as bytes of one of the format's types.
func (b *Builder) Add(name, typ string, data []byte, shape ...int) {
	t := Tensor{Type: typ}
	for _, d := range shape {
		t.Shape = append(t.Shape, int64(d))
	}
	if size, ok := sizeOf(t); !ok || size != int64(len(data)) {
		panic(fmt.Sprintf("safetensors: %d bytes for %q, shape %v of %s", len(data), name, shape, typ))
	}
	begin := b.data.Len()
	b.data.Write(data)
	description, err := json.Marshal(map[string]any{name: map[string]any{
		"dtype": typ, "shape": append([]int{}, shape...), "data_offsets": []int{begin, b.data.Len()},
	}})
	if err != nil {
		panic(err)
	}
	if b.header.Len() > 0 {
		b.header.WriteByte(',')
	}
	b.header.Write(description[1 : len(description)-1])
}

// Bytes returns the file. The header is padded so that the data begin at a multiple of eight.
func (b *Builder) Bytes() []byte {
	header := append(append([]byte{'{'}, b.header.Bytes()...), '}')
	for len(header)%lengthBytes != 0 {
		header = append(header, ' ')
	}
	out := binary.LittleEndian.AppendUint64(nil, uint64(len(header)))
	return append(append(out, header...), b.data.Bytes()...)
}
