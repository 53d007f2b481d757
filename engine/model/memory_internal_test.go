package model

import (
	"slices"
	"testing"

	"specula/engine/compute"
)

// A conversation with the demo target fits into a processor's caches, and is kept in F32; one with Qwen3-0.6B does
// not, and is kept in F16.
func TestCacheTypeDependsOnTheSize(t *testing.T) {
	for _, c := range []struct {
		name   string
		layers int
		each   layerShape
		want   compute.DType
	}{
		{"demo target", 8, layerShape{kvHeads: 2, keyDim: 64, valueDim: 64}, compute.F32},
		{"Qwen3-0.6B", 28, layerShape{kvHeads: 8, keyDim: 128, valueDim: 128}, compute.F16},
		{"as much as is little", 32, layerShape{kvHeads: 1, keyDim: 128, valueDim: 128}, compute.F32},
		{"a layer more", 33, layerShape{kvHeads: 1, keyDim: 128, valueDim: 128}, compute.F16},
	} {
		if got := cacheTypeBySize(slices.Repeat([]layerShape{c.each}, c.layers)); got != c.want {
			t.Errorf("%s: got type %d, want %d", c.name, got, c.want)
		}
	}
}
