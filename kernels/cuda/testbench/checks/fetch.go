package checks

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda"
)

// fetched is what extra blocks of attention fetch, see kernels/cuda/src/fetch.h.
type fetched struct {
	blocks int // extra blocks for each split and each blockIdx.z
	ranges [][]byte
}

func (f fetched) arguments() (list []any) {
	for _, r := range f.ranges {
		list = append(list, r, int32(len(r)))
	}
	for range cuda.MostFetched - len(f.ranges) {
		list = append(list, nil, int32(0))
	}
	return list
}

// FetchAhead checks that extra blocks of attention, which fetch other memory, change no bit of its results and leave
// the counters of finished blocks at 0. Machines that check prefetches find lines outside of the ranges: each range
// is an allocation of its own.
func FetchAhead(t *testing.T, launch Launch, headDims ...int) {
	t.Helper()
	const rows, heads, kvHeads, length, most = 3, 6, 2, 300, 2
	for _, headDim := range headDims {
		r := rand.New(rand.NewPCG(12, uint64(headDim)))
		s := newSequence(launch, true, heads, kvHeads, headDim, 512)
		s.fill(r, length, rows)
		q := numbers(r, rows*heads*headDim)
		o, slabs := operands[1], (heads*headDim+127)/128
		run := func(tiles int) (partial, stats []float32, operand []byte) {
			operand = bytes.Repeat([]byte{0xab}, (rows+7)/8*slabs*o.slabBytes)
			arrived := make([]uint32, kvHeads)
			partial, stats = s.attendSplits(q, 0, tiles, most, int32(cuda.Int8Operand), arrived, operand, int32(slabs))
			if slices.Max(arrived) != 0 {
				t.Errorf("heads of %d in %d tiles, with %d extra blocks for each split: counters are %v after the launch, want 0", headDim, tiles, s.fetched.blocks, arrived)
			}
			return partial, stats, operand
		}
		for _, tiles := range s.tiles() {
			s.fetched = fetched{}
			partial, stats, operand := run(tiles)
			for i, sizes := range [][]int{{1}, {128, 129, 40000, 127}, {300000, 256}} {
				s.fetched = fetched{blocks: i + 1}
				for _, n := range sizes {
					s.fetched.ranges = append(s.fetched.ranges, make([]byte, n))
				}
				what := fmt.Sprintf("heads of %d in %d tiles, fetching %v bytes", headDim, tiles, sizes)
				gotPartial, gotStats, gotOperand := run(tiles)
				sameBits(t, what+": values", gotPartial, partial)
				sameBits(t, what+": stats", gotStats, stats)
				if !bytes.Equal(gotOperand, operand) {
					t.Errorf("%s: the operand differs", what)
				}
			}
		}
	}
}
