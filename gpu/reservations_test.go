package gpu

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

// planning is a backend that lists what the plan of a model asked about, and what was then made.
type planning struct {
	*Backend
	asked, made map[string]bool
}

func (p planning) RoutingBytes(rows int, r compute.Router) int64 {
	p.asked[fmt.Sprint(rows, r)] = true
	return p.Backend.RoutingBytes(rows, r)
}

func (p planning) Routing(rows int, r compute.Router) (compute.Routing, error) {
	p.made[fmt.Sprint(rows, r)] = true
	return p.Backend.Routing(rows, r)
}

func (p planning) MatrixBytes(w compute.Weight) int64 {
	p.asked[fmt.Sprint(w.Name, w.Rows, w.Cols)] = true
	return p.Backend.MatrixBytes(w)
}

func (p planning) Matrix(ctx context.Context, w compute.Weight) (compute.Matrix, error) {
	p.made[fmt.Sprint(w.Name, w.Rows, w.Cols)] = true
	return p.Backend.Matrix(ctx, w)
}

// load loads a model on a device with that much memory, and makes a cache. It returns the most memory that was
// reserved at once, the device's own left out.
func (p planning) load(t *testing.T, name string, total int64) (int64, error) {
	t.Helper()
	d := newRecorder(t)
	d.total = total
	var err error
	if p.Backend, err = newBackend(d); err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	own := d.bytes()
	m, err := model.Load(t.Context(), p, fixture(t, "../engine/model/testdata/architectures/"+name+".gguf.gz"),
		model.Options{MaxTokens: 128, MaxRows: 9, PrefillRows: 64, CacheType: compute.F32}, nil)
	if err != nil {
		return 0, err
	}
	cache, err := m.NewCache()
	if err != nil {
		return 0, err
	}
	return d.most - own, cache.Close()
}

// What a model reserves when it is loaded is in the plan that is made before: each matrix and each choice of
// experts or heads was asked about, and a device with just the planned memory is large enough. The models have
// experts with compressed keys, experts in layers of unlike heads, and embeddings for each layer.
func TestThePlanCoversWhatIsReserved(t *testing.T) {
	for _, name := range []string{"deepseek2-flash", "gemma4-experts", "gemma4-embeddings"} {
		t.Run(name, func(t *testing.T) { planCovers(t, name) })
	}
}

func planCovers(t *testing.T, name string) {
	p := planning{nil, map[string]bool{}, map[string]bool{}}
	planned := int64(sort.Search(1<<26, func(n int) bool {
		_, err := p.load(t, name, int64(n))
		if err != nil && !errors.Is(err, compute.ErrOutOfMemory) {
			t.Fatal(err)
		}
		return err == nil
	}))
	if got, err := p.load(t, name, planned); err != nil || got > planned || got < planned/4 {
		t.Errorf("%d bytes were reserved, planned were %d: %v", got, planned, err)
	}
	for what := range p.made {
		if !p.asked[what] {
			t.Errorf("%s was made and is not in the plan", what)
		}
	}
}

// What the drafter of Gemma 4 and a session with it reserve is in the plan of the drafter, which keeps memory for the
// target's cache.
func TestThePlanCoversADrafter(t *testing.T) {
	const name = "gemma4-shared.gguf.gz"
	load := func(free int64) (reserved int64, err error) {
		d := newRecorder(t)
		b, err := newBackend(d)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		target, err := model.Load(t.Context(), b, fixture(t, families+name), model.Options{MaxTokens: 64, MaxRows: 9, CacheType: compute.F32}, nil)
		if err != nil {
			t.Fatal(err)
		}
		before := d.bytes()
		d.total = free
		head, err := model.LoadAssistant(t.Context(), target, fixture(t, "../engine/model/testdata/assistants/"+name),
			model.Options{MaxTokens: 64, Reserved: target.Config().CacheBytes})
		if err != nil {
			return 0, err
		}
		cache, err := target.NewCache()
		if err == nil {
			_, err = head.Assistant.NewState(cache)
		}
		if err != nil {
			t.Fatal(err)
		}
		return d.bytes() - before, nil
	}
	planned := int64(sort.Search(1<<26, func(n int) bool {
		_, err := load(int64(n))
		if err != nil && !errors.Is(err, compute.ErrOutOfMemory) {
			t.Fatal(err)
		}
		return err == nil
	}))
	if got, err := load(planned); err != nil || got > planned || got < planned/4 {
		t.Errorf("%d bytes were reserved, planned were %d: %v", got, planned, err)
	}
}

// The scratch of attention of a drafter has room for all its heads, even if the target has fewer.
func TestScratchOfADrafterWithManyHeads(t *testing.T) {
	d := newRecorder(t)
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	const heads, dim, tokens = 40, 16, 300
	each := []compute.CacheLayer{{KVHeads: 1, KeyDim: dim, ValueDim: dim}}
	cache, err := b.Cache(compute.CacheShape{Layers: 1, Tokens: tokens, Heads: 1, Each: each})
	if err != nil {
		t.Fatal(err)
	}
	must(t, b.ReservePast(compute.CacheShape{Layers: 1, Tokens: tokens, Heads: heads, Each: each}))
	x, err := b.Buffer(1, heads*dim)
	must(t, errors.Join(err, cache.Advance(tokens)))
	must(t, b.AttendPast(x, x, cache, compute.Attention{Position: tokens, Heads: heads, HeadDim: dim, Scale: 1}))
}

// The scratch of attention has room for one row with all its heads, even if there are more for a key head than
// models usually have.
func TestScratchOfManyHeads(t *testing.T) {
	shape := compute.CacheShape{Layers: 1, Tokens: 1 << 17, Heads: 128, Each: []compute.CacheLayer{{KVHeads: 1, KeyDim: 576, ValueDim: 512}}}
	const splits, numbers = 1 << 17 / keysPerSplit, 512 + 2
	if got, least := attentionBytes(shape, 1), int64(shape.Heads*splits*numbers*floatBytes); got < least {
		t.Errorf("the scratch has %d bytes, a row needs %d", got, least)
	}
}
