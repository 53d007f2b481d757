package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

var kvTypes = []struct {
	name string
	kept cpu.KVType
}{{"F32", cpu.KVF32}, {"F16", cpu.KVF16}, {"Q8_0", cpu.KVQ8_0}}

// attentionCase makes m rows of random queries after position random keys.
func attentionCase(m, position, heads, kvHeads, headDim int, spread float32,
	kept cpu.KVType) (t *cpu.Attention, keys, values []float32) {
	r := rand.New(rand.NewPCG(uint64(position), uint64(m)))
	normal := inputs[0].number
	keys, values = fill((position+m)*kvHeads*headDim, r,
		normal), fill((position+m)*kvHeads*headDim, r, normal)
	t = &cpu.Attention{
		Dst: make([]float32, m*heads*headDim), Q: fill(m*heads*headDim, r, normal),
		KV: store(keys, values, kvHeads, headDim, kept), M: m, Position: position, Heads: heads,
		Scale: float32(1 / math.Sqrt(float64(headDim))),
	}
	for i := range t.Q {
		t.Q[i] *= spread
	}
	return t, keys, values
}

// store fills a cache, and reads back into keys and values what the cache has kept.
func store(keys, values []float32, kvHeads, headDim int, kept cpu.KVType) *cpu.KV {
	return storeAll(keys, values,
		cpu.KVShape{Tokens: len(keys) / (kvHeads * headDim), Heads: kvHeads, KeyDim: headDim,
			ValueDim: headDim}, kept)
}

func storeAll(keys, values []float32, s cpu.KVShape, kept cpu.KVType) *cpu.KV {
	kv := cpu.NewKV(s, kept)
	for token := range s.Tokens {
		key, value := keys[token*s.Heads*s.KeyDim:][:s.Heads*s.KeyDim], values[token*s.Heads*s.ValueDim:][:s.Heads*s.ValueDim]
		kv.Store(token, 0, key, value)
		kv.Load(token, key, value)
	}
	return kv
}

func TestAttention(t *testing.T) {
	for _, c := range []struct {
		name                    string
		m, position             int
		heads, kvHeads, headDim int
		spread                  float32 // of the scores; with a large one attention picks a single key
	}{
		{"first token", 1, 0, 2, 1, 64, 1},
		{"prompt", 9, 0, 4, 2, 64, 1},
		{"last key of a split", 1, cpu.KeysPerSplit - 1, 4, 2, 64, 1},
		{"first key of a split", 1, cpu.KeysPerSplit, 4, 2, 64, 1},
		{"rows across a split", 9, cpu.KeysPerSplit - 4, 4, 4, 32, 1},
		{"three splits", 3, 2*cpu.KeysPerSplit + 100, 6, 2, 20, 1},
		{"sharp", 3, 2*cpu.KeysPerSplit + 100, 2, 2, 64, 100},
		{"odd head", 2, 300, 3, 1, 7, 1},
		{"largest head", 1, 10, 1, 1, cpu.MaxValueDim, 1},
		{"three blocks to a head", 9, 40, 7, 1, 96, 1},
		{"many rows to an item", 150, 300, 4, 2, 64, 1},
	} {
		for _, kv := range kvTypes {
			if kv.kept == cpu.KVQ8_0 && c.headDim%cpu.Block != 0 {
				continue // tested in TestKVRefusesBrokenBlocks
			}
			task, keys, values := attentionCase(c.m, c.position, c.heads, c.kvHeads, c.headDim,
				c.spread, kv.kept)
			task.Do(0, task.Items())
			want := make([]float64, len(task.Dst))
			ref.Attention(want, task.Q, keys, values, c.m, c.position, c.heads, c.kvHeads, c.headDim,
				float64(task.Scale))
			// A score of magnitude s has a rounding error of s·2⁻²⁴, which exp turns into a
			// relative error of the same size.
			within(t, c.name+", "+kv.name, task.Dst, want, 4e-6*float64(max(1, c.spread)))
		}
	}
}

// A row has the same bits alone and among other rows, whatever follows it in the cache.
func TestAttentionRowsAreIndependent(t *testing.T) {
	const position, m, heads, headDim = cpu.KeysPerSplit - 17, 33, 2, 32
	for _, kv := range kvTypes {
		all, keys, values := attentionCase(m, position, heads, 1, headDim, 1, kv.kept)
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
			one.KV = store(k, v, 1, headDim, kv.kept)
			one.Do(0, one.Items())
			sameBits(t, fmt.Sprint(kv.name, ", row ", row), one.Dst,
				all.Dst[row*heads*headDim:(row+1)*heads*headDim])
		}
	}
}

// NaN in a key must stay visible: a maximum must not skip it, and a scale must not hide it.
func TestAttentionShowsNaN(t *testing.T) {
	for _, kv := range kvTypes {
		task, keys, values := attentionCase(1, 2*cpu.KeysPerSplit, 1, 1, 32, 1, kv.kept)
		keys[300*32] = float32(math.NaN())
		task.KV = store(keys, values, 1, 32, kv.kept)
		task.Do(0, 1)
		for _, v := range task.Dst {
			if v == v {
				t.Fatalf("%s: attention over a NaN key is %v", kv.name, task.Dst)
			}
		}
	}
}

