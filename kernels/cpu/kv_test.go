package cpu_test

import (
	"fmt"
	"slices"
	"testing"

	"specula/kernels/cpu"
)

// TestLayersInOneMemoryDoNotOverlap fills every row of layers of unlike widths, and reads them back.
func TestLayersInOneMemoryDoNotOverlap(t *testing.T) {
	for _, kept := range []cpu.KVType{cpu.KVF32, cpu.KVF16, cpu.KVQ8_0} {
		for _, tokens := range []int{16, cpu.KeysPerSplit, 2*cpu.KeysPerSplit + 40} {
			t.Run(fmt.Sprint(kept, "/", tokens), func(t *testing.T) {
				shapes := []cpu.KVShape{{Heads: 2, KeyDim: 64, ValueDim: 32}, {}, {Heads: 1, KeyDim: 32, ValueDim: 96}}
				for i := range shapes {
					shapes[i].Tokens = tokens
				}
				layers := cpu.NewKVs(shapes, kept)
				// row returns a key or value in all heads. Whole numbers up to 127 are exact in every type,
				// if 127 is among them.
				row := func(layer, token, n int) []float32 {
					all := make([]float32, n)
					for i := range all {
						all[i] = float32((layer*61 + token*13 + i*7) % 127)
						if i%cpu.Block == 0 {
							all[i] = 127
						}
					}
					return all
				}
				for l, s := range shapes {
					for token := range tokens {
						layers[l].Store(token, 0, row(l, token, s.Heads*s.KeyDim), row(l+9, token, s.Heads*s.ValueDim))
					}
				}
				for l, s := range shapes {
					key, value := make([]float32, s.Heads*s.KeyDim), make([]float32, s.Heads*s.ValueDim)
					for token := range tokens {
						layers[l].Load(token, key, value)
						if !slices.Equal(key, row(l, token, len(key))) || !slices.Equal(value, row(l+9, token, len(value))) {
							t.Fatalf("layer %d, token %d: got %v and %v", l, token, key, value)
						}
					}
				}
			})
		}
	}
}
