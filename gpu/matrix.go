package gpu

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"runtime"
	"sync"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
	"specula/kernels/format"
	"specula/kernels/ref"
)

// matrix is a weight matrix in the layout that the tensor-core kernels read.
type matrix struct {
	memory  driver.Pointer
	rows    int // of one expert in a mixture
	cols    int
	experts int // 0: no mixture. The experts' matrices lie one after the other, each in whole tiles.
	format  *cuda.Format
}

func (w *matrix) Rows() int { return w.rows }
func (w *matrix) Cols() int { return w.cols }

func (w *matrix) factor() cuda.Factor { return w.format.Factor(w.rows, w.cols) }

// formatOf returns the device layout for a weight type, or nil if the GPU does not support the type.
// A type without a matrix product of its own gets the layout of the type that it is converted to; see
// cuda.StoredAs.
func formatOf(t compute.DType) *cuda.Format {
	if f, ok := cuda.PackedFormat(uint32(t)); ok {
		return f
	}
	if format.CanLoad(uint32(t)) {
		f, _ := cuda.StoredAs(uint32(t))
		return f
	}
	return nil
}

// MatrixBytes is the device memory that Matrix takes for w, or 0 for a type that it refuses.
func (b *Backend) MatrixBytes(w compute.Weight) int64 {
	if f := formatOf(w.Type); f != nil {
		parts := max(w.Experts, 1)
		return int64(parts) * int64(f.Bytes(w.Rows/parts, w.Cols))
	}
	return 0
}

// tileRows is the height of a tile. Weights are packed and sent in whole tiles.
const tileRows = 16

// Matrix loads a weight of any type of format.Loadable. It returns before the last bytes have reached the
// device.
func (b *Backend) Matrix(ctx context.Context, w compute.Weight) (compute.Matrix, error) {
	f := formatOf(w.Type)
	switch {
	case w.Rows < 1 || w.Cols < 1:
		return nil, fmt.Errorf("tensor %q: shape %d × %d is empty", w.Name, w.Rows, w.Cols)
	case w.Experts > 0 && w.Rows%w.Experts != 0:
		return nil, fmt.Errorf("tensor %q: %d rows cannot be divided among %d experts", w.Name, w.Rows, w.Experts)
	case f == nil:
		return nil, fmt.Errorf("tensor %q has the type number %d, which the GPU cannot multiply: use a file in %s", w.Name, w.Type, format.Names(" or "))
	}
	rowBytes, err := rowBytes(w)
	if err != nil {
		return nil, err
	}
	memory, err := b.alloc(fmt.Sprintf("tensor %q", w.Name), b.MatrixBytes(w))
	if err != nil {
		return nil, err
	}
	if err := b.loadModule(f.Module); err != nil {
		return nil, fmt.Errorf("tensor %q: preparing the kernels of its type: %w", w.Name, err)
	}
	parts := max(w.Experts, 1)
	m := &matrix{memory: memory, rows: w.Rows / parts, cols: w.Cols, experts: w.Experts, format: f}
	for part := range parts {
		if err := b.sendPart(ctx, m, w, part, rowBytes); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// sendPart sends the matrix of one expert, or the only matrix.
func (b *Backend) sendPart(ctx context.Context, m *matrix, w compute.Weight, part, rowBytes int) error {
	rows := max(1, pieceBytes/m.format.Bytes(tileRows, m.cols)) * tileRows
	to, first := m.memory+driver.Pointer(int64(part)*int64(m.format.Bytes(m.rows, m.cols))), part*m.rows
	for from := 0; from < m.rows; from += rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(rows, m.rows-from)
		begin, end := (first+from)*rowBytes, (first+from+n)*rowBytes
		if err := b.sendRows(m, w, w.Data[begin:end], to+driver.Pointer(m.format.Bytes(from, m.cols)), n); err != nil {
			return fmt.Errorf("copying tensor %q to the GPU: %w", w.Name, err)
		}
		if w.Done != nil {
			w.Done(begin, end)
		}
	}
	return nil
}

// rowBytes returns the size of a row in the file, and checks the size of the data.
func rowBytes(w compute.Weight) (int, error) {
	f := format.Find(uint32(w.Type))
	if w.Cols%f.BlockElements != 0 {
		return 0, fmt.Errorf("tensor %q: rows of %d numbers are no whole blocks of %d", w.Name, w.Cols,
			f.BlockElements)
	}
	row := w.Cols / f.BlockElements * f.BlockBytes
	if want := w.Rows * row; len(w.Data) != want {
		return 0, fmt.Errorf("tensor %q: %d × %d numbers need %d bytes, the file has %d", w.Name, w.Rows,
			w.Cols, want, len(w.Data))
	}
	return row, nil
}

// sendRows packs n rows and sends them. If they are larger than a piece of the uploader, as one tile may
// be, it packs them in separate memory and sends them in parts.
func (b *Backend) sendRows(m *matrix, w compute.Weight, source []byte, to driver.Pointer, n int) error {
	bytes := m.format.Bytes(n, m.cols)
	if bytes <= pieceBytes {
		var packed error
		sent := b.uploads.send(b, to, bytes, func(piece []byte) { packed = m.pack(piece, w, source, n) })
		return first(sent, packed) // on a line of its own: Go may read packed before it calls send
	}
	whole := make([]byte, bytes)
	if err := m.pack(whole, w, source, n); err != nil {
		return err
	}
	for at := 0; at < bytes; at += pieceBytes {
		part := whole[at:min(at+pieceBytes, bytes)]
		if err := b.uploads.send(b, to+driver.Pointer(at), len(part),
			func(piece []byte) { copy(piece, part) }); err != nil {
			return err
		}
	}
	return nil
}

// pack writes n rows of w to dst in the device's layout. The processor's cores share the tiles.
func (m *matrix) pack(dst []byte, w compute.Weight, source []byte, n int) error {
	tiles, rowBytes := cuda.Tiles(n), len(source)/n
	errs := make([]error, min(runtime.GOMAXPROCS(0), tiles))
	var cores sync.WaitGroup
	for i := range errs {
		from, to := tiles*i/len(errs)*tileRows, min(tiles*(i+1)/len(errs)*tileRows, n)
		cores.Go(func() {
			rows := source[from*rowBytes : to*rowBytes]
			if _, own := cuda.PackedFormat(uint32(w.Type)); !own {
				if rows, errs[i] = converted(w, rows, to-from); errs[i] != nil {
					return
				}
			}
			errs[i] = m.format.Pack(dst[m.format.Bytes(from, m.cols):m.format.Bytes(to, m.cols)], rows, to-from, m.cols)
		})
	}
	cores.Wait()
	return first(errs...)
}

// converted converts rows of a type that has no product on the GPU to the type that the GPU keeps
// instead.
func converted(w compute.Weight, source []byte, rows int) ([]byte, error) {
	if _, exact := cuda.StoredAs(uint32(w.Type)); exact {
		return cuda.Recode(uint32(w.Type), source), nil
	}
	return halves(w, source, rows)
}

// halves converts rows of a type without a product to half precision. A finite weight that would
// become infinite is an error, and so is NaN.
func halves(w compute.Weight, source []byte, rows int) ([]byte, error) {
	wide := make([]float32, rows*w.Cols)
	if t, ok := ref.FormatOf(uint32(w.Type)); ok {
		t.Dequantize(wide, source)
	} else {
		toFloats(wide, source)
	}
	out := make([]byte, 2*len(wide))
	for i, f := range wide {
		h := ref.ToHalf(f)
		if h&0x7fff > 0x7c00 || h&0x7fff == 0x7c00 && !math.IsInf(float64(f), 0) {
			return nil, fmt.Errorf("tensor %q has the weight %v, which half precision cannot hold: use a file in BF16", w.Name, f)
		}
		binary.LittleEndian.PutUint16(out[2*i:], h)
	}
	return out, nil
}

// toFloats decodes float32 numbers.
func toFloats(dst []float32, source []byte) {
	for i := range dst {
		dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(source[4*i:]))
	}
}

