package checks

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// slopes are rows whose best tokens lie close together: in one slice, or spread over the row.
func slopes(vocab int) []float32 {
	rows := make([]float32, 2*vocab)
	for id := range vocab {
		rows[id] = float32(vocab - id)
		rows[vocab+id] = float32(id / 7 % 50)
	}
	return rows
}

// checkRankRows ranks rows of every kind. The rows after the verdict stay as they are.
func checkRankRows(t testing.TB, load Load) {
	kernels := load(t, "ranking")
	for i, vocab := range append(vocabularies, 40_000) {
		for _, k := range []int{1 + i%2, 7, cuda.MostRanked} {
			scores := append(oddRows(6, vocab), slopes(vocab)...)
			rows, per := len(scores)/vocab, ref.Slices(vocab)
			peaks := concat(rows, func(i int) []uint64 { return ref.Peaks(rowOf(scores, i, vocab)) })
			r := rand.New(rand.NewPCG(9, uint64(vocab)))
			draft := make([]int32, rows-1)
			for i := range draft {
				draft[i] = int32(r.IntN(vocab))
			}
			draft[1] = -1 // no token could be drawn
			arrived := make([]int32, rows)
			for _, accepted := range []int{0, rows - 1} {
				follows := uint32(vocab - 1)
				if accepted == 0 {
					follows = 0xffffff // no token could be chosen
				}
				const untouched = 77
				results := slices.Repeat([]uint64{untouched}, rows*cuda.RankedWords(k))
				const left = 1<<63 | 77 // what an earlier launch left is no key
				sums, best := slices.Repeat([]uint64{left}, rows*per), slices.Repeat([]uint64{left}, rows*cuda.RankBytes/8)
				kernels.Run("rank_rows", simtest.Grid((per+1)/2, rows), simtest.Block(64), 0, scores, peaks, []uint32{follows | uint32(accepted)<<24}, draft,
					sums, best, arrived, results, int32(k), int32(vocab))
				want := concat(rows, func(i int) []uint64 {
					own := int(follows)
					switch {
					case i < accepted:
						own = int(draft[i])
					case i > accepted:
						return slices.Repeat([]uint64{untouched}, cuda.RankedWords(k))
					}
					row := ref.RankRow(rowOf(scores, i, vocab), own, k)
					return append([]uint64{row.Sum, row.Own}, row.Top...)
				})
				name := fmt.Sprintf("V=%d, k=%d, %d accepted", vocab, k, accepted)
				simtest.Equal(t, name, results, want)
				simtest.Equal(t, name+", counters", arrived, make([]int32, rows))
			}
		}
	}
}
