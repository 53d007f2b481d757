package checks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Heads checks that prepare_heads_*, one launch for all work before attention, has the bits of the
// launches that it replaces.
func Heads(t *testing.T, launch Launch) {
	t.Helper()
	const rows, heads, kvHeads, length, ahead, positions = 3, 6, 2, 9, 1, 16
	for _, c := range []struct {
		name             string
		half, bias, norm bool
		headDim, dim     int
		neox             int32
	}{
		{"norm, NeoX", true, false, true, 128, 128, 1},
		{"bias", true, true, false, 64, 64, 1},
		{"padded keys, half of a head rotated", true, true, true, 80, 40, 0},
		{"nothing but rotation", true, false, false, 96, 96, 0},
		{"float32", false, true, true, 96, 96, 0},
	} {
		r := rand.New(rand.NewPCG(10, uint64(c.headDim)))
		D := c.headDim
		q, k, v := numbers(r, rows*heads*D), numbers(r, rows*kvHeads*D), numbers(r, rows*kvHeads*D)
		cos, sin := numbers(r, positions*c.dim/2), numbers(r, positions*c.dim/2)
		var biases, norms [3]any // of q, k and v; nil is a null pointer
		if c.bias {
			biases = [3]any{numbers(r, heads*D), numbers(r, kvHeads*D), numbers(r, kvHeads*D)}
		}
		if c.norm {
			norms = [3]any{numbers(r, D), numbers(r, D)}
		}
		fused, single := newSequence(launch, c.half, heads, kvHeads, D, 256), newSequence(launch, c.half,
			heads, kvHeads, D, 256)
		fused.length[0], single.length[0] = length, length
		fusedQ := slices.Clone(q)
		launch(fused.name("prepare_heads"), [3]int{2, rows, 1}, line(256), fusedQ, slices.Clone(k),
			slices.Clone(v), fused.keys, fused.values,
			biases[0], biases[1], biases[2], norms[0], norms[1], cos, sin, fused.length, int32(ahead),
			int32(heads), int32(kvHeads),
			int32(D), int32(c.dim), c.neox, int32(fused.capacity), float32(1e-6))

		for i, x := range [][]float32{q, k, v} {
			n := len(x) / rows / D
			if biases[i] != nil {
				launch("add_bias", [3]int{1, rows, 1}, line(64), x, biases[i], int32(n*D))
			}
			if norms[i] != nil {
				launch("rms_norm_heads", across(rows*n, 8), line(256), x, x, norms[i], int32(D),
					int32(rows*n), float32(1e-6))
			}
			if i < 2 {
				launch("rope", [3]int{1, rows, 1}, line(64), x, cos, sin, single.length, int32(ahead),
					int32(n), int32(D), int32(c.dim), c.neox)
			}
		}
		launch(single.name("append"), [3]int{2, rows, 1}, line(64), single.keys, single.values, k, v,
			single.length, int32(ahead),
			int32(kvHeads), int32(D), int32(single.capacity))
		sameBits(t, c.name+": q", fusedQ, q)
		if fmt.Sprint(fused.keys, fused.values) != fmt.Sprint(single.keys, single.values) {
			t.Errorf("%s: the caches differ", c.name)
		}
	}
}
