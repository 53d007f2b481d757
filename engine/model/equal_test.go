package model_test

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/random"
)

// randomIDs draws n tokens.
func randomIDs(n, vocab int, seed uint64) []int32 {
	random := rand.New(rand.NewPCG(seed, 0))
	ids := make([]int32, n)
	for i := range ids {
		ids[i] = int32(random.IntN(vocab))
	}
	return ids
}

// record is what a model computes for a text: logits of some rows, and keys and values of every token in every
// layer.
type record struct {
	scores [][]float32
	keys   [][]float32 // at layer·tokens + token, with the number of tokens of the text
	values [][]float32
}

func scoresOf(t testing.TB, logits compute.Logits) (rows [][]float32) {
	t.Helper()
	for i := range logits.Rows() {
		row := make([]float32, logits.Vocab())
		if err := logits.Row(i, row); err != nil {
			t.Fatal(err)
		}
		rows = append(rows, row)
	}
	return rows
}

// addCache appends the keys and values of the cache's tokens from index from on.
func (r *record) addCache(t testing.TB, m *model.Model, cache compute.Cache, from int) {
	t.Helper()
	c := m.Config()
	for layer := range c.Layers {
		for token := from; token < cache.Len(); token++ {
			key, value := make([]float32, m.CacheLayer(layer).KeyNumbers()), make([]float32, m.CacheLayer(layer).ValueNumbers())
			if err := cache.KeyValue(layer, token, key, value); err != nil {
				t.Fatal(err)
			}
			r.keys, r.values = append(r.keys, key), append(r.values, value)
		}
	}
}

// checkpoint lets a cache go back to its present length, even one that cannot go back to every length.
func checkpoint(t testing.TB, cache compute.Cache) {
	t.Helper()
	if err := compute.Checkpoint(cache); err != nil {
		t.Fatal(err)
	}
}

// runSteps feeds ids in passes of as many rows as the parameter rows says, after what the cache holds, and
// then rolls the cache back.
func runSteps(t testing.TB, m *model.Model, cache compute.Cache, ids []int32, rows int) record {
	t.Helper()
	var r record
	start := cache.Len()
	for len(ids) > 0 {
		n := min(rows, len(ids))
		logits, err := m.Forward(context.Background(), cache, ids[:n])
		if err != nil {
			t.Fatal(err)
		}
		r.scores = append(r.scores, scoresOf(t, logits)...)
		ids = ids[n:]
	}
	r.addCache(t, m, cache, start)
	if err := cache.Truncate(start); err != nil {
		t.Fatal(err)
	}
	return r
}

func sameRows(t testing.TB, what string, got, want [][]float32) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d rows, want %d", what, len(got), len(want))
	}
	for i := range want {
		for j := range want[i] {
			if math.Float32bits(got[i][j]) != math.Float32bits(want[i][j]) {
				t.Fatalf("%s: number %d of row %d is %v (%08x), want %v (%08x)", what, j, i,
					got[i][j], math.Float32bits(got[i][j]), want[i][j], math.Float32bits(want[i][j]))
			}
		}
	}
}

func (r record) same(t testing.TB, what string, want record) {
	t.Helper()
	sameRows(t, what+", scores", r.scores, want.scores)
	sameRows(t, what+", keys", r.keys, want.keys)
	sameRows(t, what+", values", r.values, want.values)
}

// subject is a model whose results are compared bit by bit.
type subject struct {
	name string
	open func(testing.TB, compute.Backend, model.Options) *model.Model
	near bool // is not tried with long texts, which reach a split of attention: others with the same attention are
}

func subjects() []subject {
	all := demoAndTies()
	for _, typ := range formats() {
		if typ == compute.F32 || typ == compute.F16 || typ == compute.Q8_0 {
			continue // demoAndTies has these
		}
		all = append(all, subject{name: "random " + gguf.TypeName(typ), open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
			return noise(t, b, "tiny", typ, o)
		}, near: true})
	}
	return all
}

// demoAndTies are the demo pair, and models whose scores nearly tie.
func demoAndTies() []subject {
	demo := func(name, path string) subject {
		return subject{name: name, open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model { return openModel(t, b, path, o) }}
	}
	wide := func(name string, typ compute.DType, data func() ([]byte, error)) subject {
		return subject{name: name, open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
			if typ != 0 {
				o.CacheType = typ
			}
			return openWide(t, b, data, o)
		}}
	}
	keeping := func(typ compute.DType, name, path string) subject {
		return subject{name: name + ", cache " + gguf.TypeName(typ), open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
			o.CacheType = typ
			return openModel(t, b, path, o)
		}}
	}
	return []subject{
		keeping(compute.F16, "draft Q8_0", "../../assets/pair/draft.gguf"),
		keeping(compute.Q8_0, "draft Q8_0", "../../assets/pair/draft.gguf"),
		wide("target F16, cache Q8_0", compute.Q8_0, wideTarget),
		demo("target Q8_0", "../../assets/pair/target.gguf"),
		demo("draft Q8_0", "../../assets/pair/draft.gguf"),
		wide("target F16", 0, wideTarget),
		wide("draft F16", 0, wideDraft),
		{name: "near ties F32", open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
			return nearTies(t, b, compute.F32, o)
		}},
		{name: "near ties Q8_0", open: func(t testing.TB, b compute.Backend, o model.Options) *model.Model {
			return nearTies(t, b, compute.Q8_0, o)
		}},
	}
}