// A float32 cache returns what was stored; a half-precision cache returns it rounded to that type.
func TestKVKeeps(t *testing.T) {
	key, value := []float32{1, -2.5, 65504, 1e-8}, []float32{0.1, 1 + 0x1p-11, 70000, float32(math.Inf(-1))}
	for _, c := range []struct {
		name       string
		kept       cpu.KVType
		key, value []float32
	}{
		{"F32", cpu.KVF32, key, value},
		{"F16", cpu.KVF16, []float32{1, -2.5, 65504, 0},
			[]float32{0.099975586, 1, float32(math.Inf(1)), float32(math.Inf(-1))}},
	} {
		kv := cpu.NewKV(cpu.KVShape{Tokens: 20, Heads: 2, KeyDim: 2, ValueDim: 2}, c.kept)
		kv.Store(17, 0, key, value)
		gotKey, gotValue := make([]float32, 4), make([]float32, 4)
		kv.Load(17, gotKey, gotValue)
		sameBits(t, c.name+" key", gotKey, c.key)
		sameBits(t, c.name+" value", gotValue, c.value)
	}
}

// In Q8_0 the cache returns what the reference packs and unpacks, for all kinds of numbers and
// whatever the neighbours hold.
func TestKVKeepsBlocks(t *testing.T) {
	const tokens, heads = 35, 2 // more than two tiles of 16 keys
	for _, headDim := range []int{32, 96, cpu.MaxValueDim} {
		for _, in := range inputs {
			r := rand.New(rand.NewPCG(uint64(headDim), 0))
			size := heads * headDim
			keys, values := fill(tokens*size, r, in.number), fill(tokens*size, r, in.number)
			blocks, want := make([]byte, size/cpu.Block*ref.Q8_0.BlockBytes), make([]float32, size)
			got, gotKey, gotValue := [2][]float32{keys, values}, make([]float32, size), make([]float32, size)
			onEveryLevelQuietly(func(level cpu.Level) {
				kv := cpu.NewKV(cpu.KVShape{Tokens: tokens, Heads: heads, KeyDim: headDim, ValueDim: headDim}, cpu.KVQ8_0)
				for _, token := range r.Perm(tokens) {
					kv.Store(token, 0, keys[token*size:][:size], values[token*size:][:size])
				}
				for token := range tokens {
					kv.Load(token, gotKey, gotValue)
					for i, row := range [][]float32{gotKey, gotValue} {
						ref.QuantizeQ8_0(blocks, got[i][token*size:][:size])
						ref.Q8_0.Dequantize(want, blocks)
						sameBits(t, fmt.Sprintf("%v, %s, heads of %d, token %d", level, in.name, headDim,
							token), row, want)
					}
				}
			})
		}
	}
}

// A quantisation step is 1/127 of the largest magnitude. Rounding the scale to half precision moves
// the largest number by less than a tenth of a step.
func TestKVInBlocksIsNear(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	key := fill(cpu.Block, r, inputs[0].number)
	largest := 0.0
	for _, v := range key {
		largest = max(largest, math.Abs(float64(v)))
	}
	kv, gotKey, gotValue := cpu.NewKV(cpu.KVShape{Tokens: 1, Heads: 1, KeyDim: cpu.Block, ValueDim: cpu.Block}, cpu.KVQ8_0), make([]float32, cpu.Block), make([]float32, cpu.Block)
	kv.Store(0, 0, key, key)
	kv.Load(0, gotKey, gotValue)
	sameBits(t, "value", gotValue, gotKey)
	for i, v := range key {
		if diff := math.Abs(float64(gotKey[i]) - float64(v)); diff > 0.6*largest/127 {
			t.Errorf("number %d, %v, is kept as %v; the largest is %v", i, v, gotKey[i], largest)
		}
	}
}

func TestKVRefusesBrokenBlocks(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("heads of 48 numbers went into blocks of 32")
		}
	}()
	cpu.NewKV(cpu.KVShape{Tokens: 16, Heads: 1, KeyDim: 32, ValueDim: 48}, cpu.KVQ8_0)
}

// 32 numbers and one half-precision scale: 34 bytes.
func TestKVBytes(t *testing.T) {
	for kept, want := range map[cpu.KVType]int{cpu.KVF32: 512, cpu.KVF16: 256, cpu.KVQ8_0: 136} {
		if got := kept.Bytes(128); got != want {
			t.Errorf("128 numbers take %d bytes, want %d", got, want)
		}
	}
}

func BenchmarkAttention(b *testing.B) {
	for _, m := range []int{1, 9, 64} {
		for _, kv := range kvTypes {
			task, _, _ := attentionCase(m, 512-m, 16, 8, 128, 1, kv.kept)
			b.Run(fmt.Sprintf("m=%d/%s", m, kv.name), func(b *testing.B) {
				for b.Loop() {
					task.Do(0, task.Items())
				}
				b.ReportMetric(float64(task.Work())*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "mul/ns")
			})
		}
	}
}

func TestAttentionAllocatesNothing(t *testing.T) {
	for _, kv := range kvTypes {
		for _, m := range []int{1, 3, 64} {
			task, keys, values := attentionCase(m, 600, 4, 2, 64, 1, kv.kept)
			if n := testing.AllocsPerRun(10,
				func() {
					task.KV.Store(1, 0, keys[:2*64], values[:2*64])
					task.Do(0,
						task.Items())
				}); n != 0 {
				t.Errorf("%s, %d rows: %v allocations", kv.name, m, n)
			}
		}
	}
}
