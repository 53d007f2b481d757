package lossless_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/engine/weights"
)

// TestLayers looks at each kind of layer that speculation needs care with: routers, states, compressed
// keys, keys of other layers. A tiny model computes what the library transformers computes, one token at
// a time; and rounds of several rows, of which some are refused, give the bits of single tokens, also
// after the text went back over a long pass or to a checkpoint. It is short, since it runs for each
// planted bug; package model has more.
func TestLayers(t *testing.T) {
	for _, name := range []string{"deepseek2", "falcon-h1", "gemma4-shared", "glm4moe", "granitehybrid", "lfm2", "qwen35", "qwen3moe"} {
		t.Run(name, func(t *testing.T) {
			l := openLayers(t, "../model/testdata/architectures/"+name)
			l.matchesTransformers(t)
			l.verifiesAsItDecodes(t)
		})
	}
}

// layers is a tiny model with a cache.
type layers struct {
	model *model.Model
	cache compute.Cache
	known []struct {
		IDs    []int32     `json:"ids"`
		Rows   []int       `json:"rows"`
		Logits [][]float64 `json:"logits"`
	}
}

func openLayers(t *testing.T, path string) *layers {
	t.Helper()
	l := &layers{}
	data, err := os.ReadFile(path + ".json")
	if err == nil {
		err = json.Unmarshal(data, &l.known)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := weights.Parse(path, modeltest.Unpack(t, path+".gguf.gz"))
	if err != nil {
		t.Fatal(err)
	}
	backend := host.New(1)
	t.Cleanup(func() { _ = backend.Close() })
	if l.model, err = model.Load(t.Context(), backend, file, model.Options{MaxTokens: 64, MaxRows: 5, PrefillRows: 16}, nil); err != nil {
		t.Fatal(err)
	}
	if l.cache, err = l.model.NewCache(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.cache.Close() })
	return l
}

// pass returns a row of scores for each of ids.
func (l *layers) pass(t *testing.T, ids ...int32) (rows [][]float32) {
	t.Helper()
	logits, err := l.model.Forward(t.Context(), l.cache, ids)
	for i := 0; err == nil && i < len(ids); i++ {
		row := make([]float32, logits.Vocab())
		err = logits.Row(i, row)
		rows = append(rows, row)
	}
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func (l *layers) back(t *testing.T, n int) {
	t.Helper()
	if err := l.cache.Truncate(n); err != nil {
		t.Fatal(err)
	}
}

func (l *layers) matchesTransformers(t *testing.T) {
	t.Helper()
	known := l.known[0]
	for i, id := range known.IDs {
		row := l.pass(t, id)[0]
		at := slices.Index(known.Rows, i)
		for v := 0; at >= 0 && v < len(row); v++ {
			if diff := math.Abs(float64(row[v]) - known.Logits[at][v]); !(diff <= 5e-5) {
				t.Fatalf("token %d: logit %d is %v, transformers has %v", i, v, row[v], known.Logits[at][v])
			}
		}
	}
	l.back(t, 0)
}

func (l *layers) verifiesAsItDecodes(t *testing.T) {
	t.Helper()
	const most, rows = 40, 5
	rng := rand.New(rand.NewPCG(3, 9))
	text := make([]int32, most)
	for i := range text {
		text[i] = int32(rng.IntN(l.model.Config().Vocab))
	}
	var want [][]float32
	for _, id := range text {
		want = append(want, l.pass(t, id)...)
	}
	l.back(t, 0)
	for at := 0; at < most-rows; {
		kept := 1 + rng.IntN(rows)
		draft := slices.Clone(text[at : at+rows])
		for i := kept; i < rows; i++ {
			draft[i] = (draft[i] + 1) % int32(l.model.Config().Vocab)
		}
		l.same(t, fmt.Sprintf("a round at %d", at), l.pass(t, draft...)[:kept], want[at:])
		at += kept
		l.back(t, at)
	}
	l.back(t, 0)
	const short, long = 7, 23
	l.read(t, text[:short])
	if err := compute.Checkpoint(l.cache); err != nil {
		t.Fatal(err)
	}
	for _, through := range []int{short + 16, short + 30} { // back over a long pass, and to the checkpoint
		l.read(t, text[short:through])
		l.back(t, short)
		l.same(t, fmt.Sprintf("after reading to %d and going back to %d", through, short), l.pass(t, text[short:short+rows]...), want[short:])
		l.back(t, short)
	}
	l.read(t, text[short:long])
	l.same(t, "read on", l.pass(t, text[long:long+rows]...), want[long:])
}

func (l *layers) read(t *testing.T, ids []int32) {
	t.Helper()
	if _, err := l.model.Prefill(t.Context(), l.cache, ids, nil); err != nil {
		t.Fatal(err)
	}
}

func (l *layers) same(t *testing.T, what string, got, want [][]float32) {
	t.Helper()
	for i := range got {
		if !slices.Equal(got[i], want[i]) {
			t.Fatalf("%s: row %d differs from a single step", what, i)
		}
	}
}
