package host

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

func Example() {
	b := New(1)
	defer b.Close()
	// One row of activations times a matrix of two rows and two columns.
	w, _ := b.Matrix(context.Background(), compute.Weight{
		Name: "w", Type: compute.BF16, Rows: 2, Cols: 2,
		Data: []byte{0x80, 0x3f, 0x00, 0x40, 0x40, 0x40, 0x80, 0x40}, // 1 2, 3 4
	})
	x, _ := b.Buffer(1, 2)
	y, _ := b.Buffer(1, 2)
	_ = b.Embed(x, w, []int32{1})
	_ = b.MatMul(y, x, 1, w)
	scores, _ := b.Logits(y, 1)
	row := make([]float32, 2)
	_ = scores.Row(0, row)
	bytes, syncs := scores.Moved()
	fmt.Println(row, bytes, syncs)
	// Output: [11 25] 8 1
}

func TestInfoNamesProcessorAndThreads(t *testing.T) {
	for threads, unit := range map[int]string{1: ", 1 thread", 3: ", 3 threads"} {
		b := New(threads)
		defer b.Close()
		info := b.Info()
		if info.Kind != "cpu" || !strings.HasSuffix(info.Name, unit) || len(info.Name) == len(unit) || info.MemoryBytes < 0 || !strings.Contains(info.Detail, "one thread") {
			t.Errorf("%d threads: %+v", threads, info)
		}
	}
	if got := withoutMarks("Intel(R) Core(TM) i7-8550U CPU @ 1.80GHz"); got != "Intel Core i7-8550U CPU @ 1.80GHz" {
		t.Errorf("without marks the name is %q", got)
	}
	if _, found := field("/proc/no such file", "key"); found {
		t.Error("a field of a missing file was found")
	}
}

