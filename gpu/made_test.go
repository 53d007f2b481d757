//go:build cuda && linux && cgo

package gpu

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
	"specula/gpu/driver"
	"specula/gpu/driver/emulated"
	"specula/kernels/cuda"
)

// made is a backend that makes weights on the device instead of reading them from a file: a few
// hundred rows of noise for each width, copied on the device until a matrix is full. So a model of
// any size is loaded within a second.
type made struct {
	*Backend
	rows map[madeKey]driver.Pointer // the noise
}

type madeKey struct {
	typ  compute.DType
	cols int
}

// madeRows rows of noise are 16 tiles.
const madeRows = 256

func (b *made) Matrix(_ context.Context, w compute.Weight) (compute.Matrix, error) {
	f := formatOf(w.Type)
	tiles, tileBytes := cuda.Tiles(w.Rows), int64(f.Bytes(tileRows, w.Cols))
	noise, err := b.noise(f, madeKey{w.Type, w.Cols})
	if err != nil {
		return nil, err
	}
	memory, err := b.alloc(fmt.Sprintf("tensor %q", w.Name), b.MatrixBytes(w))
	if err != nil {
		return nil, err
	}
	err = b.onDevice(func() error {
		if err := b.uploads.join(b.device, b.stream); err != nil {
			return err
		}
		for tile := 0; tile < tiles; tile += madeRows / tileRows {
			bytes := int64(min(madeRows/tileRows, tiles-tile)) * tileBytes
			if err := b.device.Copy(b.stream, memory+driver.Pointer(int64(tile)*tileBytes), noise,
				bytes); err != nil {
				return err
			}
		}
		return nil
	})
	return &matrix{memory: memory, rows: w.Rows, cols: w.Cols, format: f}, err
}

func (b *made) noise(f *cuda.Format, k madeKey) (driver.Pointer, error) {
	if p := b.rows[k]; p != 0 {
		return p, nil
	}
	source, err := random.Rows(k.typ, madeRows, k.cols)
	if err != nil {
		return 0, err
	}
	packed := make([]byte, f.Bytes(madeRows, k.cols))
	if err := f.Pack(packed, source, madeRows, k.cols); err != nil {
		return 0, err
	}
	p, err := b.alloc("noise", int64(len(packed)))
	if err != nil {
		return 0, err
	}
	for at := 0; at < len(packed); at += pieceBytes {
		piece := packed[at:min(at+pieceBytes, len(packed))]
		if err := b.uploads.send(b.Backend, p+driver.Pointer(at), len(piece),
			func(to []byte) { copy(to, piece) }); err != nil {
			return 0, err
		}
	}
	b.rows[k] = p
	return p, nil
}

// Vector makes ones, as random model files have them.
func (b *made) Vector(name string, data []float32) (compute.Vector, error) {
	ones := make([]float32, len(data))
	for i := range ones {
		ones[i] = 1
	}
	return b.Backend.Vector(name, ones)
}

// openMade opens the GPU, or its emulation.
func openMade(t testing.TB) *made {
	t.Helper()
	emulated.Use(t)
	d, err := driver.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return &made{b, map[madeKey]driver.Pointer{}}
}

// tinyShapes reports a rehearsal: a run that only checks that the benchmarks work. Models,
// contexts and vocabularies are then small.
func tinyShapes() bool { return os.Getenv("SPECULA_CHECK_SHAPES") == "tiny" }

// scaled returns n, or tiny in a rehearsal.
func scaled(n, tiny int) int {
	if tinyShapes() {
		return tiny
	}
	return n
}

// shapeOfModel is the published shape of a size such as 8B. In a rehearsal all are tiny, but the
// largest still has an output matrix of its own.
func shapeOfModel(t testing.TB, size string) random.Shape {
	t.Helper()
	s, err := random.ShapeNamed("qwen3-" + map[string]string{"0.6B": "0.6b", "1.7B": "1.7b", "8B": "8b"}[size])
	if err != nil {
		t.Fatal(err)
	}
	if tinyShapes() {
		s = random.Shape{Name: s.Name, Layers: 1, Dim: 256, FFN: 256, Heads: 2, KVHeads: 1, HeadDim: 128,
			Vocab: 1024, Untied: s.Untied}
	}
	return s
}

// subject is a model on the device, with a cache that holds some text.
type subject struct {
	*model.Model
	device *made
	cache  compute.Cache
	ids    []int32
	past   int // tokens in the cache
}

// newSubject makes a model of a size such as 8B, with weights of type typ. It skips the benchmark
// if the device is too small.
func newSubject(b *testing.B, on *made, size string, typ compute.DType, tokens, prefillRows int) *subject {
	b.Helper()
	shape := shapeOfModel(b, size)
	data, err := random.Hollow(shape, typ)
	if err != nil {
		b.Fatal(err)
	}
	file, err := weights.Parse(size+" "+gguf.TypeName(typ), data)
	if err != nil {
		b.Fatal(err)
	}
	m, err := model.Load(b.Context(), on, file,
		model.Options{MaxTokens: tokens, MaxRows: 17, PrefillRows: prefillRows, CacheType: compute.F16}, nil)
	s := &subject{Model: m, device: on}
	if err == nil {
		s.cache, err = m.NewCache()
	}
	if errors.Is(err, compute.ErrOutOfMemory) {
		b.Skip(err)
	}
	if err != nil {
		b.Fatal(err)
	}
	s.ids = make([]int32, tokens)
	for i := range s.ids {
		s.ids[i] = int32(i * 7919 % m.Config().Vocab)
	}
	return s
}

// read fills the cache with tokens tokens.
func (s *subject) read(b *testing.B, tokens int) {
	b.Helper()
	if err := s.cache.Truncate(0); err != nil {
		b.Fatal(err)
	}
	if _, err := s.Prefill(b.Context(), s.cache, s.ids[:tokens], nil); err != nil {
		b.Fatal(err)
	}
	s.past = tokens
}

// pass runs the model over rows tokens after those in the cache, and waits for the best token of
// each.
func (s *subject) pass(b *testing.B, rows int) {
	logits, err := s.Forward(b.Context(), s.cache, s.ids[:rows])
	if err == nil {
		err = logits.Argmax(make([]int32, rows))
	}
	if err == nil {
		err = s.cache.Truncate(s.past)
	}
	if err != nil {
		b.Fatal(err)
	}
}

// readBytes is what a pass must read from memory: every weight of its products once, and all keys
// and values.
func (s *subject) readBytes() float64 {
	c := s.Config()
	bytes := 0.0
	for _, w := range s.products() {
		bytes += float64(w.format.Bytes(w.rows, w.cols))
	}
	return bytes + float64(2*2*c.Layers*s.past*c.KVHeads*c.HeadDim)
}

// products are the matrices that a pass multiplies with.
func (s *subject) products() (list []*matrix) {
	for i, m := range s.Matrices() {
		if i == 0 && !s.Config().TiedOutput {
			continue // the embedding table, of which a pass reads only rows
		}
		list = append(list, m.Taken.(*matrix))
	}
	return list
}
