package checks

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

var plainPenalties = ref.Penalties{Repeat: 1}

// topK runs one of the kernels over rows of scores. counts has one map per row, and may be nil.
func topK(kernels Kernels, kernel string, threads int, scores []float32, vocab, k int, f ref.Filters, p ref.Penalties, counts []map[int32]int32) (ids []int32, best []float32) {
	rows, most, shared := len(scores)/vocab, 0, 0
	ids, best = make([]int32, rows*k), make([]float32, rows*k)
	var penalties, listed, times, length any
	if counts != nil {
		for _, c := range counts {
			most = max(most, len(c))
		}
		list, n, lengths := make([]int32, rows*most), make([]int32, rows*most), make([]int32, rows)
		for r, c := range counts {
			for i, id := range slices.Sorted(maps.Keys(c)) {
				list[r*most+i], n[r*most+i] = id, c[id]
			}
			lengths[r] = int32(len(c))
		}
		penalties, listed, times, length = []ref.Penalties{p}, list, n, lengths
		shared = 4 * ((vocab + 31) / 32)
	}
	arguments := []any{scores, filterBytes(f), penalties, listed, times, length, int32(most)}
	if kernel == "top_k_radix" {
		arguments = append(arguments, make([]uint64, 2*rows*k))
	}
	kernels.Run(kernel, simtest.Grid(rows), simtest.Block(threads), shared, append(arguments, ids, best, int32(k), int32(vocab))...)
	return ids, best
}

// takers are the kernels that can take the k best, each with the numbers of threads to test.
func takers(k int) map[string][]int {
	list := map[string][]int{"top_k_radix": {256}}
	if k <= 1024 {
		list["top_k_block"] = []int{96, 256}
	}
	if k <= 32 {
		list["top_k_warp"] = []int{32, 128, 1024}
	}
	return list
}

func checkTopK(t testing.TB, load Load) {
	kernels := load(t, "topk")
	f := filters
	f.FilterTemperature = 0.7
	for _, vocab := range []int{1, 33, 1300} {
		scores := oddRows(1, vocab)
		for _, k := range []int{1, 31, 32, 33, 1024, vocab} {
			if k > vocab {
				continue
			}
			var wantIDs []int32
			var wantBest []float32
			for r := range rowKinds {
				ids, best := ref.TopK(rowOf(scores, r, vocab), k, f.FilterTemperature)
				wantIDs, wantBest = append(wantIDs, ids...), append(wantBest, best...)
			}
			for kernel, sizes := range takers(k) {
				threads := sizes[(k+vocab)%len(sizes)]
				ids, best := topK(kernels, kernel, threads, scores, vocab, k, f, plainPenalties, nil)
				name := fmt.Sprintf("%s of %d threads V=%d k=%d", kernel, threads, vocab, k)
				simtest.Equal(t, name+" ids", ids, wantIDs)
				simtest.Equal(t, name+" scores", best, wantBest)
			}
		}
	}
}

// What the host ranks by sorting, the kernels give bit for bit, including the sign of zero.
func checkTopKOfALargeVocabulary(t testing.TB, load Load) {
	kernels := load(t, "topk")
	const vocab = 151_936
	scores := simtest.Normal(2, vocab)
	scores[77], scores[78], scores[150_000] = 9, 9, 9
	for kernel, k := range map[string]int{"top_k_warp": 32, "top_k_block": 1000, "top_k_radix": 5000} {
		ids, best := topK(kernels, kernel, 1024, scores, vocab, k, filters, plainPenalties, nil)
		wantIDs, wantBest := ref.TopK(scores, k, 1)
		simtest.Equal(t, kernel+" ids", ids, wantIDs)
		simtest.Equal(t, kernel+" scores", best, wantBest)
	}
}

