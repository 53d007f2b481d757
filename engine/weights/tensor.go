package weights

import (
	"fmt"
	"math"
	"math/bits"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/kernels/format"
)

// Tensor describes a tensor of a file.
type Tensor struct {
	Name   string
	Type   compute.DType
	dims   int32
	shape  [gguf.MaxDims]int64 // only the first dims count
	infoAt int64               // file offset of its description
	offset int64               // file offset of its data
	bytes  int64
}

// Shape returns the dimensions, the contiguous one first: a matrix of R rows and C columns has (C,
// R).
func (t Tensor) Shape() []int64 { return append([]int64(nil), t.shape[:t.dims]...) }

// Elements returns the product of the dimensions.
func (t Tensor) Elements() int64 {
	n := int64(1)
	for _, d := range t.shape[:t.dims] {
		n *= d // overflow was checked when the header was read
	}
	return n
}

// Bytes returns the size of the tensor's data.
func (t Tensor) Bytes() int64 { return t.bytes }

// readTensor reads one tensor description up to the offset, which checkRange reads.
func readTensor(c *cursor, size uint64) Tensor {
	t := Tensor{infoAt: c.pos}
	t.Name = c.identifier("name", maxNameBytes)
	c.name = t.Name
	at := c.pos
	dims := c.u32("dimension count")
	if c.err == nil && (dims == 0 || dims > gguf.MaxDims) {
		c.fail("dimension count", at, fmt.Sprint(dims), fmt.Sprintf("1 to %d", gguf.MaxDims))
	}
	shapeAt := c.pos
	elements := uint64(1)
	for i := 0; i < int(dims) && c.err == nil; i++ {
		elements = readDim(c, &t, i, elements)
	}
	t.dims = int32(dims)
	typeAt := c.pos
	t.Type = compute.DType(c.u32("type"))
	info, known := gguf.Type(t.Type)
	if c.err == nil && !known {
		c.fail("type", typeAt, fmt.Sprintf("type number %d", uint32(t.Type)), fmt.Sprintf("a tensor type that ggml defines today (0 to %d with gaps)", format.Highest()))
	}
	if c.err != nil {
		return t
	}
	if row := uint64(t.shape[0]); row%info.BlockElements != 0 {
		c.fail("dims[0]", shapeAt, fmt.Sprint(row), fmt.Sprintf("multiples of %d, the block of %s", info.BlockElements, info.Name))
		return t
	}
	over, bytes := bits.Mul64(elements/info.BlockElements, info.BlockBytes)
	if over != 0 || bytes > size {
		got := fmt.Sprintf("%d elements of %s", elements, info.Name)
		c.fail("size", shapeAt, got, fmt.Sprintf("tensors of at most %d bytes, the size of the file", size))
		return t
	}
	t.bytes = int64(bytes)
	return t
}

var dimFields = [gguf.MaxDims]string{"dims[0]", "dims[1]", "dims[2]", "dims[3]"}

// readDim reads dimension i and returns the product of all dimensions so far.
func readDim(c *cursor, t *Tensor, i int, elements uint64) uint64 {
	at := c.pos
	field := dimFields[i]
	d := c.u64(field)
	over, product := bits.Mul64(elements, d)
	switch {
	case c.err != nil:
	case d == 0 || d > math.MaxInt64:
		c.fail(field, at, fmt.Sprint(d), "1 to 2⁶³-1")
	case over != 0 || product > math.MaxInt64:
		c.fail(field, at, fmt.Sprintf("%d, which makes %d × %d elements", d, elements, d), "products up to 2⁶³-1")
	default:
		t.shape[i] = int64(d)
	}
	return product
}

// checkRange reads the offset of t and checks that it is aligned. t must begin at end, where the
// previous tensor ends, or later, and must end inside the file of size bytes. checkRange returns the
// end of t.
func checkRange(c *cursor, t *Tensor, end, alignment, size uint64) uint64 {
	at := c.pos
	offset := c.u64("offset")
	if c.err != nil {
		return end
	}
	after, carry := bits.Add64(offset, uint64(t.bytes), 0)
	switch {
	case offset%alignment != 0:
		c.fail("offset", at, fmt.Sprint(offset), fmt.Sprintf("multiples of the alignment, %d", alignment))
	case offset < end:
		c.fail("offset", at, fmt.Sprint(offset), fmt.Sprintf("%d or more, the end of the tensor before", end))
	case carry != 0 || after > size:
		c.fail("offset", at, fmt.Sprintf("%d for %d bytes", offset, t.bytes), fmt.Sprintf("ranges that end inside the file of %d bytes", size))
	default:
		t.offset = int64(offset)
	}
	return after
}
