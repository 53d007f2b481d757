package model_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"sync"
	"testing"

	"specula/assets"
	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/widen"
)

// referenceCase is a prompt with the results of a float32 forward pass by PyTorch over the weights
// of the pair, widened by gguf-py and rounded to F16.
type referenceCase struct {
	Prompt string  `json:"prompt"`
	IDs    []int32 `json:"ids"`
	Target reply   `json:"target"`
	Draft  reply   `json:"draft"`
}

type reply struct {
	Greedy      []int32   `json:"greedy"`
	Margin      []float64 `json:"top1_minus_top2"`
	FirstLogits []float64 `json:"first_logits"` // every 16th logit at the position after the prompt
}

func referenceCases(t testing.TB) []referenceCase {
	t.Helper()
	data, err := os.ReadFile("../../assets/reference/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Cases []referenceCase `json:"cases"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Cases) == 0 {
		t.Fatal("the reference has no cases")
	}
	return file.Cases
}

func openModel(t testing.TB, backend compute.Backend, path string, o model.Options) *model.Model {
	t.Helper()
	file, err := weights.Open(context.Background(), path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return loadModel(t, backend, file, o)
}

// The demo pair with weights in F16.
var (
	wideTarget = sync.OnceValues(func() ([]byte, error) { return widen.ToF16(assets.Target()) })
	wideDraft  = sync.OnceValues(func() ([]byte, error) { return widen.ToF16(assets.Draft()) })
)

// openWide opens wideTarget or wideDraft.
func openWide(t testing.TB, backend compute.Backend, wide func() ([]byte, error), o model.Options) *model.Model {
	t.Helper()
	data, err := wide()
	if err != nil {
		t.Fatal(err)
	}
	file, err := weights.Parse("a model of the demo pair in F16", data)
	if err != nil {
		t.Fatal(err)
	}
	return loadModel(t, backend, file, o)
}

func loadModel(t testing.TB, backend compute.Backend, file *weights.File, o model.Options) *model.Model {
	t.Helper()
	m, err := model.Load(context.Background(), backend, file, o, nil)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newBackend(t testing.TB, threads int) *host.Backend {
	t.Helper()
	b := host.New(threads)
	t.Cleanup(func() { b.Close() })
	return b
}

func newCache(t testing.TB, m *model.Model) compute.Cache {
	t.Helper()
	c, err := m.NewCache()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// demoFile opens a file of the pair as it is in the program.
func demoFile(t *testing.T, name string) func(b compute.Backend) *model.Model {
	return func(b compute.Backend) *model.Model {
		return openModel(t, b, "../../assets/pair/"+name+".gguf", model.Options{})
	}
}

func TestThePairComputesWhatPyTorchComputes(t *testing.T) {
	const nearTie = 1e-3
	cases := referenceCases(t)
	target := func(c referenceCase) reply { return c.Target }
	draft := func(c referenceCase) reply { return c.Draft }
	for _, f := range []struct {
		name   string
		open   func(b compute.Backend) *model.Model
		of     func(referenceCase) reply
		bound  float64 // on the error of the first logits, relative to their range
		greedy bool
	}{
		{"target F16", func(b compute.Backend) *model.Model { return openWide(t, b, wideTarget, model.Options{}) }, target, 1e-5, true},
		{"draft F16", func(b compute.Backend) *model.Model { return openWide(t, b, wideDraft, model.Options{}) }, draft, 1e-5, true},
		// The weights are those of the reference, but this program also rounds the activations.
		{"target Q8_0", demoFile(t, "target"), target, 3e-2, false},
		{"draft Q8_0", demoFile(t, "draft"), draft, 3e-2, false},
	} {
		t.Run(f.name, func(t *testing.T) {
			m := f.open(newBackend(t, 2))
			worst := 0.0
			for _, c := range cases {
				want := f.of(c)
				cache := newCache(t, m)
				row := make([]float32, m.Config().Vocab)
				logits, err := m.Prefill(context.Background(), cache, c.IDs, nil)
				if err != nil {
					t.Fatal(err)
				}
				if err := logits.Row(0, row); err != nil {
					t.Fatal(err)
				}
				worst = max(worst, difference(row, want.FirstLogits))
				if f.greedy {
					got := greedy(t, m, cache, logits, len(want.Greedy))
					for i, id := range want.Greedy {
						if got[i] == id {
							continue
						}
						if want.Margin[i] >= nearTie {
							t.Errorf("%q: token %d is %d, want %d (margin %g)", c.Prompt, i, got[i], id, want.Margin[i])
						}
						break
					}
				}
			}
			t.Logf("first logits differ by at most %.2g of their range", worst)
			if !(worst <= f.bound) {
				t.Errorf("first logits differ by %g of their range, allowed is %g", worst, f.bound)
			}
		})
	}
}

// difference is the largest difference to every 16th logit, relative to the range of the reference.
func difference(row []float32, want []float64) float64 {
	low, high, worst := math.Inf(1), math.Inf(-1), 0.0
	for i, w := range want {
		low, high = min(low, w), max(high, w)
		worst = max(worst, math.Abs(float64(row[16*i])-w))
	}
	return worst / (high - low)
}

// greedy continues by n best tokens; the first one comes from logits.
func greedy(t testing.TB, m *model.Model, cache compute.Cache, logits compute.Logits, n int) []int32 {
	t.Helper()
	var ids []int32
	next := make([]int32, 1)
	for {
		if err := logits.Argmax(next); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, next[0])
		if len(ids) == n {
			return ids
		}
		var err error
		if logits, err = m.Forward(context.Background(), cache, next); err != nil {
			t.Fatal(err)
		}
	}
}
