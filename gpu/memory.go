package gpu

import (
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
	"specula/gpu/driver"
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
	logits logits // handed out by Logits, so that a pass allocates nothing
}

func (x *buffer) MaxRows() int { return x.rows }
func (x *buffer) Cols() int    { return x.cols }

func (x *buffer) row(i int) driver.Pointer { return x.memory + driver.Pointer(4*i*x.cols) }

// Vector copies data to the device.
func (b *Backend) Vector(name string, data []float32) (compute.Vector, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("tensor %q is empty", name)
	}
	memory, err := b.floats(fmt.Sprintf("tensor %q", name), data)
	return &vector{memory, len(data)}, err
}

// floats copies numbers to memory of their own.
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

// Buffer reserves an activation matrix, and makes the scratch in which its rows are brought into the form for products large enough.
func (b *Backend) Buffer(maxRows, cols int) (compute.Buffer, error) {
	require(maxRows > 0 && cols > 0, "an empty buffer")
	if err := b.growScratch(&b.scratch.rounded, "activations of products", roundedBytes(maxRows, cols)); err != nil {
		return nil, err
	}
	b.scratch.rows = max(b.scratch.rows, maxRows)
	memory, err := b.alloc(fmt.Sprintf("activations of %d × %d numbers", maxRows, cols), 4*int64(maxRows)*int64(cols))
	if err != nil {
		return nil, err
	}
	return &buffer{memory: memory, rows: maxRows, cols: cols}, nil
}

// scratch is memory that operations need in passing. It grows while models are loaded and stays as it is in their passes.
type scratch struct {
	rounded  area // activations in the form for products
	attended area // splits of attention
	rows     int  // of the largest buffer
}

type area struct {
	memory driver.Pointer
	bytes  int64
}

// growScratch makes an area at least so large. What was in it is lost.
func (b *Backend) growScratch(a *area, what string, bytes int64) error {
	if bytes <= a.bytes {
		return nil
	}
	b.flush() // tapes with the old address must be queued before it is given back, which waits for them
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