// scoresFrom makes logits with the given rows.
func scoresFrom(t *testing.T, b *Backend, scores ...[]float32) compute.Logits {
	t.Helper()
	x, err := b.Buffer(len(scores), len(scores[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range scores {
		copy(x.(*buffer).data[i*len(row):], row)
	}
	l, err := b.Logits(x, len(scores))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestLogitsCountWhatCrosses(t *testing.T) {
	b := New(1)
	defer b.Close()
	l := scoresFrom(t, b, []float32{1, 5, 5}, []float32{-3, -2, -4})
	moved := func(bytes int64, syncs int) {
		t.Helper()
		if gotBytes, gotSyncs := l.Moved(); gotBytes != bytes || gotSyncs != syncs {
			t.Errorf("moved %d bytes with %d waits, want %d with %d", gotBytes, gotSyncs, bytes, syncs)
		}
	}
	moved(0, 0)
	best := make([]int32, 2)
	if err := l.Argmax(best); err != nil || best[0] != 1 || best[1] != 1 {
		t.Errorf("best tokens %v, error %v", best, err)
	}
	moved(8, 1)
	row := make([]float32, 3)
	if err := l.Row(1, row); err != nil || row[2] != -4 {
		t.Errorf("row %v, error %v", row, err)
	}
	moved(8+12, 1)
	if l.Rows() != 2 || l.Vocab() != 3 {
		t.Errorf("%d rows of %d", l.Rows(), l.Vocab())
	}
}

func TestArgmaxRefusesWhatIsNotFinite(t *testing.T) {
	b := New(1)
	defer b.Close()
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name string
		row  []float32
		ok   bool
	}{
		{"finite", []float32{0, 1}, true},
		{"one finite", []float32{-inf, -9}, true},
		{"NaN first", []float32{nan, 1}, false},
		{"NaN after the best", []float32{1, nan}, false},
		{"infinity", []float32{inf, 1}, false},
		{"nothing finite", []float32{-inf, -inf}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := scoresFrom(t, b, []float32{1, 2}, c.row)
			err := l.Argmax(make([]int32, 2))
			if errors.Is(err, compute.ErrNotFinite) == c.ok || c.ok != (err == nil) {
				t.Errorf("error %v", err)
			}
			if err != nil && !strings.Contains(err.Error(), "row 1") {
				t.Errorf("error %q does not name the row", err)
			}
			row := make([]float32, 2)
			if err := l.Row(1, row); err != nil {
				t.Errorf("Row judged the numbers: %v", err)
			}
		})
	}
}

func TestMatrixRefuses(t *testing.T) {
	b := New(1)
	defer b.Close()
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		w    compute.Weight
		want string
	}{
		{"unknown type", context.Background(), compute.Weight{Name: "w", Type: 99, Rows: 1, Cols: 256, Data: make([]byte, 84)}, `"w" has the type number 99`},
		{"broken super-blocks", context.Background(), compute.Weight{Name: "w", Type: compute.Q4_K, Rows: 2, Cols: 128, Data: make([]byte, 144)}, "blocks hold 256"},
		{"short data", context.Background(), compute.Weight{Name: "w", Type: compute.F16, Rows: 2, Cols: 3, Data: make([]byte, 11)}, "need 12 bytes, the file has 11"},
		{"short blocks", context.Background(), compute.Weight{Name: "w", Type: compute.Q8_0, Rows: 2, Cols: 32, Data: make([]byte, 67)}, "need 68 bytes"},
		{"broken blocks", context.Background(), compute.Weight{Name: "w", Type: compute.Q8_0, Rows: 2, Cols: 48, Data: make([]byte, 102)}, "blocks hold 32"},
		{"empty", context.Background(), compute.Weight{Name: "w", Type: compute.F32}, "is empty"},
		{"cancelled", cancelled, compute.Weight{Name: "w", Type: compute.F32, Rows: 1, Cols: 1, Data: make([]byte, 4)}, "canceled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, err := b.Matrix(c.ctx, c.w); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
	if _, err := b.Vector("v", nil); err == nil {
		t.Error("an empty vector was taken")
	}
}

func TestOnlyRepackedWeightsTakeMemory(t *testing.T) {
	b := New(1)
	defer b.Close()
	for typ, want := range map[compute.DType]int64{compute.Q8_0: 32 * 34, compute.F16: 0, compute.F32: 0} {
		if got := b.MatrixBytes(compute.Weight{Type: typ, Rows: 2, Cols: 32}); got != want {
			t.Errorf("type %d takes %d bytes, want %d", typ, got, want)
		}
	}
}

func TestEmbed(t *testing.T) {
	b := New(1)
	defer b.Close()
	block := make([]byte, 2*34)
	block[34+1], block[34+2], block[34+33] = 0x38, 6, 0xff // row 1: scale 0.5, 6 … −1
	table, err := b.Matrix(context.Background(), compute.Weight{Name: "t", Type: compute.Q8_0, Rows: 2, Cols: 32, Data: block})
	if err != nil {
		t.Fatal(err)
	}
	x, _ := b.Buffer(3, 32)
	if err := b.Embed(x, table, []int32{0, 1}); err != nil {
		t.Fatal(err)
	}
	if d := x.(*buffer).data; d[0] != 0 || d[32] != 3 || d[63] != -0.5 {
		t.Errorf("embedded %v", d)
	}
	for _, id := range []int32{-1, 2} {
		if err := b.Embed(x, table, []int32{id}); err == nil {
			t.Errorf("token %d was embedded", id)
		}
	}
}

func TestCache(t *testing.T) {
	b := New(1)
	defer b.Close()
	c, err := b.Cache(compute.CacheShape{Layers: 2, Tokens: 3, KVHeads: 1, HeadDim: 4})
	if err != nil {
		t.Fatal(err)
	}
	if c.Len() != 0 || c.Cap() != 3 || c.Bytes() != 2*2*cpu.KeysPerBlock*4*4 {
		t.Errorf("len %d, cap %d, %d bytes", c.Len(), c.Cap(), c.Bytes())
	}
	row := make([]float32, 4)
	for _, step := range []struct {
		name string
		do   func() error
		ok   bool
		len  int
	}{
		{"advance", func() error { return c.Advance(2) }, true, 2},
		{"advance beyond the end", func() error { return c.Advance(2) }, false, 2},
		{"truncate beyond the length", func() error { return c.Truncate(3) }, false, 2},
		{"truncate to less than nothing", func() error { return c.Truncate(-1) }, false, 2},
		{"truncate", func() error { return c.Truncate(1) }, true, 1},
		{"read", func() error { return c.KeyValue(1, 2, row, row) }, true, 1},
		{"read another layer", func() error { return c.KeyValue(2, 0, row, row) }, false, 1},
		{"read another token", func() error { return c.KeyValue(0, 3, row, row) }, false, 1},
		{"close", c.Close, true, 0},
		{"read when closed", func() error { return c.KeyValue(0, 0, row, row) }, false, 0},
	} {
		if err := step.do(); (err == nil) != step.ok || c.Len() != step.len {
			t.Errorf("%s: error %v, length %d, want %d", step.name, err, c.Len(), step.len)
		}
	}
	for _, tokens := range []int{1 << 40, math.MaxInt} {
		if _, err := b.Cache(compute.CacheShape{Layers: 2, Tokens: tokens, KVHeads: 8, HeadDim: 128}); !errors.Is(err, compute.ErrOutOfMemory) {
			t.Errorf("a cache of %d tokens gave %v", tokens, err)
		}
	}
}

func TestACacheTakesTheBytesOfItsType(t *testing.T) {
	b := New(1)
	defer b.Close()
	shape := compute.CacheShape{Layers: 3, Tokens: 40, KVHeads: 2, HeadDim: 96}
	const numbers = 2 * 3 * 48 * 2 * 96 // whole blocks of 16 keys
	for typ, want := range map[compute.DType]int64{compute.F32: numbers * 4, compute.F16: numbers * 2, compute.Q8_0: numbers / 32 * 34} {
		shape.Type = typ
		c, err := b.Cache(shape)
		if err != nil {
			t.Fatal(err)
		}
		if c.Bytes() != want {
			t.Errorf("a cache of the type number %d takes %d bytes, want %d", typ, c.Bytes(), want)
		}
	}
	for _, c := range []struct {
		typ     compute.DType
		headDim int
		want    string
	}{
		{compute.Q8_0, 80, "these have 80: choose --cache f16 or f32"},
		{compute.Q4_0, 96, "type number 2: the CPU keeps them as f32, f16 or q8_0"},
	} {
		shape.Type, shape.HeadDim = c.typ, c.headDim
		if _, err := b.Cache(shape); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("heads of %d, type number %d: error %v, want %q", c.headDim, c.typ, err, c.want)
		}
	}
	shape.Type, shape.HeadDim, shape.Tokens = compute.Q8_0, 96, math.MaxInt
	if _, err := b.Cache(shape); !errors.Is(err, compute.ErrOutOfMemory) {
		t.Errorf("a cache of all tokens there are gave %v", err)
	}
}

func TestProgrammerErrorsPanic(t *testing.T) {
	b := New(1)
	defer b.Close()
	x, _ := b.Buffer(2, 8)
	y, _ := b.Buffer(2, 4)
	w, _ := b.Matrix(context.Background(), compute.Weight{Name: "w", Type: compute.F32, Rows: 8, Cols: 8, Data: make([]byte, 256)})
	v, _ := b.Vector("v", make([]float32, 3))
	cache, _ := b.Cache(compute.CacheShape{Layers: 1, Tokens: 4, KVHeads: 1, HeadDim: 8})
	logits, _ := b.Logits(x, 2)
	for name, call := range map[string]func(){
		"no rows":         func() { _ = b.Add(x, x, 0) },
		"too many rows":   func() { _ = b.Add(x, x, 3) },
		"widths of Add":   func() { _ = b.Add(x, y, 1) },
		"SwiGLU":          func() { _ = b.SwiGLU(x, y, 1) },
		"MatMul":          func() { _ = b.MatMul(y, x, 1, w) },
		"Embed":           func() { _ = b.Embed(y, w, []int32{0}) },
		"RMSNorm":         func() { _ = b.RMSNorm(x, x, 1, v, 1) },
		"AddBias":         func() { _ = b.AddBias(x, 1, v) },
		"Copy too wide":   func() { _ = b.Copy(x, x, 1, compute.Block{Col: 1}) },
		"Copy too far":    func() { _ = b.Copy(x, x, 2, compute.Block{From: 1}) },
		"RoPE":            func() { _ = b.RoPE(x, 1, compute.Rope{Heads: 1, HeadDim: 8, Dim: 8, Position: 0}) },
		"Attend too late": func() { _ = b.Attend(x, x, x, x, 1, cache, compute.Attention{Heads: 1, HeadDim: 8, Position: 1}) },
		"Attend heads":    func() { _ = b.Attend(x, x, x, x, 1, cache, compute.Attention{Heads: 2, HeadDim: 4}) },
		"Buffer":          func() { _, _ = b.Buffer(0, 1) },
		"Cache":           func() { _, _ = b.Cache(compute.CacheShape{}) },
		"Row":             func() { _ = logits.Row(2, make([]float32, 8)) },
		"Argmax":          func() { _ = logits.Argmax(make([]int32, 1)) },
		"KeyValue":        func() { _ = cache.KeyValue(0, 0, nil, nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("did not panic")
				}
			}()
			call()
		})
	}
	if err := b.Attend(x, x, x, x, 2, cache, compute.Attention{Heads: 1, HeadDim: 8, Scale: 1}); err != nil {
		t.Error(err)
	}
}

