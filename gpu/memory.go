package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

type vector struct {
	memory driver.Pointer // (length) float32
	length int
}

func (v *vector) Len() int { return v.length }

// buffer is an activation matrix.
type buffer struct {
	memory driver.Pointer // (rows, cols) float32
	rows   int
	cols   int
	other  *buffer // the last result of Reshape: the same memory in rows of another length
	logits logits  // what Logits returns; kept here so that a pass allocates nothing
}

func (x *buffer) MaxRows() int { return x.rows }
func (x *buffer) Cols() int    { return x.cols }

var _ compute.Reshaper = (*Backend)(nil)

// Reshape returns a buffer that is the memory of x in rows of cols numbers.
func (b *Backend) Reshape(x compute.Buffer, cols int) compute.Buffer {
	of := x.(*buffer)
	require(cols > 0 && of.cols%cols == 0, "Reshape to rows that do not fit")
	if of.other == nil || of.other.cols != cols {
		of.other = &buffer{memory: of.memory, rows: of.rows * (of.cols / cols), cols: cols}
	}
	return of.other
}

func (x *buffer) row(i int) driver.Pointer { return x.memory + driver.Pointer(4*i*x.cols) }

// Vector copies a vector to the device.
func (b *Backend) Vector(name string, data []float32) (compute.Vector, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("tensor %q is empty", name)
	}
	memory, err := b.floats(fmt.Sprintf("tensor %q", name), data)
	return &vector{memory, len(data)}, err
}

// floats copies numbers to newly reserved memory.
func (b *Backend) floats(what string, data []float32) (driver.Pointer, error) {
	memory, err := b.alloc(what, 4*int64(len(data)))
	if err != nil {
		return 0, err
	}
	const most = 1 << 20
	for from := 0; from < len(data); from += most {
		piece := data[from:min(from+most, len(data))]
		err := b.uploads.send(b, memory+driver.Pointer(4*from), 4*len(piece), func(to []byte) {
			for i, f := range piece {
				binary.LittleEndian.PutUint32(to[4*i:], math.Float32bits(f))
			}
		})
		if err != nil {
			return 0, fmt.Errorf("copying %s to the GPU: %w", what, err)
		}
	}
	return memory, nil
}

// Buffer reserves an activation matrix. It also grows the scratch in which the rows are converted
// for products.
func (b *Backend) Buffer(maxRows, cols int) (compute.Buffer, error) {
	require(maxRows > 0 && cols > 0, "an empty buffer")
	if err := b.growScratch(&b.scratch.rounded, "activations of products",
		roundedBytes(maxRows, cols)); err != nil {
		return nil, err
	}
	if err := b.growScratch(&b.scratch.after, "activations that a product writes",
		roundedBytes(min(maxRows, cuda.MostGated), cols)); err != nil {
		return nil, err
	}
	if err := b.growScratch(&b.scratch.squares, "squares of the residual stream", squaresBytes(maxRows, cols)); err != nil {
		return nil, err
	}
	b.scratch.rows = max(b.scratch.rows, maxRows)
	memory, err := b.alloc(fmt.Sprintf("activations of %d × %d numbers", maxRows, cols),
		4*int64(maxRows)*int64(cols))
	if err != nil {
		return nil, err
	}
	return &buffer{memory: memory, rows: maxRows, cols: cols}, nil
}

// scratch is temporary memory of operations. It grows when buffers and caches are made and in ReservePast,
// never during a pass.
type scratch struct {
	rounded  area // activations in the form that products read
	after    area // a second place for a few such rows: an epilogue must not write where its product reads
	squares  area // sums of squares of the residual stream, which a product writes
	attended area // partial results of attention
	rows     int  // of the buffer with the most rows
}

// squaresBytes is the memory for the squares of a stream in buffers of this size.
func squaresBytes(maxRows, cols int) int64 {
	return int64(cuda.SquaresBytes(min(maxRows, cuda.MostWithEpilogue), cols))
}

type area struct {
	memory driver.Pointer
	bytes  int64
}

// growScratch makes an area at least bytes large. It does not keep the content.
func (b *Backend) growScratch(a *area, what string, bytes int64) error {
	if bytes <= a.bytes {
		return nil
	}
	b.flush() // the tape may use the old memory; freeing that memory waits for queued work
	if a.memory != 0 {
		if err := b.release(a.memory); err != nil {
			return err
		}
		*a = area{}
	}
	memory, err := b.alloc(what, bytes)
	if err != nil {
		return err
	}
	*a = area{memory, bytes}
	return nil
}
