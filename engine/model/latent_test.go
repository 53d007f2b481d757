package model_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/model/modeltest"
	"specula/engine/weights"
)

// In each layer, a cache keeps one compressed key a token for all heads. The value is a part of this key.
func TestLatentKeysAreKeptCompressed(t *testing.T) {
	f := &fixture{name: "deepseek2"}
	m := f.open(t, newBackend(t, 1), model.Options{MaxTokens: 64})
	for i := range m.Config().Layers {
		if got, want := m.CacheLayer(i), (compute.CacheLayer{KVHeads: 1, KeyDim: 16 + 8, ValueDim: 16}); got != want {
			t.Errorf("layer %d keeps %+v, want %+v", i, got, want)
		}
	}
	if got := newCache(t, m).Bytes(); got != m.Config().CacheBytes {
		t.Errorf("a cache takes %d bytes, planned were %d", got, m.Config().CacheBytes)
	}
}

// Files whose sizes of compressed keys do not fit together are refused, with the field or tensor.
func TestMalformedLatent(t *testing.T) {
	data := (&fixture{name: "deepseek2"}).data(t)
	const prefix = "deepseek2.attention."
	for want, file := range map[string][]byte{
		"key_length_mla\" is 8; allowed is more than the 8 numbers that are rotated":       withUint32(data, prefix+"key_length_mla", 8),
		"key_length\" is 24; allowed is 23":                                                withUint32(data, prefix+"kv_lora_rank", 15),
		"head_count_kv\" is 2 in layer 0; allowed is 1":                                    withUint32(data, prefix+"head_count_kv", 2),
		"value_length\" is 20; allowed is 16":                                              withUint32(data, prefix+"value_length", 20),
		"attn_q.weight\" has 80 rows; a deepseek2 model of these hyperparameters needs 84": withUint32(data, prefix+"key_length_mla", 21),
		"attn_output.weight\" has shape 32 × 40":                                           withUint32(data, prefix+"value_length_mla", 9),
		"attn_k_b.weight\" is missing":                                                     bytes.Replace(data, []byte("blk.1.attn_k_b"), []byte("blk.1.attn_x_b"), 1),
	} {
		f, err := weights.Parse("deepseek2", file)
		if err == nil {
			_, err = model.Load(context.Background(), newBackend(t, 1), f, model.Options{MaxTokens: 32}, nil)
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want one about %q", err, want)
		}
	}
}

// Layers whose numbers of heads differ are refused: they share buffers, and all heads share one key.
func TestLatentHeadsAreAlike(t *testing.T) {
	for key, want := range map[string]string{
		"attention.head_count":    "is 8 in layer 1; allowed is 4, as in layer 0",
		"attention.head_count_kv": "is 2 in layer 1; allowed is 1",
	} {
		numbers := modeltest.LatentNumbers()
		usual := uint32(numbers[key])
		delete(numbers, key)
		n := modeltest.NewNoisy("deepseek2", compute.F32, numbers)
		n.Set("deepseek2."+key, []uint32{usual, 2 * usual, usual})
		n.Matrix("token_embd", 64, 128)
		refuses(t, n.Bytes(), want)
	}
}

// Attention over compressed keys adds the bias of its output. A file with a bias of the queries is refused.
func TestBiasesOfLatentAttention(t *testing.T) {
	scores := func(more func(*modeltest.Noisy)) [][]float32 {
		file, err := weights.Parse("deepseek2", modeltest.NoisyLatent(compute.F16, more))
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(context.Background(), newBackend(t, 1), file, model.Options{MaxTokens: 32}, nil)
		if err != nil {
			t.Fatal(err)
		}
		logits, err := m.Prefill(context.Background(), newCache(t, m), []int32{1, 2, 3}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return scoresOf(t, logits)
	}
	if slices.Equal(scores(nil)[0], scores(func(n *modeltest.Noisy) { n.Vectors(64, "blk.0.attn_output.bias") })[0]) {
		t.Error("a bias of the output changes nothing")
	}
	refuses(t, modeltest.NoisyLatent(compute.F16, func(n *modeltest.Noisy) { n.Vectors(4*96, "blk.0.attn_q.bias") }), `"blk.0.attn_q.bias" has no place`)
}

// Some files let queries grow after the original context. This is not computed, so the context of such a file ends
// there.
func TestLatentContextEndsWhereQueriesGrow(t *testing.T) {
	data := (&fixture{name: "mistral4"}).data(t)
	grown := bytes.Replace(data, []byte("rope.scaling.yarn_beta_fast"), []byte("attention.temperature_scale"), 1)
	for length, data := range map[int][]byte{128: data, 64: grown} {
		file, err := weights.Parse("mistral4", data)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(context.Background(), newBackend(t, 1), file, model.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := m.Config().ContextLength; got != length {
			t.Errorf("the context has %d tokens, want %d", got, length)
		}
	}
}

// Heads cannot compute the attention of these two families. So a head in their files is left aside, and the model is
// loaded without it.
func TestHeadsOfOtherAttentionAreLeftAside(t *testing.T) {
	for name, data := range map[string]func(compute.DType, func(*modeltest.Noisy)) []byte{"deepseek2": modeltest.NoisyLatent, "gemma4": modeltest.NoisyGemma4} {
		file, err := weights.Parse(name, withHead(name, data))
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(context.Background(), newBackend(t, 1), file, model.Options{MaxTokens: 32, Head: true}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if head, why, err := m.Head(); head != nil || err != nil || !strings.Contains(why, "heads cannot compute the attention of a "+name+" model") {
			t.Errorf("%s: a head %v, reason %q, error %v", name, head, why, err)
		}
	}
}

// withHead returns a file of one more layer, which is a head and has one tensor only.
func withHead(name string, build func(compute.DType, func(*modeltest.Noisy)) []byte) []byte {
	layers := uint32(0)
	data := build(compute.F16, func(n *modeltest.Noisy) {
		for bytes.Contains(n.Bytes(), fmt.Appendf(nil, "blk.%d.", layers)) {
			layers++
		}
		n.Set(name+".nextn_predict_layers", uint32(1))
		n.Matrix(fmt.Sprintf("blk.%d.nextn.eh_proj", layers), 128, 64)
	})
	return withUint32(data, name+".block_count", layers+1)
}
