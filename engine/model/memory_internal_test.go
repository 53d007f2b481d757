package model

import (
	"testing"

	"specula/engine/compute"
)

// A conversation with the demo target fits into a processor's caches; one with Qwen3-0.6B does not.
func TestCacheTypeBySize(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
		want   compute.DType
	}{
		{"demo target", Config{Layers: 8, KVHeads: 2, HeadDim: 64}, compute.F32},
		{"Qwen3-0.6B", Config{Layers: 28, KVHeads: 8, HeadDim: 128}, compute.F16},
		{"as much as is little", Config{Layers: 32, KVHeads: 1, HeadDim: 128}, compute.F32},
		{"a layer more", Config{Layers: 33, KVHeads: 1, HeadDim: 128}, compute.F16},
	} {
		if got := c.config.cacheTypeBySize(); got != c.want {
			t.Errorf("%s: got type %d, want %d", c.name, got, c.want)
		}
	}
}
