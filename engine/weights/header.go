package weights

import (
	"context"
	"fmt"
	"io"
	"math/bits"

	"specula/engine/weights/gguf"
)

// Limits far above any published model. They limit the size of the index and the time to build it,
// whatever a header states.
const (
	maxKeys     = 4096
	maxTensors  = 8192
	maxElements = 4 << 20 // most elements of a metadata array
	maxKeyBytes = 1<<16 - 1
	// The specification says 64, but diffusion models in use have longer names.
	maxNameBytes  = 256
	maxAlignment  = 1 << 20
	minValueBytes = 8 + 1 + 4 + 1         // key of one byte, type, value of one byte
	minInfoBytes  = 8 + 1 + 4 + 8 + 4 + 8 // name of one byte, count, one dimension, type, offset
	preambleBytes = 4 + 4 + 8 + 8         // magic, version, tensor count, metadata count
)

// header is the index of a GGUF file: the positions of its values and tensors.
type header struct {
	version   uint32
	alignment uint64
	values    []value
	tensors   []Tensor
	bytes     int64 // length of the header, without the padding after it
	end       int64 // file offset at which the last tensor ends; bytes if there is no tensor
}

// parseHeader reads the header of a file of size bytes.
func parseHeader(ctx context.Context, name string, src io.ReaderAt, size int64) (header, error) {
	c := newCursor(ctx, name, src, size)
	h := header{alignment: gguf.DefaultAlignment}
	h.readPreamble(c)
	tensors := c.count("tensor count", minInfoBytes, maxTensors)
	keys := c.count("metadata count", minValueBytes, maxKeys)
	h.values = make([]value, 0, keys)
	for i := 0; i < int(keys) && c.err == nil; i++ {
		c.enter("metadata", i)
		h.values = append(h.values, h.readValue(c))
	}
	h.tensors = make([]Tensor, 0, tensors)
	var end uint64 // end of the tensor before, counted from the start of tensor data
	for i := 0; i < int(tensors) && c.err == nil; i++ {
		c.enter("tensors", i)
		t := readTensor(c, uint64(size))
		end = checkRange(c, &t, end, h.alignment, uint64(size))
		h.tensors = append(h.tensors, t)
	}
	h.bytes = c.pos
	h.place(c, uint64(size))
	return h, c.err
}

// readPreamble reads magic and version.
func (h *header) readPreamble(c *cursor) {
	if magic := c.take(len(gguf.Magic), "magic"); c.err == nil && string(magic) != gguf.Magic {
		if other := foreign(c.file, c.src); other != nil {
			c.err = other
			return
		}
		c.fail("magic", 0, quote(string(magic)), fmt.Sprintf("%q", gguf.Magic))
	}
	at := c.pos
	h.version = c.u32("version")
	switch {
	case c.err != nil || h.version == 2 || h.version == 3:
	case h.version != 0 && h.version&0xffff == 0:
		c.fail("version", at, fmt.Sprintf("%d, in big-endian byte order", bits.ReverseBytes32(h.version)), "little-endian files")
	default:
		c.fail("version", at, fmt.Sprint(h.version), "2 and 3")
	}
}

// place turns tensor offsets into file offsets, once the end of the header is known. Tensors are in
// ascending order and do not overlap, so only the last one is checked against the end of the file.
func (h *header) place(c *cursor, size uint64) {
	h.end = h.bytes
	if c.err != nil || len(h.tensors) == 0 {
		return
	}
	dataAt := int64(alignUp(uint64(h.bytes), h.alignment)) // at most 256 MiB + 1 MiB
	last := &h.tensors[len(h.tensors)-1]
	if end := uint64(dataAt) + uint64(last.offset+last.bytes); end > size {
		c.enter("tensors", len(h.tensors)-1)
		c.name = last.Name
		c.fail("data", dataAt+last.offset, fmt.Sprintf("%d bytes, which end at byte %d", last.bytes, end), fmt.Sprintf("an end at byte %d, the end of the file, or before", size))
		return
	}
	for i := range h.tensors {
		h.tensors[i].offset += dataAt
	}
	h.end = last.offset + last.bytes
}

// alignUp returns the least multiple of alignment from n on. It cannot overflow for n ≤ 2⁶³ and
// alignment ≤ maxAlignment.
func alignUp(n, alignment uint64) uint64 { return (n + alignment - 1) &^ (alignment - 1) }
