//go:build cuda && linux && cgo

package gpu

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/engine/weights"
	"specula/engine/weights/random"
)

// Scores have the same bits whether attention fetches weights or not, in decoding and in verification.
func TestFetchingChangesNoBit(t *testing.T) {
	b := openMade(t).Backend
	shape := smallest
	// gate and up are larger than the output, so whoever takes one for the other leaves its memory
	shape.Layers, shape.Dim, shape.FFN, shape.Heads, shape.KVHeads, shape.HeadDim = 2, 256, 2048, 12, 3, 128
	var data bytes.Buffer
	if err := random.Write(t.Context(), &data, shape, compute.Q8_0); err != nil {
		t.Fatal(err)
	}
	file, err := weights.Parse("fetched", data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	m, err := model.Load(t.Context(), b, file, model.Options{MaxTokens: 64, MaxRows: 8, CacheType: compute.F16}, nil)
	if err != nil {
		t.Fatal(err)
	}
	// scores returns those of a text of 16 tokens in passes of that many rows, and how many of the attentions fetched.
	scores := func(rows int) (all []float32, fetching int) {
		cache, err := m.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		defer cache.Close()
		if err := b.onDevice(func() error { return b.recordings.free(b.device) }); err != nil {
			t.Fatal(err)
		}
		for at := range 16 / rows {
			ids := make([]int32, rows)
			for i := range ids {
				ids[i] = int32(31 * (at*rows + i))
			}
			logits, err := m.Forward(t.Context(), cache, ids)
			if err != nil {
				t.Fatal(err)
			}
			for i := range rows {
				row := make([]float32, shape.Vocab)
				if err := logits.Row(i, row); err != nil {
					t.Fatal(err)
				}
				all = append(all, row...)
			}
		}
		for _, r := range b.recordings.byHash {
			for _, s := range r.steps {
				if s.kernel != nil && strings.HasPrefix(s.kernel.name, "attend_half_") && s.shape.Grid[1] > shape.KVHeads {
					fetching++
				}
			}
		}
		return all, fetching
	}
	allowed := b.fetchLimit
	for _, rows := range []int{1, 8} { // 8 rows: on the emulated device, which has 4 multiprocessors, the wide kernel
		t.Run(fmt.Sprint(rows), func(t *testing.T) {
			b.fetchLimit = allowed
			with, fetching := scores(rows)
			b.fetchLimit.bytes = 0
			without, none := scores(rows)
			if fetching != shape.Layers || none != 0 {
				t.Errorf("%d attentions fetched, and %d where it was switched off; want %d and 0", fetching, none, shape.Layers)
			}
			if !slices.Equal(with, without) {
				t.Error("scores differ")
			}
		})
	}
}
