//go:build cuda && linux && cgo

package gpu_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"specula/engine"
	"specula/engine/compute"
	"specula/engine/config"
	"specula/engine/event"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/model/modeltest"
)

// wide is a model of heads as wide as those of real files. So attention has kernels of two widths for keys and values
// in half precision.
func wide(typ compute.DType) []byte {
	return modeltest.Gemma4{Layers: 4, Vocab: 128, Near: 256, Far: 512, Own: 32}.Bytes(typ, nil)
}

// The law of rows holds in layers of unlike widths, too. Rows that were rejected lie after the last token.
func TestUnlikeLayersInHalfPrecision(t *testing.T) {
	m := load(t, open(t), wide(compute.Q8_0), model.Options{MaxTokens: 300, MaxRows: 16, PrefillRows: 128, CacheType: compute.F16})
	cache, after := wideCache(t, m, 248) // over the border of a split
	want := scoresAfter(t, m, cache, after, 1)
	for _, rows := range []int{2, 5, 9, len(after)} {
		for i, row := range scoresAfter(t, m, cache, after, rows) {
			if !slices.Equal(row, want[i]) {
				t.Fatalf("row %d of a pass of %d has other bits than alone", i, rows)
			}
		}
	}
}

func TestUnlikeLayersAreNearThoseOfTheProcessor(t *testing.T) {
	var both [2][][]float32
	for i, b := range []compute.Backend{open(t), host.New(1)} {
		m := load(t, b, wide(compute.F16), model.Options{MaxTokens: 300, MaxRows: 16, PrefillRows: 128, CacheType: []compute.DType{compute.F16, compute.F32}[i]})
		cache, after := wideCache(t, m, 20)
		both[i] = scoresAfter(t, m, cache, after, len(after))
	}
	worst, largest := float32(0), float32(0)
	for i, row := range both[1] {
		for v, score := range row {
			worst, largest = max(worst, score-both[0][i][v], both[0][i][v]-score), max(largest, score, -score)
		}
	}
	t.Logf("scores of up to %.1f differ by at most %.1g", largest, worst)
	if !(worst < 1e-2*largest) {
		t.Errorf("scores differ by %g from those of the processor, which are up to %g", worst, largest)
	}
}

// wideCache returns a cache with this many tokens, and tokens to come after them.
func wideCache(t *testing.T, m *model.Model, before int) (compute.Cache, []int32) {
	t.Helper()
	cache, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cache.Close() })
	ids := make([]int32, before+16)
	for i := range ids {
		ids[i] = int32(i * 31 % 128)
	}
	if _, err := m.Prefill(t.Context(), cache, ids[:before], nil); err != nil {
		t.Fatal(err)
	}
	return cache, ids[before:]
}

// scoresAfter runs ids after the cache, in passes of this many rows, and cuts the cache back.
func scoresAfter(t *testing.T, m *model.Model, cache compute.Cache, ids []int32, rows int) (scores [][]float32) {
	t.Helper()
	before := cache.Len()
	for at := 0; at < len(ids); at += rows {
		part := ids[at:min(at+rows, len(ids))]
		logits, err := m.Forward(t.Context(), cache, part)
		if err != nil {
			t.Fatal(err)
		}
		for i := range part {
			row := make([]float32, logits.Vocab())
			if err := logits.Row(i, row); err != nil {
				t.Fatal(err)
			}
			scores = append(scores, row)
		}
	}
	if err := cache.Truncate(before); err != nil {
		t.Fatal(err)
	}
	return scores
}

// Greedy replies of Gemma 4 are the same with and without drafts.
func TestRepliesOfUnlikeLayers(t *testing.T) {
	for _, own := range []int{0, 32} {
		t.Run(fmt.Sprintf("embeddings of %d", own), func(t *testing.T) {
			of := func(layers int) []byte {
				return modeltest.Gemma4{Layers: layers, Vocab: 1024, Near: 64, Far: 128, Own: own, Experts: 4}.Bytes(compute.Q8_0, func(n *modeltest.Noisy) { n.Vocabulary(1024) })
			}
			e, err := engine.Load(t.Context(), engine.Options{
				Config: config.Default(), Backend: open(t), Now: time.Now, NewSeed: func() int64 { return 1 },
				Target: engine.Source{Name: "target", Embedded: of(4)}, Draft: engine.Source{Name: "draft", Embedded: of(3)},
			}, func(event.Event) {})
			if err != nil {
				t.Fatal(err)
			}
			s, err := e.NewSession(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			set(t, s, "temperature", "0", "max-tokens", "24", "gamma-rule", "fixed", "gamma", "3")
			drafted := ask(t, s, "who are you?")
			set(t, s, "speculate", "false")
			plain := ask(t, s, "who are you?")
			if drafted.failed != "" || !slices.Equal(drafted.ids, plain.ids) || len(plain.ids) < 8 {
				t.Errorf("with speculation %v %v, without %v", drafted.ids, drafted.failed, plain.ids)
			}
			t.Logf("%d rounds instead of %d", len(drafted.rounds), len(plain.rounds))
		})
	}
}
