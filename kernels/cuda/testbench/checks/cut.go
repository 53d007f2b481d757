package checks

import (
	"fmt"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

// filterSettings are settings of filters, alone and together.
func filterSettings(vocab int) map[string]ref.Filters {
	set := func(temperature float32, last bool, topP, minP float32, topK int) ref.Filters {
		f := ref.Filters{Temperature: temperature, FilterTemperature: temperature, TopP: topP, MinP: minP,
			TopK: int32(topK)}
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
		"narrowest top-p":  set(1.5, false, 1e-20, 0, 0),
		"wide top-p":       set(1.5, false, 0.999999, 0, 0),
		"top-k and top-p":  set(0.7, false, 0.95, 0, 1+vocab/2),
		"all":              set(0.7, false, 0.95, 0.05, 40),
		"temperature last": set(1.4, true, 0.8, 0.01, 20),
	}
}

// cutRows runs bin_rows and cut_rows over rows of scores.
func cutRows(t testing.TB, kernels Kernels, threads int, scores []float32, vocab int, f ref.Filters) []uint64 {
	t.Helper()
	rows := len(scores) / vocab
	peaks := concat(rows, func(i int) []uint64 { return ref.Peaks(rowOf(scores, i, vocab)) })
	cuts, found := make([]uint64, rows), make([]byte, rows*cuda.CutBytes)
	grid := simtest.Grid(ref.Slices(vocab), rows)
	kernels.Run("bin_rows", grid, simtest.Block(min(threads, 256)), 0, scores, peaks, filterBytes(f), found, int32(vocab))
	kernels.Run("cut_rows", grid, simtest.Block(threads), 0, scores, peaks, filterBytes(f), found, cuts, int32(vocab))
	simtest.Equal(t, "memory after cut_rows", found, make([]byte, len(found)))
	return cuts
}

func checkCutRows(t testing.TB, load Load) {
	kernels := load(t, "nucleus")
	for _, vocab := range []int{1, 10, 33, 1400, 5000} {
		scores := oddRows(7, vocab)
		for name, f := range filterSettings(vocab) {
			want := concat(len(rowKinds),
				func(i int) []uint64 { return []uint64{ref.CutRow(rowOf(scores, i, vocab), f)} })
			simtest.Equal(t, fmt.Sprintf("%s V=%d", name, vocab),
				cutRows(t, kernels, []int{64, 512, 160}[vocab%3], scores, vocab, f), want)
		}
	}
}
