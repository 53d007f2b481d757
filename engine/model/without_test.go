package model_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

func TestWithoutLayersAgainstNaiveForward(t *testing.T) {
	backend := newBackend(t, 1)
	for _, without := range [][]int{{}, {0}, {1}} {
		for _, shape := range tinyModels() {
			shape.typ = compute.F32
			m, err := model.Load(t.Context(), backend, shape.build(t), model.Options{MaxRows: 5}, nil)
			if err != nil {
				t.Fatal(err)
			}
			view, err := m.Without(without)
			if err != nil {
				t.Fatal(err)
			}
			ids := randomIDs(7, tinyVocab, 4)
			cache := newCache(t, view)
			if _, err := view.Prefill(t.Context(), cache, ids[:6], nil); err != nil {
				t.Fatal(err)
			}
			logits, err := view.Forward(t.Context(), cache, ids[6:])
			if err != nil {
				t.Fatal(err)
			}
			shape.without = without
			want := shape.forward(ids)[6]
			for v, got := range scoresOf(t, logits)[0] {
				if diff := math.Abs(float64(got) - want[v]); !(diff <= 2e-5) {
					t.Fatalf("%s without %v: logit %d is %v, want %v", shape.name, without, v, got, want[v])
				}
			}
			if c := view.Config(); c.Layers != tinyLayers-len(without) || len(without) > 0 && (c.Parameters >= m.Config().Parameters || cache.Bytes() >= newCache(t, m).Bytes()) {
				t.Errorf("%s without %v: %+v, a cache of %d bytes", shape.name, without, c, cache.Bytes())
			}
		}
	}
}

// Passes of a view between passes of the whole model do not disturb the model, and the model's
// logits stay valid during them.
func TestAViewLeavesTheModelAlone(t *testing.T) {
	m := noise(t, newBackend(t, 1), "tiny", compute.Q8_0, model.Options{MaxTokens: 64, MaxRows: 4})
	view, err := m.Without([]int{0})
	if err != nil {
		t.Fatal(err)
	}
	ids := randomIDs(12, m.Config().Vocab, 5)
	write := func(between func()) (rows [][]float32) {
		cache := newCache(t, m)
		for chunk := range slices.Chunk(ids, 4) {
			logits, err := m.Forward(t.Context(), cache, chunk)
			if err != nil {
				t.Fatal(err)
			}
			between()
			rows = append(rows, scoresOf(t, logits)...)
		}
		return rows
	}
	want := write(func() {})
	cache := newCache(t, view)
	got := write(func() {
		if _, err := view.Prefill(t.Context(), cache, ids[:3], nil); err != nil {
			t.Fatal(err)
		}
	})
	sameRows(t, "scores with a view in between", got, want)
}

func TestWithoutRefuses(t *testing.T) {
	m := noise(t, newBackend(t, 1), "tiny", compute.Q8_0, model.Options{MaxTokens: 16})
	var all []int
	for i := range m.Config().Layers {
		all = append(all, i)
	}
	for _, c := range []struct {
		layers []int
		want   string
	}{{[]int{-1}, "layer -1"}, {[]int{len(all)}, "the layers 0 to"}, {all, "at least one"}} {
		if _, err := m.Without(c.layers); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("without %v: error %v, want one about %q", c.layers, err, c.want)
		}
	}
}

func TestMiddleLayersAreEverySecondOne(t *testing.T) {
	for layers, want := range map[int][]int{1: nil, 2: {1}, 3: {1}, 6: {2, 4}, 12: {4, 6, 8}, 28: {8, 10, 12, 14, 16, 18, 20}} {
		if got := (model.Config{Layers: layers}).MiddleLayers(); !slices.Equal(got, want) {
			t.Errorf("of %d layers %v, want %v", layers, got, want)
		}
	}
}

// A row of a mixture reads the experts that it uses, and many rows read all; a dense model is read
// as a whole.
func TestRowsReadTheExpertsThatTheyUse(t *testing.T) {
	dense := noise(t, newBackend(t, 1), "tiny", compute.Q8_0, model.Options{MaxTokens: 16}).Config()
	if got := dense.ReadBy(1); got != dense.Parameters {
		t.Errorf("a dense model of %d parameters reads %d", dense.Parameters, got)
	}
	c := noise(t, newBackend(t, 1), "tiny-moe", compute.Q8_0, model.Options{MaxTokens: 16}).Config()
	const layers, unused, each = 2, 8 - 3, 3 * 256 * 256
	if got := c.ReadBy(1); got != c.Parameters-layers*unused*each {
		t.Errorf("one row reads %d of %d parameters", got, c.Parameters)
	}
	if one, five, many := c.ReadBy(1), c.ReadBy(5), c.ReadBy(1000); !(one < five && five < many && many == c.Parameters) {
		t.Errorf("1, 5 and 1000 rows read %d, %d and %d of %d parameters", one, five, many, c.Parameters)
	}
	// Two of five layers are mixtures, with experts that are narrower than the residual stream.
	narrow := (&fixture{name: "nemotron_h_moe-narrow"}).open(t, newBackend(t, 1), model.Options{MaxTokens: 16}).Config()
	if got := narrow.ReadBy(1); got != narrow.Parameters-2*(6-3)*2*20*24 {
		t.Errorf("one row reads %d of %d parameters", got, narrow.Parameters)
	}
	if got, all := c.ParametersWithout(2), int64(1024*256); got < all || got > all+10_000 {
		t.Errorf("without layers %d parameters are left, the embedding has %d", got, all)
	}
}
