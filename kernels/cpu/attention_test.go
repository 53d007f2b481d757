package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// attentionCase makes m rows of random queries behind position random keys.
func attentionCase(m, position, heads, kvHeads, headDim int, spread float32) *cpu.Attention {
	r := rand.New(rand.NewPCG(uint64(position), uint64(m)))
	normal := inputs[0].number
	t := &cpu.Attention{
		Dst: make([]float32, m*heads*headDim), Q: fill(m*heads*headDim, r, normal),
		Keys: fill((position+m)*kvHeads*headDim, r, normal), Values: fill((position+m)*kvHeads*headDim, r, normal),
		M: m, Position: position, Heads: heads, KVHeads: kvHeads, HeadDim: headDim,
		Scale: float32(1 / math.Sqrt(float64(headDim))),
	}
	for i := range t.Q {
		t.Q[i] *= spread
	}
	return t
}

func TestAttention(t *testing.T) {
	for _, c := range []struct {
		name                    string
		m, position             int
		heads, kvHeads, headDim int
		spread                  float32 // of the scores; large ones make attention pick a single key
	}{
		{"first token", 1, 0, 2, 1, 64, 1},
		{"prompt", 9, 0, 4, 2, 64, 1},
		{"last key of a split", 1, cpu.KeysPerSplit - 1, 4, 2, 64, 1},
		{"first key of a split", 1, cpu.KeysPerSplit, 4, 2, 64, 1},
		{"rows across a split", 9, cpu.KeysPerSplit - 4, 4, 4, 32, 1},
		{"three splits", 3, 2*cpu.KeysPerSplit + 100, 6, 2, 20, 1},
		{"sharp", 3, 2*cpu.KeysPerSplit + 100, 2, 2, 64, 100},
		{"odd head", 2, 300, 3, 1, 7, 1},
		{"largest head", 1, 10, 1, 1, cpu.MaxHeadDim, 1},
	} {
		task := attentionCase(c.m, c.position, c.heads, c.kvHeads, c.headDim, c.spread)
		task.Do(0, task.Items())
		want := make([]float64, len(task.Dst))
		ref.Attention(want, task.Q, task.Keys, task.Values, c.m, c.position, c.heads, c.kvHeads, c.headDim, float64(task.Scale))
		// A score of magnitude s is rounded by s·2⁻²⁴, and exp turns that into as large a relative error.
		within(t, c.name, task.Dst, want, 4e-6*float64(max(1, c.spread)))
	}
}

// A row's bits are the same alone and among others, and whatever lies behind it in the cache.
func TestAttentionRowsAreIndependent(t *testing.T) {
	const position, m, heads, headDim = cpu.KeysPerSplit - 3, 7, 2, 16
	all := attentionCase(m, position, heads, 1, headDim, 1)
	all.Do(0, all.Items())
	for row := range m {
		one := *all
		one.M, one.Position = 1, position+row
		one.Q = all.Q[row*heads*headDim : (row+1)*heads*headDim]
		one.Dst = make([]float32, heads*headDim)
		one.Keys, one.Values = append([]float32(nil), all.Keys...), append([]float32(nil), all.Values...)
		for i := (position + row + 1) * headDim; i < len(one.Keys); i++ {
			one.Keys[i], one.Values[i] = float32(math.NaN()), float32(math.NaN())
		}
		one.Do(0, one.Items())
		sameBits(t, fmt.Sprint("row ", row), one.Dst, all.Dst[row*heads*headDim:(row+1)*heads*headDim])
	}
}

// A NaN among the keys must not be hidden by a maximum that skips it.
func TestAttentionShowsNaN(t *testing.T) {
	task := attentionCase(1, 2*cpu.KeysPerSplit, 1, 1, 8, 1)
	task.Keys[300*8] = float32(math.NaN())
	task.Do(0, 1)
	for _, v := range task.Dst {
		if v == v {
			t.Fatalf("attention over a NaN key is %v", task.Dst)
		}
	}
}
