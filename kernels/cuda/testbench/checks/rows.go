package checks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/ref"
)

var (
	nan     = float32(math.NaN())
	inf     = float32(math.Inf(1))
	none    = float32(math.Inf(-1))
	minus0  = float32(math.Copysign(0, -1))
	filters = ref.Filters{Temperature: 1, FilterTemperature: 1, TopP: 1}
)

// rowKinds are the kinds of rows that are likely to show a bug.
var rowKinds = []struct {
	name string
	fill func(row []float32, random *rand.Rand)
}{
	{"normal", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return float32(3 * r.NormFloat64()) })
	}},
	{"few values", func(row []float32, r *rand.Rand) { each(row, func(int) float32 { return float32(r.IntN(3)) }) }},
	{"all equal", func(row []float32, _ *rand.Rand) { each(row, func(int) float32 { return -7.25 }) }},
	{"zeros of both signs", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return []float32{0, minus0, -1}[r.IntN(3)] })
	}},
	{"all masked but the last", func(row []float32, _ *rand.Rand) {
		each(row, func(int) float32 { return none })
		row[len(row)-1] = -3e38
	}},
	{"half masked", func(row []float32, r *rand.Rand) {
		each(row, func(i int) float32 { return []float32{none, float32(r.NormFloat64())}[i%2] })
	}},
	{"subnormal", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return math.Float32frombits(r.Uint32() & 0x807fffff) })
	}},
	{"whole range", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(250)-130)) })
	}},
	{"steep", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return float32(100 * r.NormFloat64()) })
	}},
	{"nothing finite", func(row []float32, _ *rand.Rand) { each(row, func(int) float32 { return none }) }},
	{"a NaN", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return float32(r.NormFloat64()) })
		row[r.IntN(len(row))] = nan
	}},
	{"a NaN with its sign set", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return float32(r.NormFloat64()) })
		row[r.IntN(len(row))] = math.Float32frombits(0xffc00000)
	}},
	{"an infinity", func(row []float32, r *rand.Rand) {
		each(row, func(int) float32 { return float32(r.NormFloat64()) })
		row[r.IntN(len(row))] = inf
	}},
}

func each(row []float32, value func(int) float32) {
	for i := range row {
		row[i] = value(i)
	}
}

// oddRows has one row of every kind.
func oddRows(seed uint64, vocab int) []float32 {
	rows := make([]float32, len(rowKinds)*vocab)
	for i, kind := range rowKinds {
		kind.fill(rows[i*vocab:(i+1)*vocab], rand.New(rand.NewPCG(seed, uint64(i))))
	}
	return rows
}

// rowOf is row i of rows with that many columns.
func rowOf[T any](rows []T, i, columns int) []T { return rows[i*columns : (i+1)*columns] }

// concat joins the results of f for 0 to n−1.
func concat[T any](n int, f func(i int) []T) (all []T) {
	for i := range n {
		all = append(all, f(i)...)
	}
	return all
}

// vocabularies are the sizes of vocabulary to check with, from less than a warp to several slices.
// Most of them are at or next to the size of a warp or of a slice.
var vocabularies = []int{1, 2, 31, 32, 33, 257, 1023, 1024, 1025, 5000}

func checkArgmaxRows(t testing.TB, load Load) {
	kernels := load(t, "argmax")
	for _, vocab := range append(vocabularies, 151_936) {
		scores := oddRows(1, vocab)
		rows := len(rowKinds)
		per := ref.Slices(vocab)
		peaks := make([]uint64, rows*per)
		kernels.Run("peak_rows", simtest.Grid((per+3)/4, rows), simtest.Block(128), 0, scores,
			peaks, int32(vocab))
		name := fmt.Sprintf("V=%d", vocab)
		simtest.Equal(t, name+" peaks", peaks,
			concat(rows, func(i int) []uint64 { return ref.Peaks(rowOf(scores, i, vocab)) }))

		ids, feed := make([]int32, rows), make([]int32, rows)
		kernels.Run("argmax_rows", simtest.Grid(rows), simtest.Block(32), 0, peaks, ids, feed, int32(vocab))
		for i, kind := range rowKinds {
			best, _ := ref.Argmax(rowOf(scores, i, vocab)) // −1 if there is none
			if int(ids[i]) != best || int(feed[i]) != max(0, best) {
				t.Errorf("%s, %s: %d and %d, want %d", name, kind.name, ids[i], feed[i], best)
			}
		}
	}
}

func checkAcceptGreedy(t testing.TB, load Load) {
	kernels := load(t, "argmax")
	for _, c := range []struct {
		ids, best []int32
		accepted  uint32
	}{
		{[]int32{}, []int32{7}, 0},
		{[]int32{5, 6}, []int32{5, 6, 151_935}, 2},
		{[]int32{5, 6}, []int32{5, 7, 6}, 1},
		{[]int32{5, 6}, []int32{4, 6, 1}, 0},
		{[]int32{5, 6}, []int32{5, -1, 1}, 1},
		{[]int32{-1}, []int32{-1, 1}, 0},
	} {
		n := len(c.ids)
		results := make([]uint32, n+1)
		kernels.Run("accept_greedy", simtest.Grid(1), simtest.Block(32), 0, c.ids, c.best, results, int32(n))
		want := make([]uint32, n+1)
		for i, id := range c.ids {
			want[i] = uint32(id)
		}
		want[n] = uint32(c.best[c.accepted])&0xffffff | c.accepted<<24
		simtest.Equal(t, fmt.Sprint(c.ids, c.best), results, want)
	}
}

