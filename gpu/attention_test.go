package gpu

import "testing"

// Attention of several rows is spread over blocks of few queries as long as the device runs all of them at once.
func TestAttentionIsSpreadOverTheCard(t *testing.T) {
	const multiprocessors = 20
	for _, c := range []struct {
		what                  string
		rows, splits, headDim int
		blocks                int // for each split and key head
		name                  string
	}{
		{"one tile", 2, 8, 128, 1, "attend_half_128"},
		{"three tiles, 36 blocks", 5, 6, 128, 3, "attend_half_128"},
		{"three tiles, 42 blocks", 5, 7, 128, 1, "attend_half_128_wide"},
		{"three tiles of wide heads, 18 blocks", 5, 3, 256, 3, "attend_half_256"},
		{"three tiles of wide heads, 24 blocks", 5, 4, 256, 2, "attend_half_256_wide"},
	} {
		a := attend{part: partial{heads: 8, splits: c.splits}, cache: layerCache{half: true, kvHeads: 2, keyDim: c.headDim, valueDim: c.headDim}, rows: c.rows}
		l := a.narrowed(multiprocessors).launch()
		if l.kernel != c.name || l.shape.Grid != [3]int{c.splits, 2, c.blocks} {
			t.Errorf("%s: %s with a grid of %v, want %s with %d blocks for each split and key head", c.what, l.kernel, l.shape.Grid, c.name, c.blocks)
		}
	}
}
