package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
)

// A ring gives the bits of a cache that keeps all rows, whatever the rows after them left in it:
// for a text that goes around it several times, in passes of any length, with rows removed after
// each.
func TestRingEqualsWholeCache(t *testing.T) {
	const heads, headDim, spare = 2, 32, 33
	for _, window := range []int{1, 7, 200, 256, 300} {
		for _, kept := range kvTypes {
			r := rand.New(rand.NewPCG(uint64(window), 3))
			size := cpu.RingTokens(window, spare)
			tokens := 3*size + 50
			shape := cpu.KVShape{Tokens: tokens, Heads: 1, KeyDim: headDim, ValueDim: headDim}
			whole := cpu.NewKV(shape, kept.kept)
			shape.Tokens, shape.Ring = size, true
			ring := cpu.NewKV(shape, kept.kept)
			position := 0
			for position < tokens-spare {
				m := 1 + r.IntN(spare)
				if r.IntN(8) > 0 && position < 2*size {
					m = spare // fill the ring fast
				}
				for i := range m {
					key, value := fill(headDim, r, inputs[0].number), fill(headDim, r, inputs[0].number)
					if i == m-1 && r.IntN(3) == 0 {
						key[3], value[5] = float32(math.NaN()), float32(math.Inf(1)) // of a row that will be removed
					}
					whole.Store(position+i, 0, key, value)
					ring.Store(position+i, 0, key, value)
				}
				q := fill(m*heads*headDim, r, inputs[0].number)
				var results [2][]float32
				for j, kv := range []*cpu.KV{whole, ring} {
					results[j] = make([]float32, m*heads*headDim)
					task := cpu.Attention{Dst: results[j], Q: q, KV: kv, M: m, Position: position, Heads: heads, Scale: 0.2, Window: window}
					task.Do(0, task.Items())
				}
				sameBits(t, fmt.Sprintf("window %d, %s, %d rows at %d", window, kept.name, m, position), results[1], results[0])
				position += r.IntN(m) // the last row is always removed
			}
		}
	}
}

// A copy of a piece of a ring brings back what was overwritten.
func TestCopyOfARing(t *testing.T) {
	for _, kept := range kvTypes {
		r := rand.New(rand.NewPCG(5, 6))
		shape := cpu.KVShape{Tokens: cpu.KeysPerSplit, Heads: 2, KeyDim: 64, ValueDim: 32, Ring: true}
		ring := cpu.NewKV(shape, kept.kept)
		keys, values := make([]float32, 128), make([]float32, 64)
		var before [][]float32
		for token := 240; token < 288; token++ { // around the ring's end
			ring.Store(token, 0, fill(128, r, inputs[0].number), fill(64, r, inputs[0].number))
			ring.Load(token, keys, values)
			before = append(before, append([]float32(nil), keys...), append([]float32(nil), values...))
		}
		shape.Tokens, shape.Ring = 48, false
		piece := cpu.NewKV(shape, kept.kept)
		piece.Copy(0, ring, 240, 48)
		for token := 496; token < 544; token++ {
			ring.Store(token, 0, fill(128, r, inputs[0].number), fill(64, r, inputs[0].number))
		}
		ring.Copy(240, piece, 0, 48)
		for i := range 48 {
			ring.Load(240+i, keys, values)
			sameBits(t, fmt.Sprint(kept.name, ", key ", i), keys, before[2*i])
			sameBits(t, fmt.Sprint(kept.name, ", value ", i), values, before[2*i+1])
		}
	}
}
