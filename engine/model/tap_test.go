package model_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
)

// tapped reads the first m rows of a tap.
func tapped(t *testing.T, backend compute.Backend, tap *compute.Tap, m int) [][]float32 {
	t.Helper()
	rows, err := backend.Logits(tap.Rows, m)
	if err != nil {
		t.Fatal(err)
	}
	return scoresOf(t, rows)
}

// A tap holds the residual stream of the naive transformer, in the order of layers that was asked for.
func TestTapAgainstNaiveForward(t *testing.T) {
	backend := newBackend(t, 1)
	for _, shape := range tinyModels() {
		t.Run(shape.name, func(t *testing.T) {
			m, err := model.Load(t.Context(), backend, shape.build(t), model.Options{MaxRows: 5}, nil)
			if err != nil {
				t.Fatal(err)
			}
			tap, err := m.NewTap(2, compute.Normed, 0, 1)
			if err != nil {
				t.Fatal(err)
			}
			m.Attach(tap)
			ids := randomIDs(5, tinyVocab, 3)
			if _, err := m.Forward(t.Context(), newCache(t, m), ids); err != nil {
				t.Fatal(err)
			}
			shape.forward(ids)
			for i, row := range tapped(t, backend, tap, len(ids)) {
				want := slices.Concat(shape.streams[2][i], shape.norm(shape.streams[2][i], "output_norm.weight"), shape.streams[0][i], shape.streams[1][i])
				for j := range want {
					if !(math.Abs(float64(row[j])-want[j]) <= 2e-5) {
						t.Fatalf("row %d: number %d is %v, want %v", i, j, row[j], want[j])
					}
				}
			}
		})
	}
}

// A tap changes no bit of logits, keys and values. Its own content does not depend on how the rows
// were split into passes.
func TestTapChangesNoBit(t *testing.T) {
	backend := newBackend(t, 1)
	shape := &tiny{name: "llama", arch: "llama", heads: 4, kvHeads: 2, headDim: 16, typ: compute.Q8_0}
	m, err := model.Load(t.Context(), backend, shape.build(t), model.Options{MaxRows: 9, PrefillRows: 16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	ids := randomIDs(24, tinyVocab, 5)
	play := func(tap *compute.Tap, rows int) (r record, hidden [][]float32) {
		m.Attach(tap)
		defer m.Attach(nil)
		cache := newCache(t, m)
		if _, err := m.Prefill(t.Context(), cache, ids[:15], nil); err != nil {
			t.Fatal(err)
		}
		if tap != nil {
			hidden = tapped(t, backend, tap, 15)
		}
		for at := 15; at < len(ids); at += rows {
			end := min(at+rows, len(ids))
			logits, err := m.Forward(t.Context(), cache, ids[at:end])
			if err != nil {
				t.Fatal(err)
			}
			r.scores = append(r.scores, scoresOf(t, logits)...)
			if tap != nil {
				hidden = append(hidden, tapped(t, backend, tap, end-at)...)
			}
		}
		r.addCache(t, m, cache, 0)
		return r, hidden
	}
	plain, _ := play(nil, 1)
	tap, err := m.NewTap(0, 1, 2, compute.Normed)
	if err != nil {
		t.Fatal(err)
	}
	_, want := play(tap, 1)
	for _, rows := range []int{1, 2, 4, 9} {
		r, hidden := play(tap, rows)
		for what, pair := range map[string][2][][]float32{
			"scores": {r.scores, plain.scores}, "keys": {r.keys, plain.keys}, "values": {r.values, plain.values}, "hidden states": {hidden, want},
		} {
			for i := range pair[1] {
				if !slices.Equal(pair[0][i], pair[1][i]) {
					t.Fatalf("%s in passes of %d rows: row %d differs", what, rows, i)
				}
			}
		}
	}
}

func TestATapOfALayerThatIsNotThereIsRefused(t *testing.T) {
	m := tinyTarget(t, newBackend(t, 1))
	for _, layer := range []int{-2, tinyLayers + 1} {
		t.Run(fmt.Sprint(layer), func(t *testing.T) {
			if _, err := m.NewTap(layer); err == nil {
				t.Error("no error")
			}
		})
	}
}
