package gpu

import (
	"errors"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/gpu/driver"
)

// A model that does not fit is refused before anything is reserved for it, and the error names a
// context length that fits.
func TestThePlanIsRefusedBeforeAnythingIsReserved(t *testing.T) {
	d := newRecorder(t)
	d.total = 1 << 20
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	before := d.live["memory"]
	load := func(tokens int) error {
		_, err := model.Load(t.Context(), b, file(t), model.Options{MaxTokens: tokens, MaxRows: 4}, nil)
		return err
	}
	err = load(4096)
	if !errors.Is(err, compute.ErrOutOfMemory) || d.live["memory"] != before {
		t.Fatalf("%d reservations more, and the error is %v", d.live["memory"]-before, err)
	}
	t.Log(err)
	found := regexp.MustCompile(`of which (\d+) tokens would fit`).FindStringSubmatch(err.Error())
	if found == nil {
		t.Fatalf("the error names no context: %v", err)
	}
	fits, _ := strconv.Atoi(found[1])
	if err := load(fits + 1); !errors.Is(err, compute.ErrOutOfMemory) {
		t.Errorf("a context of %d tokens, one more than would fit: %v", fits+1, err)
	}
	if err := load(fits); err != nil {
		t.Errorf("a context of %d tokens, which would fit: %v", fits, err)
	}
}

// A cache type that only the CPU supports is refused; the error says what to choose instead.
func TestCacheTypesOfTheProcessorAreRefused(t *testing.T) {
	b := &Backend{}
	shape := compute.CacheShape{Layers: 2, Tokens: 1000, KVHeads: 2, HeadDim: 64, Type: compute.Q8_0}
	for name, refused := range map[string]func() error{
		"asked":    func() error { return b.CheckCache(shape) },
		"reserved": func() error { _, err := b.Cache(shape); return err },
	} {
		if err := refused(); err == nil ||
			!strings.Contains(err.Error(), "choose --cache f16 or --device cpu") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, typ := range []compute.DType{compute.F32, compute.F16} {
		shape.Type = typ
		if err := b.CheckCache(shape); err != nil {
			t.Errorf("type number %d: %v", typ, err)
		}
	}
	shape.HeadDim = mostFloatKeyDim + 1
	if b.CheckCache(shape) == nil {
		t.Error("a head wider than there is attention for was not refused")
	}
}

// A cache has whole splits.
func TestCacheBytes(t *testing.T) {
	b := &Backend{}
	shape := compute.CacheShape{Layers: 2, Tokens: 1000, KVHeads: 2, HeadDim: 64, Type: compute.F16}
	if got, want := b.CacheBytes(shape), int64(2*2*2*1024*2*64); got != want {
		t.Errorf("a cache in half precision takes %d bytes, want %d", got, want)
	}
	shape.Type = compute.F32
	if got, want := b.CacheBytes(shape), int64(2*4*2*1024*2*64); got != want {
		t.Errorf("a cache takes %d bytes, want %d", got, want)
	}
	shape.Tokens = 1 << 60
	if got := b.CacheBytes(shape); got != -1 {
		t.Errorf("a cache larger than every memory takes %d bytes", got)
	}
}

// The layers of a cache may be unlike: a layer may have no keys and values, values of another length than its
// keys, or heads that are only attended to in float32.
func TestCacheBytesOfUnlikeLayers(t *testing.T) {
	shape := compute.CacheShape{Layers: 4, Tokens: 300, Type: compute.F16, Each: []compute.CacheLayer{
		{KVHeads: 2, KeyDim: 80, ValueDim: 80}, {}, {KVHeads: 1, KeyDim: 72, ValueDim: 72}, {KVHeads: 1, KeyDim: 576, ValueDim: 512},
	}}
	const tokens = 512 // whole splits
	want := int64(2*tokens*2*(96+80) + 4*tokens*(72+72) + 2*tokens*(576+512))
	if got := (&Backend{}).CacheBytes(shape); got != want {
		t.Errorf("the cache takes %d bytes, want %d", got, want)
	}
	at := driver.Pointer(1 << 20)
	for i, l := range layersAt(at, shape) {
		if l.keys != at || l.values != at+driver.Pointer(l.keyBytes()) {
			t.Errorf("layer %d has its keys at %d and its values at %d, want keys at %d", i, l.keys, l.values, at)
		}
		at = l.values + driver.Pointer(l.valueBytes())
	}
	if end := driver.Pointer(1<<20 + want); at != end {
		t.Errorf("the layers end at %d, want %d", at, end)
	}
	shape.Tokens = 1 << 60
	if got := (&Backend{}).CacheBytes(shape); got != -1 {
		t.Errorf("a cache larger than every memory takes %d bytes", got)
	}
}
