package gpu

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/engine/weights"
	"specula/engine/weights/random"
	"specula/kernels/format"
)

// forTheCheckAlone is the kernel that no model uses: it measures what a card can do.
const forTheCheckAlone = "matrix_peak"

// Every kernel of the modules is launched by a pass or a round of some model: a kernel that no program can
// reach must be deleted.
func TestEveryKernelIsReached(t *testing.T) {
	reached := map[string]int{forTheCheckAlone: 0}
	collect := func(what string, use func(d *recorder) error) {
		t.Helper()
		d := newRecorder(t)
		d.card.Multiprocessors = 4 // so few that attention of many rows needs blocks of several tiles
		if err := use(d); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		maps.Copy(reached, d.prepared)
	}
	collect("a round", func(d *recorder) error { return use(t, d, file(t)) })
	for _, f := range format.Loadable() {
		shape := smallest
		shape.Layers, shape.Dim, shape.FFN, shape.Heads, shape.KVHeads, shape.HeadDim = 2, 512, 512, 4, 2, 128
		collect(f.Name, func(d *recorder) error {
			return passesOf(t, d, hollowFile(t, shape, compute.DType(f.Type)), compute.F16)
		})
		shape.Experts, shape.Used = 4, 2
		collect(f.Name+" with experts", func(d *recorder) error {
			return passesOf(t, d, hollowFile(t, shape, compute.DType(f.Type)), compute.F16)
		})
	}
	for dim := range tensorHeads {
		shape := smallest
		shape.HeadDim = dim
		collect("heads", func(d *recorder) error { return passesOf(t, d, hollowFile(t, shape, compute.Q8_0), compute.F16) })
	}
	latent, err := random.ShapeNamed("tiny-latent")
	if err != nil {
		t.Fatal(err)
	}
	collect("compressed keys", func(d *recorder) error { return passesOf(t, d, hollowFile(t, latent, compute.Q8_0), compute.F16) })
	families, err := filepath.Glob("../engine/model/testdata/architectures/*.gguf.gz")
	if err != nil || len(families) == 0 {
		t.Fatalf("no fixtures: %v", err)
	}
	for _, path := range families {
		for _, cacheType := range []compute.DType{compute.F32, compute.F16} {
			collect(path, func(d *recorder) error {
				err := passesOf(t, d, fixture(t, path), cacheType)
				if errors.Is(err, compute.ErrLacks) {
					return nil // a family that only the processor computes launches nothing
				}
				return err
			})
		}
	}
	collect("single operations", withoutRotation)
	texts, err := kernelTexts()
	if err != nil {
		t.Fatal(err)
	}
	all := newLibrary(nil, texts, nil).home
	for _, kernel := range slices.Sorted(maps.Keys(all)) {
		if _, ok := reached[kernel]; !ok {
			t.Errorf("nothing launches %s of the module %s", kernel, all[kernel])
		}
	}
	t.Logf("%d of %d kernels are launched", len(reached), len(all))
}

// withoutRotation launches two kernels that no fixture reaches: that of layers without positions on
// wide heads, and the one activation of compute.Extra that every family of today uses with a gate only.
func withoutRotation(d *recorder) (err error) {
	b, err := newBackend(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	x, err := b.Buffer(1, 128)
	if err != nil {
		return err
	}
	cache, err := b.Cache(compute.CacheShape{Layers: 1, Tokens: 1, KVHeads: 1, HeadDim: 128, Type: compute.F16})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	return errors.Join(b.Attend(x, x, x, x, 1, cache, compute.Attention{Heads: 1, HeadDim: 128, Scale: 1}), b.Activate(x, nil, 1, compute.SiLU))
}

// passesOf loads a model and makes passes of 1 row to many, and a greedy round if its tokens can stay on the
// device.
func passesOf(t *testing.T, d *recorder, f *weights.File, cacheType compute.DType) (err error) {
	b, err := newBackend(d)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	const most = 40 // rows of the largest pass: more than kernels of few rows take
	m, err := model.Load(t.Context(), b, f,
		model.Options{MaxTokens: 64, MaxRows: most, CacheType: cacheType}, nil)
	if err != nil {
		return err
	}
	cache, err := m.NewCache()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cache.Close()) }()
	for _, rows := range []int{1, 9, 17, most} {
		if _, err := m.Forward(t.Context(), cache, make([]int32, rows)); err != nil {
			return err
		}
		if err := cache.Truncate(0); err != nil {
			return err
		}
	}
	if _, err := m.Prefill(t.Context(), cache, make([]int32, most), nil); err != nil {
		return err
	}
	width := m.CacheLayer(0)
	if m.Feeds() {
		err = greedyRound(t, m, cache)
	}
	return errors.Join(err, cache.KeyValue(0, 1, make([]float32, width.KeyNumbers()), make([]float32, width.ValueNumbers())))
}

// greedyRound drafts two tokens and verifies them in edited and masked rows, which it ranks.
func greedyRound(t *testing.T, m *model.Model, cache compute.Cache) error {
	tokens, err := m.Tokens(4)
	if err != nil {
		return err
	}
	defer tokens.Close()
	if err := m.Chain(t.Context(), cache, []int32{3}, 2, tokens, nil); err != nil {
		return err
	}
	logits, err := m.ForwardTokens(t.Context(), tokens, 3, cache)
	if err != nil {
		return err
	}
	edits := compute.NewEdits()
	edits.Repeat, edits.Allowed = 1.1, make([]uint64, 3*compute.MaskWords(logits.Vocab()))
	if err := first(tokens.Edit(edits), tokens.Rank(3)); err != nil {
		return err
	}
	_, err = logits.(compute.Judge).AcceptBest(tokens, make([]int32, 2))
	return err
}

func hollowFile(t *testing.T, shape random.Shape, typ compute.DType) *weights.File {
	t.Helper()
	data, err := random.Hollow(shape, typ)
	if err != nil {
		t.Fatal(err)
	}
	f, err := weights.Parse(shape.Name, data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// fixture is a tiny model of a family.
func fixture(t *testing.T, path string) *weights.File {
	t.Helper()
	f, err := weights.Parse(path, modeltest.Unpack(t, path))
	if err != nil {
		t.Fatal(err)
	}
	return f
}
