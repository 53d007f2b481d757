package host

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// matrix is a weight in one of two forms: float32 numbers, or Q8_0 blocks as in the file.
type matrix struct {
	name   string
	rows   int
	cols   int
	floats []float32 // (rows, cols)
	blocks []byte    // (rows, cols/32) blocks of 34 bytes
}

func (w *matrix) Rows() int { return w.rows }
func (w *matrix) Cols() int { return w.cols }

type vector []float32

func (v vector) Len() int { return len(v) }

type buffer struct {
	rows   int
	cols   int
	data   []float32 // (rows, cols)
	logits logits    // handed out by Logits, so that a pass allocates nothing
}

func (x *buffer) MaxRows() int { return x.rows }
func (x *buffer) Cols() int    { return x.cols }

// MatrixBytes is the memory that Matrix allocates for w beside the bytes it borrows.
func (b *Backend) MatrixBytes(w compute.Weight) int64 {
	if w.Type == compute.Q8_0 {
		return 0
	}
	return int64(w.Rows) * int64(w.Cols) * 4
}

// Matrix takes in weights of type F32, F16, BF16 and Q8_0.
func (b *Backend) Matrix(ctx context.Context, w compute.Weight) (compute.Matrix, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.Rows < 1 || w.Cols < 1 {
		return nil, fmt.Errorf("tensor %q: shape %d × %d is empty", w.Name, w.Rows, w.Cols)
	}
	var numberBytes int
	var widen func([]float32, []byte)
	switch w.Type {
	case compute.Q8_0:
		return quantisedMatrix(w)
	case compute.F32:
		numberBytes, widen = 4, cpu.DequantizeF32
	case compute.F16:
		numberBytes, widen = 2, cpu.DequantizeF16
	case compute.BF16:
		numberBytes, widen = 2, cpu.DequantizeBF16
	default:
		return nil, fmt.Errorf("tensor %q has the type number %d, which the CPU cannot multiply: use a file in F32, F16, BF16 or Q8_0", w.Name, w.Type)
	}
	if err := checkLength(w, w.Rows*w.Cols*numberBytes); err != nil {
		return nil, err
	}
	floats := make([]float32, w.Rows*w.Cols)
	widen(floats, w.Data)
	return &matrix{name: w.Name, rows: w.Rows, cols: w.Cols, floats: floats}, nil
}

func quantisedMatrix(w compute.Weight) (compute.Matrix, error) {
	if w.Cols%cpu.Block != 0 {
		return nil, fmt.Errorf("tensor %q: rows of %d numbers cannot be Q8_0, whose blocks hold %d", w.Name, w.Cols, cpu.Block)
	}
	if err := checkLength(w, w.Rows*w.Cols/cpu.Block*cpu.BlockBytesQ8_0); err != nil {
		return nil, err
	}
	return &matrix{name: w.Name, rows: w.Rows, cols: w.Cols, blocks: w.Data}, nil
}

func checkLength(w compute.Weight, want int) error {
	if len(w.Data) != want {
		return fmt.Errorf("tensor %q: %d × %d numbers need %d bytes, the file has %d", w.Name, w.Rows, w.Cols, want, len(w.Data))
	}
	return nil
}

// Vector copies data.
func (b *Backend) Vector(name string, data []float32) (compute.Vector, error) {
	if len(data) == 0 {
		return nil, fmt.Errorf("tensor %q is empty", name)
	}
	return vector(append([]float32(nil), data...)), nil
}

// Buffer allocates an activation matrix, and room to quantise it.
func (b *Backend) Buffer(maxRows, cols int) (compute.Buffer, error) {
	require(maxRows > 0 && cols > 0, "an empty buffer")
	if err := refuseBeyondMemory("activations", int64(maxRows)*int64(cols)*4); err != nil {
		return nil, err
	}
	if cols%cpu.Block == 0 {
		b.quantised.Grow(maxRows, cols)
	}
	return &buffer{rows: maxRows, cols: cols, data: make([]float32, maxRows*cols)}, nil
}

// refuseBeyondMemory keeps a request that cannot succeed from ending the process.
func refuseBeyondMemory(what string, bytes int64) error {
	if available := availableMemoryBytes(); available > 0 && bytes > available {
		return fmt.Errorf("%w: %s need %d MiB, %d MiB are available", compute.ErrOutOfMemory, what, bytes>>20, available>>20)
	}
	return nil
}
