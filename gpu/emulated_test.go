//go:build cuda && linux && cgo

package gpu_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"specula/assets"
	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/gpu"
	"specula/gpu/driver/emulated"
)

// open opens the GPU, or its emulation.
func open(t *testing.T) compute.Backend {
	t.Helper()
	emulated.Use(t)
	b, err := gpu.Open(t.Context(), "cuda")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	return b
}

// load puts a model file on a backend.
func load(t *testing.T, b compute.Backend, data []byte, o model.Options) *model.Model {
	t.Helper()
	m, err := model.Load(context.Background(), b, parse(t, data), o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func parse(t *testing.T, data []byte) *weights.File {
	t.Helper()
	file, err := weights.Parse("demo", slices.Clone(data))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func TestScoresAreNearThoseOfTheProcessor(t *testing.T) {
	ids := []int32{5, 90, 800, 33, 4000}
	var rows [2][]float32
	for i, b := range []compute.Backend{open(t), host.New(1)} {
		began := time.Now()
		m := load(t, b, assets.Draft(), model.Options{MaxTokens: 256, MaxRows: 8})
		t.Logf("loaded in %v", time.Since(began))
		cache, err := m.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		began = time.Now()
		logits, err := m.Forward(t.Context(), cache, ids)
		if err != nil {
			t.Fatal(err)
		}
		rows[i] = make([]float32, logits.Vocab())
		if err := logits.Row(len(ids)-1, rows[i]); err != nil {
			t.Fatal(err)
		}
		t.Logf("pass in %v", time.Since(began))
	}
	worst := float32(0)
	for i := range rows[0] {
		d := rows[0][i] - rows[1][i]
		if !(d < 1 && d > -1) {
			t.Fatalf("score %d is %v, on the processor %v", i, rows[0][i], rows[1][i])
		}
		worst = max(worst, d, -d)
	}
	t.Log("largest difference", worst)
}