// noise is a tiny model with random weights.
func noise(t testing.TB, backend compute.Backend, name string, typ compute.DType, o model.Options) *model.Model {
	t.Helper()
	shape, err := random.ShapeNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	var data bytes.Buffer
	if err := random.Write(context.Background(), &data, shape, typ); err != nil {
		t.Fatal(err)
	}
	file, err := weights.Parse("random weights", data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(context.Background(), backend, file, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// nearTies is a model whose scores come in pairs that are as close as float32 allows.
func nearTies(t testing.TB, backend compute.Backend, typ compute.DType, o model.Options) *model.Model {
	t.Helper()
	shape := &tiny{name: "ties", arch: "llama", heads: 4, kvHeads: 2, headDim: 16, twins: true, typ: typ}
	m, err := model.Load(context.Background(), backend, shape.build(t), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// within maps ids into a vocabulary.
func within(ids []int32, vocab int) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		out[i] = id % int32(vocab)
	}
	return out
}

// At a near tie the last bit decides the greedy choice, so equal bits must give equal tokens. The
// test also checks that the twins are near ties.
func TestNearTiesChooseTheSame(t *testing.T) {
	m := nearTies(t, newBackend(t, 1), compute.F32, model.Options{MaxTokens: 64})
	ids := randomIDs(9, tinyVocab, 4)
	logits, err := m.Forward(context.Background(), newCache(t, m), ids)
	if err != nil {
		t.Fatal(err)
	}
	together, alone := make([]int32, len(ids)), make([]int32, 1)
	if err := logits.Argmax(together); err != nil {
		t.Fatal(err)
	}
	for i, row := range scoresOf(t, logits) {
		best := together[i]
		if gap := math.Abs(float64(row[best] - row[best^1])); gap > 1e-6 {
			t.Fatalf("row %d: the best score and its twin are %g apart, which is no near tie", i, gap)
		}
	}
	cache := newCache(t, m)
	for i, id := range ids {
		logits, err := m.Forward(context.Background(), cache, []int32{id})
		if err != nil {
			t.Fatal(err)
		}
		if err := logits.Argmax(alone); err != nil {
			t.Fatal(err)
		}
		if alone[0] != together[i] {
			t.Errorf("row %d: alone the best token is %d, together %d", i, alone[0], together[i])
		}
	}
}

// Prefill gives the same bits for any number of rows per pass and any number of threads.
func TestPrefillEqualsDecode(t *testing.T) {
	for _, s := range subjects() {
		one := s.open(t, newBackend(t, 1), model.Options{MaxTokens: 300})
		tokens := 270 // more keys than one split of attention; only where a pass is cheap enough
		if one.Config().Layers > 2 {
			tokens = 50
		} else if s.near {
			tokens = 70
		}
		ids := randomIDs(tokens, one.Config().Vocab, 9)
		want := runSteps(t, one, newCache(t, one), ids, 1)
		want.scores = want.scores[len(ids)-1:]
		for _, c := range []struct{ rows, threads int }{{3, 3}, {64, 2}, {300, 2}} {
			m := s.open(t, newBackend(t, c.threads), model.Options{MaxTokens: 300, MaxRows: (c.rows + 1) / 2, PrefillRows: c.rows})
			cache := newCache(t, m)
			logits, err := m.Prefill(context.Background(), cache, ids, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := record{scores: scoresOf(t, logits)}
			got.addCache(t, m, cache, 0)
			got.same(t, fmt.Sprintf("%s in passes of %d on %d threads", s.name, c.rows, c.threads), want)
		}
	}
}

// After any draft and rollback, the cache and the next logits equal those of reading only the
// committed tokens.
func TestRollbackLeavesNoTrace(t *testing.T) {
	for _, s := range subjects() {
		t.Run(s.name, func(t *testing.T) {
			m := s.open(t, newBackend(t, 1), model.Options{MaxTokens: 600, MaxRows: mostRows})
			random := rand.New(rand.NewPCG(11, 0))
			vocab := m.Config().Vocab
			kept, next := randomIDs(100, vocab, 5), randomIDs(3, vocab, 6)
			cache := newCache(t, m)
			if _, err := m.Prefill(context.Background(), cache, kept, nil); err != nil {
				t.Fatal(err)
			}
			for round := range 12 {
				drafted := randomIDs(1+random.IntN(mostRows), vocab, uint64(100+round))
				accepted := random.IntN(len(drafted) + 1)
				if _, err := m.Forward(context.Background(), cache, drafted); err != nil {
					t.Fatal(err)
				}
				kept = append(kept, drafted[:accepted]...)
				if err := cache.Truncate(len(kept)); err != nil {
					t.Fatal(err)
				}
			}
			fresh := newCache(t, m)
			if _, err := m.Prefill(context.Background(), fresh, kept, nil); err != nil {
				t.Fatal(err)
			}
			var got, want record
			got.addCache(t, m, cache, 0)
			want.addCache(t, m, fresh, 0)
			got.same(t, "cache after rollbacks", want)
			runSteps(t, m, cache, next, 3).same(t, "scores after rollbacks", runSteps(t, m, fresh, next, 3))
		})
	}
}
