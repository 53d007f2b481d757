package checks

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"specula/kernels/cuda"
)

// Heads checks that prepare_heads_*, one launch for all work on heads before attention, has the bits of
// the launches that it replaces.
func Heads(t *testing.T, launch Launch) {
	t.Helper()
	const rows, heads, kvHeads, length, ahead, positions = 3, 6, 2, 9, 1, 16
	for _, c := range []struct {
		name         string
		half, norm   bool
		headDim, dim int
		neox         int32
	}{
		{"norm, NeoX", true, true, 128, 128, 1},
		{"no norm, NeoX", true, false, 64, 64, 1},
		{"padded keys, half of a head rotated", true, true, 80, 40, 0},
		{"nothing but rotation", true, false, 96, 96, 0},
		{"float32", false, true, 96, 96, 0},
	} {
		r := rand.New(rand.NewPCG(10, uint64(c.headDim)))
		D := c.headDim
		q, k, v := numbers(r, rows*heads*D), numbers(r, rows*kvHeads*D), numbers(r, rows*kvHeads*D)
		cos, sin := numbers(r, positions*c.dim/2), numbers(r, positions*c.dim/2)
		var norms [3]any // of q, k and v; nil is a null pointer
		if c.norm {
			norms = [3]any{numbers(r, D), numbers(r, D)}
		}
		fused, single := newSequence(launch, c.half, heads, kvHeads, D, 256), newSequence(launch, c.half,
			heads, kvHeads, D, 256)
		fused.length[0], single.length[0] = length, length
		fusedQ := slices.Clone(q)
		launch(fused.name("prepare_heads"), [3]int{2, rows, 1}, line(256), fusedQ, slices.Clone(k),
			slices.Clone(v), fused.keys, fused.values,
			norms[0], norms[1], cos, sin, fused.length, int32(ahead), int32(heads), int32(kvHeads),
			int32(D), int32(c.dim), c.neox, int32(fused.capacity), float32(1e-6))

		for i, x := range [][]float32{q, k, v} {
			n := len(x) / rows / D
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
			int32(kvHeads), int32(D), int32(D), int32(single.capacity))
		sameBits(t, c.name+": q", fusedQ, q)
		if fmt.Sprint(fused.keys, fused.values) != fmt.Sprint(single.keys, single.values) {
			t.Errorf("%s: the caches differ", c.name)
		}
	}
}

// fresh is a row whose heads attention itself prepares: its k and v, not yet normalised or rotated, the weights of
// the norms, and the angles.
type fresh struct {
	k, v, norms, cos, sin any // nil: a null pointer
	dim                   int
	neox                  int32
}

func (f fresh) arguments() []any {
	norms, _ := f.norms.([2]any)
	return []any{f.k, f.v, norms[0], norms[1], f.cos, f.sin, int32(f.dim), f.neox, float32(1e-6)}
}

// FreshRows checks attention that prepares the heads of a row itself. Partial results, operand and cache must
// have the bits of prepare_heads_half followed by attention. Rows lie at both ends of a split, and some windows
// begin in an earlier split.
func FreshRows(t *testing.T, launch Launch, headDims ...int) {
	t.Helper()
	const most, capacity = 3, 768
	for _, headDim := range headDims {
		for i, length := range []int{0, 17, 255, 256, 511, 527} {
			r := rand.New(rand.NewPCG(uint64(headDim), uint64(length)))
			sharing := []int{1, 2, 7, 8, 3, 4}[i]
			kvHeads := 1 + i%2
			heads, dim := kvHeads*sharing, headDim-i%3*16
			together := newSequence(launch, true, heads, kvHeads, headDim, capacity)
			together.window = []int{0, 300}[i%2]
			if length > 0 {
				together.append(numbers(r, length*together.rowSize()), numbers(r, length*together.rowSize()), 0)
			}
			together.length[0] = int32(max(0, length-1))
			ahead := length - int(together.length[0]) // as in a draft step
			q, k, v := numbers(r, heads*headDim), numbers(r, kvHeads*headDim), numbers(r, kvHeads*headDim)
			angles := (length + 1) * dim / 2
			f := fresh{k: k, v: v, cos: numbers(r, angles), sin: numbers(r, angles), dim: dim, neox: int32(i % 2)}
			if i%3 > 0 {
				f.norms = [2]any{numbers(r, headDim), numbers(r, headDim)}
			}
			apart := *together
			apart.keys, apart.values = slices.Clone(together.keys.([]uint16)), slices.Clone(together.values.([]uint16))
			prepared := slices.Clone(q)
			norms, _ := f.norms.([2]any)
			launch("prepare_heads_half", [3]int{across(heads+2*kvHeads, 8)[0], 1, 1}, line(256), prepared, k, v, apart.keys, apart.values,
				norms[0], norms[1], f.cos, f.sin, apart.length, int32(ahead), int32(heads), int32(kvHeads), int32(headDim), int32(dim), f.neox,
				int32(capacity), float32(1e-6))
			together.fresh = f

			what := fmt.Sprintf("heads of %d, %d for a key, after %d tokens", headDim, sharing, length)
			none := []any{int32(cuda.NoOperand), uint64(0), uint64(0), int32(0)}
			values, stats := together.attendSplits(q, ahead, 1, most, none...)
			wantValues, wantStats := apart.attendSplits(prepared, ahead, 1, most, none...)
			sameBits(t, what+": values", values, wantValues)
			sameBits(t, what+": stats", stats, wantStats)
			if !reflect.DeepEqual(together.keys, apart.keys) || !reflect.DeepEqual(together.values, apart.values) {
				t.Errorf("%s: the caches differ", what)
			}
			if headDim%32 == 0 {
				o := operands[1]
				sums := func(s *sequence, q []float32) []byte {
					to := make([]byte, (heads*headDim+127)/128*o.slabBytes)
					s.attendSplits(q, ahead, 1, most, int32(cuda.Int8Operand), make([]uint32, kvHeads), to, int32((heads*headDim+127)/128))
					return to
				}
				if !bytes.Equal(sums(together, q), sums(&apart, prepared)) {
					t.Errorf("%s: the operands differ", what)
				}
			}
		}
	}
}