// roundedBytes is the memory that activations take after they are converted for a product, in the format
// that needs the most.
func roundedBytes(rows, cols int) int64 {
	most := 0
	for _, f := range cuda.Packed() {
		most = max(most, f.ActivationBytes(rows, cols))
	}
	return int64(most)
}

// rounded says which rows the scratch holds in the form that products read. Products that share
// their input, as for q, k and v, convert it only once.
type rounded struct {
	from       driver.Pointer // where the rows begin; 0: nothing
	rows, cols int
	kind       string // Activations of the product's format
}

// changed must be called before a buffer is written. If the scratch holds converted rows of this buffer, or of
// another that Reshape gave the same memory, they count no longer.
func (b *Backend) changed(x *buffer) {
	if b.rounded.from == x.memory {
		b.rounded = rounded{}
	}
}

// convert fills the scratch with m rows of x in the form that products of a format read, unless it has them.
func (b *Backend) convert(x *buffer, m int, f *cuda.Format) {
	if want := (rounded{x.memory, m, x.cols, f.Activations}); b.rounded != want {
		require(int64(f.ActivationBytes(m, x.cols)) <= b.scratch.rounded.bytes, "a product without scratch")
		b.tape.append(convert{f, b.scratch.rounded.memory, x.memory, m, x.cols})
		b.rounded = want
	}
}

// MatMul multiplies m rows of x with a weight and writes the products to dst.
func (b *Backend) MatMul(dst, x compute.Buffer, m int, w compute.Matrix) error {
	xb, d, weight := rowsOf(x, 0, m), rowsOf(dst, 0, m), w.(*matrix)
	f := weight.format
	require(xb.cols == weight.cols && d.cols == weight.rows && weight.experts == 0, "MatMul of widths that do not fit")
	b.convert(xb, m, f)
	b.changed(d)
	if f.Product(m, weight.factor()).SharedBytes <= max(freeShared, b.info.SharedBytes) {
		b.tape.append(product{dst: d.memory, activations: b.scratch.rounded.memory, rows: m, weight: weight})
		return nil
	}
	// This GPU has too little shared memory per block for the kernel of many rows. Parts of 32
	// rows give the same bits.
	for from := 0; from < m; from += 32 {
		activations := b.scratch.rounded.memory + driver.Pointer(f.ActivationBytes(from, xb.cols))
		b.tape.append(product{dst: d.row(from), activations: activations, rows: min(32, m-from), weight: weight})
	}
	return nil
}
