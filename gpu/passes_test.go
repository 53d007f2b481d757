package gpu

import (
	"context"
	options "flag" // flag is a function of this package
	"fmt"
	"os"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

var updatePasses = options.Bool("update-passes", false, "write gpu/check/model/passes.txt")

// empty is a backend that reserves memory for weights and packs none.
type empty struct{ *Backend }

func (b empty) Matrix(_ context.Context, w compute.Weight) (compute.Matrix, error) {
	memory, err := b.alloc(w.Name, b.MatrixBytes(w))
	return &matrix{memory: memory, rows: w.Rows, cols: w.Cols, format: formatOf(w.Type)}, err
}

// tokensBefore is how many tokens are in the cache before a pass.
const tokensBefore = 512

// The launches of passes of real shapes are those that gpu/check/model estimates the time of.
func TestEstimatedPassesAreTheProgrammes(t *testing.T) {
	const path = "check/model/passes.txt"
	var text strings.Builder
	text.WriteString("# Launches of passes with 512 tokens in the cache, made by: go test ./gpu -run TestEstimatedPasses -update-passes\n" +
		"# count, kernel, blocks, threads, bytes of weights, keys and values that each reads\n")
	for _, name := range []string{"qwen3-0.6b", "qwen3-8b"} {
		for _, typ := range []compute.DType{compute.Q4_K, compute.Q8_0, compute.F16} {
			shape, err := random.ShapeNamed(name)
			if err != nil {
				t.Fatal(err)
			}
			shape.Untied = false // its table has the size of the output matrix, and is read instead
			fewer, more := shape, shape
			fewer.Layers, more.Layers = 2, 3
			two, three := passesOfShape(t, fewer, typ), passesOfShape(t, more, typ)
			for i, l := range two {
				fmt.Fprintf(&text, "pass %s %s %d\n", name, gguf.TypeName(typ), passRows[i])
				l.grow(three[i], shape.Layers-2)
				l.write(&text)
			}
		}
	}
	if *updatePasses {
		if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != text.String() {
		t.Errorf("passes have other launches than %s: if that is meant, run this test with -update-passes", path)
	}
}

// passRows are the numbers of rows: of decoding, verification and reading a prompt.
var passRows = []int{1, 5, 9, 17, 128, 512}

// passesOfShape returns the launches of a pass for each of passRows.
func passesOfShape(t *testing.T, shape random.Shape, typ compute.DType) (all []*launches) {
	t.Helper()
	d := newRecorder(t)
	d.total = 1 << 40
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}()
	m, err := model.Load(t.Context(), empty{b}, hollowFile(t, shape, typ), model.Options{MaxTokens: 1100, MaxRows: 17, PrefillRows: promptRows, CacheType: compute.F16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	for _, rows := range passRows {
		l := &launches{keyBytes: 4 * shape.KVHeads * shape.HeadDim * (tokensBefore + rows), count: map[string]int{}}
		if err := cache.Truncate(0); err != nil {
			t.Fatal(err)
		}
		if err := cache.Advance(tokensBefore); err != nil {
			t.Fatal(err)
		}
		d.onRun = l.add
		pass, scored := m.Forward, rows
		if rows > m.Config().MaxRows { // only the last token of a prompt is scored
			pass, scored = func(ctx context.Context, c compute.Cache, ids []int32) (compute.Logits, error) {
				return m.Prefill(ctx, c, ids, nil)
			}, 1
		}
		logits, err := pass(t.Context(), cache, make([]int32, rows))
		if err != nil {
			t.Fatal(err)
		}
		if err := logits.Argmax(make([]int32, scored)); err != nil {
			t.Fatal(err)
		}
		d.onRun = nil
		all = append(all, l)
	}
	return all
}

// launches counts equal launches, in the order in which they first come.
type launches struct {
	keyBytes int // of keys and values that attention reads
	order    []string
	count    map[string]int
}

func (l *launches) add(kernel string, shape driver.Shape, arguments []driver.Argument) {
	also := alsoDone(kernel, shape, arguments)
	if strings.HasPrefix(kernel, "attend_") {
		shape.Grid[1] = int(int32(arguments[keyHeads])) // without the extra blocks, which compute nothing
	}
	blocks := 1
	for _, n := range shape.Grid {
		blocks *= max(1, n)
	}
	bytes := l.read(kernel, arguments)
	// Launches with matrices of other sizes are counted apart.
	launch := fmt.Sprintf("%s%s %d %d %d", kernel, also, blocks, shape.Block[0], bytes)
	if l.count[launch] == 0 {
		l.order = append(l.order, launch)
	}
	l.count[launch]++
}

// read returns how many bytes of weights, keys and values a launch reads.
func (l *launches) read(kernel string, arguments []driver.Argument) (bytes int) {
	if strings.HasPrefix(kernel, "attend_") {
		return l.keyBytes
	}
	for _, f := range cuda.Packed() {
		if strings.HasPrefix(kernel, "matmul_"+f.Name+"_") {
			slabs := int(int32(arguments[4*cuda.MostJoined+2]))
			for i := range cuda.MostJoined {
				bytes += f.Bytes(int(int32(arguments[4*i+1])), slabs*f.Columns)
			}
		}
	}
	return bytes
}

// Arguments of attend_half_*; keyHeads also of attend_float.
const keyHeads, form, fresh = 8, 15, 20

// alsoDone names the work of other kernels that a launch also does, and "ahead" if it fetches weights.
func alsoDone(kernel string, shape driver.Shape, arguments []driver.Argument) (names string) {
	switch at := 4*cuda.MostJoined + 3; {
	case strings.HasPrefix(kernel, "matmul_") && len(arguments) > at:
		return map[int32]string{cuda.SumEpilogue: "+sum", cuda.SwiGLUEpilogue: "+swiglu"}[int32(arguments[at])]
	case strings.HasPrefix(kernel, "attend_half_"):
		if !strings.HasSuffix(kernel, "_wide") && arguments[fresh] != 0 {
			names += "+heads"
		}
		if int32(arguments[form]) != cuda.NoOperand {
			names += "+combine"
		}
		if shape.Grid[1] > int(int32(arguments[keyHeads])) {
			names += "+ahead"
		}
	}
	return names
}

// grow adds layers to a pass, each with the launches by which a larger pass exceeds it.
func (l *launches) grow(more *launches, layers int) {
	for _, name := range more.order {
		if l.count[name] == 0 {
			l.order = append(l.order, name)
		}
		l.count[name] += layers * (more.count[name] - l.count[name])
	}
}

func (l *launches) write(text *strings.Builder) {
	for _, name := range l.order {
		fmt.Fprintf(text, "%d %s\n", l.count[name], name)
	}
}
