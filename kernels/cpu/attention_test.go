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
func attentionCase(m, position, heads, kvHeads, headDim int, spread float32, half bool) (t *cpu.Attention, keys, values []float32) {
	r := rand.New(rand.NewPCG(uint64(position), uint64(m)))
	normal := inputs[0].number
	keys, values = fill((position+m)*kvHeads*headDim, r, normal), fill((position+m)*kvHeads*headDim, r, normal)
	t = &cpu.Attention{
		Dst: make([]float32, m*heads*headDim), Q: fill(m*heads*headDim, r, normal),
		KV: store(keys, values, kvHeads, headDim, half), M: m, Position: position, Heads: heads,
		Scale: float32(1 / math.Sqrt(float64(headDim))),
	}
	for i := range t.Q {
		t.Q[i] *= spread
	}
	return t, keys, values
}

// store fills a cache and reads back into keys and values what it has kept.
func store(keys, values []float32, kvHeads, headDim int, half bool) *cpu.KV {
	width := kvHeads * headDim
	kv := cpu.NewKV(len(keys)/width, kvHeads, headDim, half)
	for token := range len(keys) / width {
		kv.Store(token, keys[token*width:], values[token*width:])
		kv.Load(token, keys[token*width:], values[token*width:])
	}
	return kv
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
		for _, half := range []bool{false, true} {
			task, keys, values := attentionCase(c.m, c.position, c.heads, c.kvHeads, c.headDim, c.spread, half)
			task.Do(0, task.Items())
			want := make([]float64, len(task.Dst))
			ref.Attention(want, task.Q, keys, values, c.m, c.position, c.heads, c.kvHeads, c.headDim, float64(task.Scale))
			// A score of magnitude s is rounded by s·2⁻²⁴, and exp turns that into as large a relative error.
			within(t, fmt.Sprint(c.name, ", half ", half), task.Dst, want, 4e-6*float64(max(1, c.spread)))
		}
	}
}

// A row's bits are the same alone and among others, and whatever lies behind it in the cache.
func TestAttentionRowsAreIndependent(t *testing.T) {
	const position, m, heads, headDim = cpu.KeysPerSplit - 3, 7, 2, 16
	for _, half := range []bool{false, true} {
		all, keys, values := attentionCase(m, position, heads, 1, headDim, 1, half)
		all.Do(0, all.Items())
		for row := range m {
			one := *all
			one.M, one.Position = 1, position+row
			one.Q = all.Q[row*heads*headDim : (row+1)*heads*headDim]
			one.Dst = make([]float32, heads*headDim)
			k, v := append([]float32(nil), keys...), append([]float32(nil), values...)
			for i := (position + row + 1) * headDim; i < len(k); i++ {
				k[i], v[i] = float32(math.NaN()), float32(math.NaN())
			}
			one.KV = store(k, v, 1, headDim, half)
			one.Do(0, one.Items())
			sameBits(t, fmt.Sprint("half ", half, ", row ", row), one.Dst, all.Dst[row*heads*headDim:(row+1)*heads*headDim])
		}
	}
}

// A NaN among the keys must not be hidden by a maximum that skips it.
func TestAttentionShowsNaN(t *testing.T) {
	task, keys, values := attentionCase(1, 2*cpu.KeysPerSplit, 1, 1, 8, 1, false)
	keys[300*8] = float32(math.NaN())
	task.KV = store(keys, values, 1, 8, false)
	task.Do(0, 1)
	for _, v := range task.Dst {
		if v == v {
			t.Fatalf("attention over a NaN key is %v", task.Dst)
		}
	}
}

// What a cache in float32 gives back is what it took; in half precision, what that type can hold.
func TestKVKeeps(t *testing.T) {
	key, value := []float32{1, -2.5, 65504, 1e-8}, []float32{0.1, 1 + 0x1p-11, 70000, float32(math.Inf(-1))}
	for _, c := range []struct {
		half       bool
		key, value []float32
	}{
		{false, key, value},
		{true, []float32{1, -2.5, 65504, 0}, []float32{0.099975586, 1, float32(math.Inf(1)), float32(math.Inf(-1))}},
	} {
		kv := cpu.NewKV(20, 2, 2, c.half)
		kv.Store(17, key, value)
		gotKey, gotValue := make([]float32, 4), make([]float32, 4)
		kv.Load(17, gotKey, gotValue)
		sameBits(t, fmt.Sprint("half ", c.half, " key"), gotKey, c.key)
		sameBits(t, fmt.Sprint("half ", c.half, " value"), gotValue, c.value)
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, m := range []int{1, 9, 64} {
		for _, half := range []bool{false, true} {
			task, _, _ := attentionCase(m, 512-m, 16, 8, 128, 1, half)
			b.Run(fmt.Sprintf("m=%d/half=%v", m, half), func(b *testing.B) {
				for b.Loop() {
					task.Do(0, task.Items())
				}
				b.ReportMetric(float64(task.Work())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "mul/ns")
			})
		}
	}
}

func TestAttentionAllocatesNothing(t *testing.T) {
	for _, half := range []bool{false, true} {
		task, _, _ := attentionCase(3, 600, 4, 2, 64, 1, half)
		if n := testing.AllocsPerRun(10, func() { task.Do(0, task.Items()) }); n != 0 {
			t.Errorf("half %v: %v allocations", half, n)
		}
	}
}