func filterBytes(f ref.Filters) []ref.Filters { return []ref.Filters{f} }

// softmax runs peak_rows and softmax_rows over rows of scores.
func softmax(t testing.TB, load Load, scores []float32, vocab int, cuts []uint64,
	f ref.Filters) (weights []float32, sums []uint64) {
	t.Helper()
	rows, per := len(scores)/vocab, ref.Slices(vocab)
	peaks := concat(rows, func(i int) []uint64 { return ref.Peaks(rowOf(scores, i, vocab)) })
	weights, sums = make([]float32, rows*vocab), make([]uint64, rows*per)
	var cut any
	if cuts != nil {
		cut = cuts
	}
	load(t, "softmax").Run("softmax_rows", simtest.Grid((per+1)/2, rows), simtest.Block(64), 0, scores,
		peaks, cut, filterBytes(f), weights, sums, int32(vocab))
	return weights, sums
}

func checkSoftmaxRows(t testing.TB, load Load) {
	warm, last, cool := filters, filters, filters
	cool.Temperature, cool.MinP = 0.6, 0.02
	warm.Temperature, warm.FilterTemperature, warm.MinP = 0.7, 0.7, 0.05
	last.Temperature, last.MinP = 1.3, 0.01
	for name, f := range map[string]ref.Filters{"plain": filters, "warm": warm, "temperature last": last,
		"cool last": cool} {
		for _, vocab := range vocabularies {
			scores := oddRows(2, vocab)
			rows := len(rowKinds)
			for _, cutting := range []bool{false, true} {
				var cuts []uint64
				cut := func(int) uint64 { return 0 }
				if cutting {
					for i := range rows {
						cuts = append(cuts, nthKey(rowOf(scores, i, vocab), vocab/3))
					}
					cut = func(i int) uint64 { return cuts[i] }
				}
				weights, sums := softmax(t, load, scores, vocab, cuts, f)
				want := func(i int) ref.WeightRow { return ref.SoftmaxRow(rowOf(scores, i, vocab), cut(i), f) }
				simtest.Equal(t, fmt.Sprintf("%s V=%d weights", name, vocab), weights,
					concat(rows, func(i int) []float32 { return want(i).Weights }))
				simtest.Equal(t, fmt.Sprintf("%s V=%d sums", name, vocab), sums,
					concat(rows, func(i int) []uint64 { return want(i).Sums }))
			}
		}
	}
}

// nthKey is the key that exactly n keys are better than.
func nthKey(row []float32, n int) uint64 {
	keys := make([]uint64, len(row))
	for id, score := range row {
		keys[id] = ref.KeyOf(score, id)
	}
	slices.Sort(keys)
	return keys[len(keys)-1-n]
}

func checkDrawRows(t testing.TB, load Load) {
	kernels := load(t, "softmax")
	for _, vocab := range append(vocabularies, 40_000) {
		scores := oddRows(5, vocab)
		weights, sums := softmax(t, load, scores, vocab, nil, filters)
		rows, sequences := len(rowKinds), 3
		weights, sums = slices.Repeat(weights, sequences), slices.Repeat(sums, sequences)
		rounds := make([]ref.Round, sequences)
		for i := range rounds {
			rounds[i] = ref.Round{Seed: [2]uint32{1, 2}, Reply: uint32(i), Round: 9}
		}
		ids, feed, chances := make([]int32, rows*sequences), make([]int32,
			rows*sequences), make([]float32, rows*sequences)
		kernels.Run("draw_rows", simtest.Grid(rows, sequences), simtest.Block(32), 0, weights, sums,
			rounds, int32(ref.TargetDraw), int32(4), ids, feed, chances, int32(vocab))
		for i := range ids {
			row := ref.WeightRow{Weights: rowOf(weights, i, vocab), Sums: rowOf(sums, i, ref.Slices(vocab))}
			want := row.Draw(rounds[i/rows], ref.TargetDraw, 4+i%rows)
			chance := float32(0)
			if want >= 0 {
				chance = row.Chance(want, row.Total())
			}
			if int(ids[i]) != want || int(feed[i]) != max(0, want) || chances[i] != chance {
				t.Errorf("V=%d %s: %d, %d with p %v, want %d with p %v", vocab, rowKinds[i%rows].name,
					ids[i], feed[i], chances[i], want, chance)
			}
			if want >= 0 && !(row.Weights[want] > 0) {
				t.Errorf("V=%d %s: token %d has no weight", vocab, rowKinds[i%rows].name, want)
			}
		}
	}
}
