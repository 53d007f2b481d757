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

// groupWords is the size of a group of choices, in int32.
const groupWords = cuda.GroupBytes / 4

// words lays groups out as in device memory.
func words(groups []ref.ExpertGroup) (list []int32) {
	for _, g := range groups {
		list = append(append(list, g.Expert), g.Slots[:]...)
	}
	return list
}

// Experts checks the choice of experts, and all that is done with choices except products.
func Experts(t *testing.T, launch Launch) {
	t.Helper()
	for _, c := range []struct {
		m, experts int
		ref.Router
		bias bool
	}{
		{1, 128, ref.Router{Used: 8, Normed: true, Scale: 1}, false},
		{9, 128, ref.Router{Used: 8, Normed: true, Scale: 1}, false},
		{13, 33, ref.Router{Used: 4, Scale: 2.5}, true},
		{5, 8, ref.Router{Used: 8, Sigmoid: true, Normed: true, Scale: 1.5}, true},
		{40, 3, ref.Router{Used: 2, Sigmoid: true, Scale: 1}, false},
		{17, 1, ref.Router{Used: 1, Normed: true, Scale: 1}, false},
	} {
		scores := oddRows(uint64(c.m), c.experts)
		for len(scores) < c.m*c.experts {
			scores = append(scores, scores...)
		}
		scores = scores[:c.m*c.experts]
		var bias []float32
		var given any
		if c.bias {
			bias = numbers(rand.New(rand.NewPCG(6, 6)), c.experts)
			bias[0] = bias[c.experts-1] // so that equal scores have equal sums
			given = bias
		}
		var chosen []int32
		var shares []float32
		for i := range c.m {
			e, s := ref.RouteRow(rowOf(scores, i, c.experts), bias, c.Router)
			chosen, shares = append(chosen, e...), append(shares, s...)
		}
		groups, touched := ref.GroupChoices(chosen, c.experts)
		most := cuda.MostGroups(len(chosen), c.experts)
		if len(groups) > most {
			t.Fatalf("%d groups of %d choices of %d experts, at most %d", len(groups), len(chosen), c.experts, most)
		}
		gotChosen, gotShares := slices.Repeat([]int32{-9}, len(chosen)), garbage(len(chosen))
		counts, arrived, list := []int32{-9, 5}, []int32{0}, slices.Repeat([]int32{-9}, most*groupWords)
		launch("route_rows", across(c.m, 8), line(256), gotChosen, gotShares, counts, list, arrived, scores, given, int32(c.m), int32(c.experts), int32(c.Used),
			flag(c.Sigmoid), flag(c.Normed), float32(c.Scale))
		what := fmt.Sprintf("%d rows, %d of %d experts", c.m, c.Used, c.experts)
		simtest.Equal(t, what+": chosen", gotChosen, chosen)
		sameBits(t, what+": shares", gotShares, shares)
		simtest.Equal(t, what+": counts", counts, []int32{int32(len(groups)), int32(5 + touched)})
		simtest.Equal(t, what+": groups", list[:len(groups)*groupWords], words(groups))
		simtest.Equal(t, what+": counter of blocks", arrived, []int32{0})
	}
	onSlots(t, launch)
}

func flag(on bool) int32 {
	if on {
		return 1
	}
	return 0
}

