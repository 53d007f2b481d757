package host

import (
	"context"
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
	"specula/kernels/format"
)

// matrix is a weight matrix in one of two layouts: floating-point numbers as in the file, or quantised
// numbers repacked into panels. If Weight.Experts is not 0, a matrix holds that many matrices of one size.
type matrix struct {
	rows    int // of one matrix
	cols    int
	number  cpu.Number   // type of the numbers in data
	data    []byte       // the numbers of each matrix, row by row, one matrix after the other; nil with panels
	panels  *cpu.Panels  // of the first matrix; nil with data
	experts []cpu.Expert // each matrix; nil if there is only one
}

func (w *matrix) Rows() int { return w.rows }
func (w *matrix) Cols() int { return w.cols }

type vector []float32

func (v vector) Len() int { return len(v) }

type buffer struct {
	owner  *Backend
	rows   int
	cols   int
	data   []float32 // row by row
	other  *buffer   // the last result of Reshape: the same memory in rows of another length
	logits logits    // returned by Logits; part of the buffer so that a pass allocates nothing
}

// Reshape returns the memory of x in rows of cols numbers. Row i of x is not row i of the result, so
// operations on the two must not share a phase of the queue: Reshape closes the open phase.
func (b *Backend) Reshape(x compute.Buffer, cols int) compute.Buffer {
	of := x.(*buffer)
	require(cols > 0 && of.cols%cols == 0, "Reshape to rows that do not fit")
	b.queue.close()
	if of.other == nil || of.other.cols != cols {
		of.other = &buffer{owner: b, rows: of.rows * (of.cols / cols), cols: cols, data: of.data}
	}
	return of.other
}

func (x *buffer) MaxRows() int { return x.rows }
func (x *buffer) Cols() int    { return x.cols }

// numbers are the types whose weights are multiplied as float32.
var numbers = map[compute.DType]cpu.Number{compute.F32: cpu.F32, compute.F16: cpu.F16, compute.BF16: cpu.BF16}

// MatrixBytes returns the memory that Matrix allocates for w in addition to the bytes it borrows. The few
// kilobytes of cpu.PadRows do not count.
func (b *Backend) MatrixBytes(w compute.Weight) int64 {
	if f, ok := cpu.FormatOf(uint32(w.Type)); ok {
		return int64(matrices(w)) * f.PanelBytes(w.Rows/matrices(w), w.Cols)
	}
	return 0
}

// matrices returns how many matrices a weight holds.
func matrices(w compute.Weight) int { return max(w.Experts, 1) }

// Matrix loads a weight of a type in format.Loadable.
func (b *Backend) Matrix(ctx context.Context, w compute.Weight) (compute.Matrix, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.Rows < 1 || w.Cols < 1 {
		return nil, fmt.Errorf("tensor %q: shape %d × %d is empty", w.Name, w.Rows, w.Cols)
	}
	if w.Rows%matrices(w) != 0 {
		return nil, fmt.Errorf("tensor %q: %d rows cannot be divided among %d experts", w.Name, w.Rows, w.Experts)
	}
	if f, ok := cpu.FormatOf(uint32(w.Type)); ok {
		return b.quantisedMatrix(ctx, w, f)
	}
	number, ok := numbers[w.Type]
	if !ok {
		return nil, fmt.Errorf("tensor %q has the type number %d, which the CPU cannot multiply: use a file in %s", w.Name, w.Type, format.Names(" or "))
	}
	if err := checkLength(w, w.Rows*w.Cols*number.Bytes()); err != nil {
		return nil, err
	}
	b.weightBytes += int64(len(w.Data))
	m := &matrix{rows: w.Rows / matrices(w), cols: w.Cols, number: number, data: cpu.PadRows(w.Data, w.Cols*number.Bytes())}
	each := len(w.Data) / matrices(w)
	for e := range w.Experts {
		m.experts = append(m.experts, cpu.Expert{Type: number, Data: w.Data[e*each : (e+1)*each]})
	}
	return m, nil
}

func (b *Backend) quantisedMatrix(ctx context.Context, w compute.Weight, f cpu.Format) (compute.Matrix, error) {
	if w.Cols%f.BlockElements != 0 {
		return nil, fmt.Errorf("tensor %q: rows of %d numbers cannot be %v, whose blocks hold %d", w.Name, w.Cols, f, f.BlockElements)
	}
	if err := checkLength(w, w.Rows*w.Cols/f.BlockElements*f.BlockBytes); err != nil {
		return nil, err
	}
	n := matrices(w)
	all := cpu.NewPanelsOfEach(f, n, w.Rows/n, w.Cols)
	for e, panels := range all {
		if err := b.repack(ctx, panels, w, e*len(w.Data)/n, (e+1)*len(w.Data)/n); err != nil {
			return nil, err
		}
	}
	b.weightBytes += b.MatrixBytes(w)
	m := &matrix{rows: w.Rows / n, cols: w.Cols, panels: all[0]}
	for e := range w.Experts {
		m.experts = append(m.experts, cpu.Expert{Panels: all[e]})
	}
	return m, nil
}

// repack fills panels with the quantised weights in bytes first … last−1 of w.Data. Each time about repackBytes
// of panels are full, it calls w.Done, which releases the bytes that were read. So a large weight is never in
// memory twice.
func (b *Backend) repack(ctx context.Context, panels *cpu.Panels, w compute.Weight, first, last int) error {
	task := &cpu.Repack{Panels: panels, Src: w.Data[first:last]}
	step := max(1, repackBytes/panels.BytesEach())
	for from := 0; from < panels.Items(); from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		to := min(from+step, panels.Items())
		b.pool.Run(&someItems{task, from}, to-from, repackBytes)
		if w.Done != nil {
			w.Done(first+panels.SourceBytes(from), first+panels.SourceBytes(to))
		}
	}
	return nil
}

// repackBytes is about how many bytes of panels repack fills between two calls of Weight.Done.
const repackBytes = 16 << 20

// someItems is a task without its items before first.
type someItems struct {
	cpu.Task
	first int
}

func (t *someItems) Do(from, to int) { t.Task.Do(t.first+from, t.first+to) }

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

// Buffer allocates an activation matrix.
func (b *Backend) Buffer(maxRows, cols int) (compute.Buffer, error) {
	require(maxRows > 0 && cols > 0, "an empty buffer")
	if err := refuseBeyondMemory("activations", int64(maxRows)*int64(cols)*4); err != nil {
		return nil, err
	}
	if cols%cpu.Block == 0 && !b.exact {
		b.quantised[0].Grow(maxRows, cols)
	}
	return &buffer{owner: b, rows: maxRows, cols: cols, data: make([]float32, maxRows*cols)}, nil
}

// refuseBeyondMemory returns an error if the system is known to have fewer bytes of memory available than
// the parameter bytes says. Without this check the system could kill the process.
func refuseBeyondMemory(what string, bytes int64) error {
	if available := availableMemoryBytes(); available > 0 && bytes > available {
		return fmt.Errorf("%w: %s need %d MiB, %d MiB are available", compute.ErrOutOfMemory, what, bytes>>20, available>>20)
	}
	return nil
}