func TestAttendBeyondTheCache(t *testing.T) {
	b := New(1)
	defer b.Close()
	x, _ := b.Buffer(3, 8)
	cache, _ := b.Cache(compute.CacheShape{Layers: 1, Tokens: 2, KVHeads: 1, HeadDim: 8})
	if err := b.Attend(x, x, x, x, 3, cache, compute.Attention{Heads: 1, HeadDim: 8}); err == nil {
		t.Error("three tokens went into a cache of two")
	}
}

// The file's bytes of a copied weight are given back piece by piece, completely and in order.
func TestQuantisedWeightIsGivenBack(t *testing.T) {
	b := New(2)
	defer b.Close()
	const rows, cols, blockBytes = 70_000, 256, 34 // more than one piece, and a last panel that is not full
	data := make([]byte, rows*cols/32*blockBytes)
	for r := range rows { // each row holds the last bits of its number
		for at := range cols / 32 {
			block := data[(r*cols/32+at)*blockBytes:][:blockBytes]
			block[1], block[2] = 0x3c, byte(r)&0x7f
		}
	}
	done, pieces := 0, 0
	w, err := b.Matrix(context.Background(), compute.Weight{Name: "w", Type: compute.Q8_0, Rows: rows, Cols: cols, Data: data, Done: func(from, to int) {
		if from != done || to <= from {
			t.Errorf("bytes %d to %d were given back after %d", from, to, done)
		}
		clear(data[from:to])
		done, pieces = to, pieces+1
	}})
	if err != nil || done != len(data) || pieces < 2 {
		t.Fatalf("%d of %d bytes in %d pieces, error %v", done, len(data), pieces, err)
	}
	x, _ := b.Buffer(1, cols)
	for _, r := range []int{0, 31, 65_535, rows - 1} {
		if err := b.Embed(x, w, []int32{int32(r)}); err != nil {
			t.Fatal(err)
		}
		if got := x.(*buffer).data[cols-32]; got != float32(r&0x7f) {
			t.Errorf("row %d begins its last block with %v", r, got)
		}
	}
}

// A gate of one row, as Qwen's mixtures have, would otherwise take the way without a kernel.
func TestAMatrixOfFewRowsIsPaddedForTheKernels(t *testing.T) {
	b := New(1)
	defer b.Close()
	w, err := b.Matrix(context.Background(), compute.Weight{Name: "w", Type: compute.F32, Rows: 1, Cols: 64, Data: make([]byte, 4*64)})
	if err != nil {
		t.Fatal(err)
	}
	if got := w.(*matrix); len(got.data) != 4*4*64 || got.Rows() != 1 {
		t.Errorf("%d bytes of %d rows, want 1 row and the bytes of 4", len(got.data), got.Rows())
	}
}