// onSlots checks biases and factors of experts, and the sums over them.
func onSlots(t *testing.T, launch Launch) {
	t.Helper()
	const m, used, experts, cols = 5, 3, 4, 70
	r := rand.New(rand.NewPCG(7, 7))
	x, bias, shares, gate := numbers(r, m*used*cols), numbers(r, experts*cols), numbers(r, m*used), numbers(r, m)
	chosen := make([]int32, m*used)
	for i := range chosen {
		chosen[i] = int32(r.IntN(experts))
	}
	want := slices.Clone(x)
	for i := range want {
		want[i] += bias[int(chosen[i/cols])*cols+i%cols]
	}
	launch("add_expert_bias", [3]int{2, m * used, 1}, line(32), x, bias, chosen, int32(cols))
	sameBits(t, "add_expert_bias", x, want)

	factors := numbers(r, experts)
	for i := range want {
		want[i] *= factors[chosen[i/cols]]
	}
	launch("scale_experts", [3]int{2, m * used, 1}, line(32), x, factors, chosen, int32(cols))
	sameBits(t, "scale_experts", x, want)

	got, want := garbage(m*cols), make([]float32, m*cols)
	for i := range m {
		ref.Mix(rowOf(want, i, cols), rowOf(x, i, used*cols), rowOf(shares, i, used))
	}
	launch("mix_slots", [3]int{2, m, 1}, line(32), got, x, shares, int32(cols), int32(used))
	sameBits(t, "mix_slots", got, want)

	for i := range want {
		want[i] *= ref.Activations()["sigmoid"](gate[i/cols])
	}
	launch("weigh_rows", [3]int{2, m, 1}, line(32), got, gate, int32(cols))
	sameBits(t, "weigh_rows", got, want)
}

// CheckExperts compares products of chosen rows with one product for each expert, of all rows that chose it.
func (f Matmul) CheckExperts(t testing.TB, run Run) {
	t.Helper()
	const experts, used, m = 3, 2, 19
	cols := 2*f.Columns + f.multiple%f.Columns
	heights := []int{40, 21} // of the two joined tensors
	r := rand.New(rand.NewPCG(11, uint64(cols)))
	single, all := make([][]packed, experts), make([]packed, len(heights))
	for e := range experts {
		for i, n := range heights {
			w := f.pack(t, f.random(r, n, cols), n, cols, 2)
			single[e] = append(single[e], w)
			all[i] = packed{w.Factor, append(all[i].weights, w.weights...)}
		}
	}
	chosen := make([]int32, 0, m*used)
	for i := range m {
		e := int32(1) // nearly all rows choose expert 1, so that it has several groups
		if i%5 == 3 {
			e = 2
		}
		chosen = append(chosen, e, (e+1)%experts)
	}
	groups, _ := ref.GroupChoices(chosen, experts)
	most := cuda.MostGroups(len(chosen), experts)
	list := append(words(groups), slices.Repeat([]int32{1 << 20}, (most-len(groups))*groupWords)...)
	for _, each := range []int{used, 1} { // slots of a row of x
		rows := m * used / each
		x := simtest.Normal(13, rows*cols)
		unusualRows(x, rows, cols)
		activations := simtest.Filled(f.ActivationBytes(rows, cols), byte(0xff))
		l := f.Prepare(rows, cols)
		run(l.Kernel, simtest.Grid(l.GridX, l.GridY), simtest.Block(l.Threads), l.SharedBytes, activations, x, int32(cols), int32(f.ActivationSlabs(cols)))
		var arguments []any
		var factors []cuda.Factor
		var got, want [][]float32
		for i, w := range all {
			got, want = append(got, garbage(len(chosen)*heights[i])), append(want, make([]float32, len(chosen)*heights[i]))
			factors = append(factors, w.Factor)
			arguments = append(arguments, got[i], int32(w.Rows), w.weights, int32(w.Ranges))
			for e := range experts {
				var rows []float32
				var slots []int
				for slot, chose := range chosen {
					if int(chose) == e {
						rows, slots = append(rows, rowOf(x, slot/each, cols)...), append(slots, slot)
					}
				}
				products := f.product(run, rows, len(slots), single[e][i], cols)
				for n, slot := range slots {
					copy(rowOf(want[i], slot, heights[i]), rowOf(products, n, heights[i]))
				}
			}
		}
		arguments = append(arguments, uint64(0), int32(0), uint64(0), int32(0), activations, int32(rows), int32(f.Slabs(cols)), []int32{int32(len(groups))}, list, int32(each))
		l = f.ExpertProduct(most, factors...)
		run(l.Kernel, simtest.Grid(l.GridX, l.GridY), simtest.Block(l.Threads), l.SharedBytes, arguments...)
		for i := range got {
			simtest.Equal(t, fmt.Sprintf("%s: tensor %d of experts, %d slots of a row", f.Name, i, each), got[i], want[i])
		}
	}
}
