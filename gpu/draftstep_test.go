package gpu

import (
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
)

// A draft step of 28 layers takes at most 150 launches: five a layer; the embedding, its norm, the last norm and
// the output product; and what chooses or draws the token. Penalties add none: they edit the rows of the verdict only. F16
// weights are not counted: their products read rows in a form that kernels before them cannot write.
func TestLaunchesOfADraftStep(t *testing.T) {
	const layers, most = 28, 150
	filtered := compute.Filters{Temperature: 0.8, TopK: 40, TopP: 0.95}
	draws := []*compute.Sampling{nil, {Draft: compute.Filters{Temperature: 0.8, TopP: 1}}, {Draft: filtered, Keep: 8}}
	names := []string{"greedy", "sampled", "top-k and top-p, scores kept for the screen"}
	for _, typ := range []compute.DType{compute.Q4_K, compute.Q8_0, compute.BF16} {
		two, three := launchesOfDraftSteps(t, 2, typ, draws), launchesOfDraftSteps(t, 3, typ, draws)
		for i, want := range []int{146, 147, 150} {
			if got := two[i] + (layers-2)*(three[i]-two[i]); got != want || got > most {
				t.Errorf("%s, %s: %d launches, want %d and at most %d", gguf.TypeName(typ), names[i], got, want, most)
			}
		}
	}
}

// launchesOfDraftSteps is by how many launches and copies a chain exceeds one that is a token shorter, for each
// kind of draw.
func launchesOfDraftSteps(t *testing.T, layers int, typ compute.DType, draws []*compute.Sampling) (steps []int) {
	t.Helper()
	shape, err := random.ShapeNamed("qwen3-0.6b")
	if err != nil {
		t.Fatal(err)
	}
	shape.Layers = layers
	d := newRecorder(t)
	d.total = 1 << 40
	b, err := newBackend(d)
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(t.Context(), empty{b}, hollowFile(t, shape, typ), model.Options{MaxTokens: 600, MaxRows: 9, CacheType: compute.F16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	tokens, err := m.Tokens(9)
	if err != nil {
		t.Fatal(err)
	}
	chain := func(n int, by *compute.Sampling) (launches int) {
		if err := m.Chain(t.Context(), cache, []int32{3}, n, tokens, by); err != nil {
			t.Fatal(err)
		}
		if err := b.onDevice(func() error { return nil }); err != nil { // wait for the device's thread
			t.Fatal(err)
		}
		for _, what := range d.log {
			if !strings.HasPrefix(what, "up ") && !strings.HasPrefix(what, "wait") {
				launches++
			}
		}
		d.log = nil
		return launches
	}
	for _, by := range draws {
		if by != nil {
			by.Drafts, by.Vocab = 8, m.Config().Vocab
		}
		chain(1, by) // reserves memory
		steps = append(steps, chain(5, by)-chain(4, by))
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return steps
}
