package gpu

import (
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/kernels/cuda"
)

// The same memory in rows of another length is another operand of a product, and who writes to it changes both.
func TestReshapedRowsAreConvertedAgain(t *testing.T) {
	d := newRecorder(t)
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const rows, cols, head = 3, 256, 64
	buffer := func(rows, cols int) compute.Buffer {
		x, err := b.Buffer(rows, cols)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	weight := func(cols int) compute.Matrix {
		const blockBytes, block = 34, 32
		w, err := b.Matrix(t.Context(), compute.Weight{Name: "w", Type: compute.Q8_0, Rows: 16, Cols: cols, Data: make([]byte, 16*cols/block*blockBytes)})
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	x, long, short := buffer(rows, cols), weight(cols), weight(head)
	heads := b.Reshape(x, head)
	if again := b.Reshape(x, head); heads.MaxRows() != rows*cols/head || heads.Cols() != head || again != heads {
		t.Fatalf("heads are %d × %d, and others the next time", heads.MaxRows(), heads.Cols())
	}
	dst, ofHeads, y := buffer(rows, 16), buffer(rows*cols/head, 16), buffer(rows*cols/head, head)
	whole := func() { must(t, b.MatMul(dst, x, rows, long)) }
	three := func() { must(t, b.MatMul(ofHeads, heads, rows, short)) }
	each := func() { must(t, b.MatMul(ofHeads, heads, rows*cols/head, short)) }
	for name, c := range map[string]struct {
		steps []func()
		want  int
	}{
		"twice the same":                 {[]func(){whole, whole}, 1},
		"heads after rows":               {[]func(){whole, each}, 2},
		"as many heads as rows":          {[]func(){whole, three}, 2},
		"rows after heads":               {[]func(){each, whole}, 2},
		"rows after a change of heads":   {[]func(){whole, func() { must(t, b.Add(heads, y, 2)) }, whole}, 2},
		"heads after a change of rows":   {[]func(){each, func() { must(t, b.Add(x, x, 1)) }, each}, 2},
		"rows after a change of another": {[]func(){whole, func() { must(t, b.Add(y, heads, 2)) }, whole}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			must(t, b.onDevice(func() error { return nil }))
			d.log = nil
			for _, step := range c.steps {
				step()
			}
			must(t, b.onDevice(func() error { return nil }))
			kernel := cuda.Q8_0.Prepare(rows, cols).Kernel
			got := len(slices.DeleteFunc(d.log, func(s string) bool { return s != kernel }))
			if got != c.want {
				t.Errorf("rows were converted %d times, want %d", got, c.want)
			}
		})
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