func checkTopKWithPenalties(t testing.TB, load Load) {
	kernels := load(t, "topk")
	p := ref.Penalties{Repeat: 1.3, Frequency: 0.25, Presence: -0.5}
	for _, vocab := range []int{33, 1100} {
		scores := oddRows(3, vocab)
		random := rand.New(rand.NewPCG(4, uint64(vocab)))
		counts := make([]map[int32]int32, len(rowKinds))
		for r := range counts {
			counts[r] = map[int32]int32{}
			for range random.IntN(2 * vocab) {
				counts[r][int32(random.IntN(vocab))]++
			}
			counts[r][int32(vocab)] = 1 // an id of a larger vocabulary
		}
		for _, k := range []int{1, 20, 33, vocab} {
			var wantIDs []int32
			var wantBest []float32
			for r := range counts {
				ids, best := ref.TopK(p.PenaliseRow(rowOf(scores, r, vocab), counts[r]), k, 1)
				wantIDs, wantBest = append(wantIDs, ids...), append(wantBest, best...)
			}
			for kernel, sizes := range takers(k) {
				ids, best := topK(kernels, kernel, sizes[0], scores, vocab, k, filters, p, counts)
				name := fmt.Sprintf("%s V=%d k=%d", kernel, vocab, k)
				simtest.Equal(t, name+" ids", ids, wantIDs)
				simtest.Equal(t, name+" scores", best, wantBest)
			}
		}
	}
}

// filterSettings are settings of filters, alone and together.
func filterSettings(vocab int) map[string]ref.Filters {
	set := func(temperature float32, last bool, topP, minP float32, topK int) ref.Filters {
		f := ref.Filters{Temperature: temperature, FilterTemperature: temperature, TopP: topP, MinP: minP, TopK: int32(topK)}
		if last {
			f.FilterTemperature = 1
		}
		return f
	}
	return map[string]ref.Filters{
		"none":             set(1, false, 1, 0, 0),
		"top-k":            set(0.8, false, 1, 0, 1+vocab/3),
		"top-k of 1":       set(0.8, false, 1, 0, 1),
		"top-p":            set(0.8, false, 0.9, 0, 0),
		"narrow top-p":     set(1.5, false, 1e-6, 0, 0),
		"wide top-p":       set(1.5, false, 0.999999, 0, 0),
		"top-k and top-p":  set(0.7, false, 0.95, 0, 1+vocab/2),
		"all":              set(0.7, false, 0.95, 0.05, 40),
		"temperature last": set(1.4, true, 0.8, 0.01, 20),
	}
}

func checkFilterPairs(t testing.TB, load Load) {
	kernels := load(t, "nucleus")
	for _, vocab := range []int{1, 33, 500} {
		scores := oddRows(6, vocab)
		rows := len(rowKinds)
		for name, f := range filterSettings(vocab) {
			for _, k := range []int{1, 31, 33, 100, vocab} {
				if k > vocab {
					continue
				}
				var ids []int32
				var best []float32
				wantKept, wantCuts := make([]int32, rows), make([]uint64, rows)
				for r := range rows {
					i, b := ref.TopK(rowOf(scores, r, vocab), k, f.FilterTemperature)
					n := ref.FilterPairs(b, f)
					last := i[max(0, n-1)]
					wantKept[r], wantCuts[r] = int32(n), ref.KeyOf(rowOf(scores, r, vocab)[last], int(last))
					ids, best = append(ids, i...), append(best, b...)
				}
				kept, cuts := make([]int32, rows), make([]uint64, rows)
				kernels.Run("filter_pairs", simtest.Grid(rows), simtest.Block(32), 0, ids, best, int32(k), filterBytes(f), scores, kept, cuts, int32(vocab))
				what := fmt.Sprintf("%s V=%d k=%d", name, vocab, k)
				simtest.Equal(t, what+" kept", kept, wantKept)
				simtest.Equal(t, what+" cuts", cuts, wantCuts)
			}
		}
	}
}

func cutRows(kernels Kernels, threads int, scores []float32, vocab int, f ref.Filters) []uint64 {
	rows := len(scores) / vocab
	peaks := concat(rows, func(i int) []uint64 { return ref.Peaks(rowOf(scores, i, vocab)) })
	cuts := make([]uint64, rows)
	kernels.Run("cut_rows", simtest.Grid(rows), simtest.Block(threads), 0, scores, peaks, filterBytes(f), cuts, int32(vocab))
	return cuts
}

func checkCutRows(t testing.TB, load Load) {
	kernels := load(t, "nucleus")
	for _, vocab := range []int{1, 10, 33, 1400} {
		scores := oddRows(7, vocab)
		for name, f := range filterSettings(vocab) {
			want := concat(len(rowKinds), func(i int) []uint64 { return []uint64{ref.CutRow(rowOf(scores, i, vocab), f)} })
			simtest.Equal(t, fmt.Sprintf("%s V=%d", name, vocab), cutRows(kernels, []int{64, 256, 160}[vocab%3], scores, vocab, f), want)
		}
	}
}
