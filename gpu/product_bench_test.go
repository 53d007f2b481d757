//go:build cuda && linux && cgo

package gpu

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
)

// Each matrix product of a layer of the 8B shape, and of its output, against copying the same
// bytes. It shows which product is far from the speed of memory.
func BenchmarkProduct(b *testing.B) {
	shape := shapeOfModel(b, "8B")
	queries, keys := shape.Heads*shape.HeadDim, shape.KVHeads*shape.HeadDim
	for _, typ := range append(formats, compute.Q6_K) {
		for _, p := range []struct {
			name       string
			rows, cols int
		}{
			{"query", queries, shape.Dim}, {"key", keys, shape.Dim}, {"output", shape.Dim, queries},
			{"gate", shape.FFN, shape.Dim}, {"down", shape.Dim, shape.FFN},
			{"scores", shape.Vocab, shape.Dim},
		} {
			for _, m := range []int{1, 5} {
				b.Run(fmt.Sprintf("%s/%s/%d", gguf.TypeName(typ), p.name, m), func(b *testing.B) {
					benchmarkProduct(b, typ, m, p.rows, p.cols)
				})
			}
		}
	}
}

// benchmarkProduct multiplies with one copy of a matrix after another, more copies than a device
// cache can hold.
func benchmarkProduct(b *testing.B, typ compute.DType, m, rows, cols int) {
	on := openMade(b)
	copied := on.copyBytesPerMS(b)
	x, err := on.Buffer(m, cols)
	if err != nil {
		b.Fatal(err)
	}
	y, err := on.Buffer(m, rows)
	if err != nil {
		b.Fatal(err)
	}
	w := compute.Weight{Name: "product", Type: typ, Rows: rows, Cols: cols}
	bytes := int(on.MatrixBytes(w))
	copies := make([]compute.Matrix, 1+scaled(512<<20, 0)/bytes)
	for i := range copies {
		if copies[i], err = on.Matrix(b.Context(), w); err != nil {
			b.Fatal(err)
		}
	}
	noise := make([]float32, m*cols)
	for i := range noise {
		noise[i] = float32(i%29-14) / 8
	}
	if err := on.fill(x, noise); err != nil {
		b.Fatal(err)
	}
	for _, c := range copies {
		if err := on.MatMul(y, x, m, c); err != nil {
			b.Fatal(err)
		}
	}
	steps, err := on.lower(nil, on.tape.operations[1:]...)
	if err != nil {
		b.Fatal(err)
	}
	on.tape.operations = on.tape.operations[:1] // convert x once
	on.flush()
	for b.Loop() {
		ms := on.elapsed(b, func() error {
			return on.runAll(steps)
		}) / float64(len(steps))
		b.ReportMetric(ms, "ms")
		b.ReportMetric(float64(bytes)/ms/1e6, "GB/s")
		b.ReportMetric(float64(bytes)/ms/copied, "of-copy")
	}
}

// fill writes numbers to a buffer.
func (b *made) fill(to compute.Buffer, numbers []float32) error {
	bytes := make([]byte, 0, 4*len(numbers))
	for _, f := range numbers {
		bytes = binary.LittleEndian.AppendUint32(bytes, math.Float32bits(f))
	}
	return b.onDevice(func() error { return b.device.Upload(b.stream, to.(*buffer).memory, bytes) })
}
