package model_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
)

// A cache has one compressed key for all heads, of which the value is a part.
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
		"head_count_kv\" is 2; allowed is 1":                                               withUint32(data, prefix+"head_count_kv", 2),
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
