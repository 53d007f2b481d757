package model_test

import (
	"context"
	"errors"
	"math"
	"os"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/host"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/gguf"
	"specula/engine/weights/safetensors"
	"specula/kernels/ref"
)

const targetPath = "../../assets/pair/target.gguf"

// A cache takes exactly the memory that was planned for it. In Q8_0 that is 34 bytes per 32
// numbers.
func TestCacheTypesTakeTheirMemory(t *testing.T) {
	const numbers = 2 * 8 * 128 * 2 * 64 // in the keys and values of 8 layers and 128 tokens
	for typ, want := range map[compute.DType]int64{compute.F32: numbers * 4, compute.F16: numbers * 2, compute.Q8_0: numbers / 32 * 34} {
		m := openModel(t, newBackend(t, 1), targetPath, model.Options{MaxTokens: 128, CacheType: typ})
		if planned, taken := m.Config().CacheBytes, newCache(t, m).Bytes(); planned != want || taken != want {
			t.Errorf("cache %s: planned %d bytes, taken %d, want %d", gguf.TypeName(typ), planned, taken, want)
		}
	}
}

// A head that reads the target's hidden states has the same cache type as the target.
func TestHeadsKeepWhatTheTargetKeeps(t *testing.T) {
	taken := map[compute.DType]int64{}
	for _, typ := range []compute.DType{compute.F32, compute.F16, compute.Q8_0} {
		file, err := safetensors.Open(t.Context(), "../../assets/pair/heads/eagle", nil)
		if errors.Is(err, os.ErrNotExist) {
			t.Skip("no heads are built in")
		}
		if err != nil {
			t.Fatal(err)
		}
		target := openModel(t, newBackend(t, 1), targetPath, model.Options{MaxTokens: 128, CacheType: typ})
		head, err := model.LoadHead(t.Context(), target, file)
		if err != nil {
			t.Fatal(err)
		}
		cache, err := newGuesser(t, head).NewCache()
		if err != nil {
			t.Fatal(err)
		}
		taken[typ] = cache.Bytes()
	}
	if wide := taken[compute.F32]; taken[compute.F16]*2 != wide || taken[compute.Q8_0]*128 != wide*34 {
		t.Errorf("by the number of the type the head's cache takes %d bytes", taken)
	}
}

// The keys and values of the first layer depend on the tokens alone. So those in Q8_0 must equal
// those in F32 after the reference has packed them.
func TestCacheInBlocksKeepsWhatTheReferencePacks(t *testing.T) {
	read := func(typ compute.DType) record {
		m := openModel(t, newBackend(t, 1), targetPath, model.Options{MaxTokens: 64, CacheType: typ})
		return runSteps(t, m, newCache(t, m), randomIDs(40, m.Config().Vocab, 1), 20)
	}
	wide, packed := read(compute.F32), read(compute.Q8_0)
	const tokens = 40
	for _, side := range []struct {
		name      string
		got, from [][]float32
	}{{"keys", packed.keys[:tokens], wide.keys[:tokens]}, {"values", packed.values[:tokens], wide.values[:tokens]}} {
		want := make([][]float32, tokens)
		for i, row := range side.from {
			blocks := make([]byte, len(row)/ref.Block*ref.Q8_0.BlockBytes)
			ref.QuantizeQ8_0(blocks, row)
			want[i] = make([]float32, len(row))
			ref.Q8_0.Dequantize(want[i], blocks)
		}
		sameRows(t, side.name, side.got, want)
	}
}

// Rounding keys and values changes the predictions only a little. The measure is the divergence in
// nats per token. Weights in F16 are used because with them activations are not rounded; rounding
// these to a byte would hide the effect.
func TestCacheTypesPredictNearlyTheSame(t *testing.T) {
	ids := referenceCases(t)[0].IDs
	read := func(typ compute.DType) [][]float32 {
		m := openWide(t, newBackend(t, 1), wideTarget, model.Options{MaxTokens: 300, CacheType: typ})
		return runSteps(t, m, newCache(t, m), ids, 16).scores
	}
	wide := read(compute.F32)
	for typ, most := range map[compute.DType]float64{compute.F16: 1e-6, compute.Q8_0: 2e-4} {
		sum := 0.0
		for i, row := range read(typ) {
			sum += divergence(wide[i], row)
		}
		mean := sum / float64(len(wide))
		t.Logf("cache %s: %.3g nats a token", gguf.TypeName(typ), mean)
		if !(mean > 0 && mean < most) {
			t.Errorf("cache %s: %g nats a token, want some and less than %g", gguf.TypeName(typ), mean, most)
		}
	}
}

// divergence is the Kullback-Leibler divergence of the distributions of two rows of logits.
func divergence(p, q []float32) float64 {
	logP, logQ := logSoftmax(p), logSoftmax(q)
	sum := 0.0
	for i := range logP {
		sum += math.Exp(logP[i]) * (logP[i] - logQ[i])
	}
	return sum
}

func logSoftmax(scores []float32) []float64 {
	peak, sum := math.Inf(-1), 0.0
	for _, s := range scores {
		peak = max(peak, float64(s))
	}
	for _, s := range scores {
		sum += math.Exp(float64(s) - peak)
	}
	logs := make([]float64, len(scores))
	for i, s := range scores {
		logs[i] = float64(s) - peak - math.Log(sum)
	}
	return logs
}

// untouched is a backend that fails the test if it is asked to load a weight. It may refuse every
// cache, like a device that supports fewer types.
type untouched struct {
	*host.Backend
	t       *testing.T
	refusal error
}

func (u untouched) Matrix(context.Context, compute.Weight) (compute.Matrix, error) {
	u.t.Error("a weight was taken in for a cache that is refused")
	return nil, context.Canceled
}

func (u untouched) CheckCache(shape compute.CacheShape) error {
	if u.refusal != nil {
		return u.refusal
	}
	return u.Backend.CheckCache(shape)
}

// A cache type that the backend does not support is refused before any weight is loaded, and the
// error says what to choose instead.
func TestCacheTypesAreRefusedBeforeWeightsAreTaken(t *testing.T) {
	narrow := (&tiny{name: "narrow heads", arch: "llama", heads: 4, kvHeads: 2, headDim: 16}).build(t)
	target, err := weights.Open(context.Background(), targetPath, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		file    *weights.File
		typ     compute.DType
		refusal error
		want    string
	}{
		{"heads that are no whole blocks", narrow, compute.Q8_0, nil, "blocks hold 32 numbers, need heads of a multiple of that, and these have 16: choose --cache f16 or f32"},
		{"a type without attention", target, compute.Q4_K, nil, "keeps them as f32, f16 or q8_0"},
		{"a device that keeps none", target, compute.Q8_0, context.DeadlineExceeded, context.DeadlineExceeded.Error()},
	} {
		_, err := model.Load(context.Background(), untouched{newBackend(t, 1), t, c.refusal}, c.file, model.Options{MaxTokens: 64, CacheType: c.typ}, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}
