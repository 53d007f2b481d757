package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// routed returns the choices of m rows by scores of few values, so that many tie.
func routed(router cpu.Router, m int, r *rand.Rand) (routing *cpu.Routing, chosen [][]int) {
	routing = cpu.NewRouting(router, m)
	routing.Begin(m)
	for i := range m {
		scores := fill(router.Experts, r, func(r *rand.Rand) float32 { return float32(r.IntN(7)) })
		routing.Choose(i, scores, nil)
		experts, _ := ref.Route(scores, nil, ref.Router{Used: router.Used})
		chosen = append(chosen, experts)
	}
	routing.Do(0, 1)
	return routing, chosen
}

// The experts of a row are the reference's, ties included, and so are their shares.
func TestRoutingEqualsReference(t *testing.T) {
	const experts = 12
	r := rand.New(rand.NewPCG(1, 1))
	for _, router := range []ref.Router{
		{Used: 1, Scale: 1}, {Used: 3, Normed: true, Scale: 1}, {Used: 3, Scale: 2.5},
		{Used: 4, Sigmoid: true, Normed: true, Scale: 1.5}, {Used: 4, Sigmoid: true, Scale: 1},
		{Used: experts, Normed: true, Scale: 1},
	} {
		for _, biased := range []bool{false, true} {
			routing := cpu.NewRouting(cpu.Router{Experts: experts, Used: router.Used, Sigmoid: router.Sigmoid, Normed: router.Normed, Scale: float32(router.Scale)}, 1)
			routing.Begin(1)
			for range 200 {
				scores := fill(experts, r, func(r *rand.Rand) float32 { return float32(r.IntN(9)-4) * 1.5 })
				var bias []float32
				if biased {
					bias = fill(experts, r, func(r *rand.Rand) float32 { return float32(r.IntN(3)) })
				}
				routing.Choose(0, scores, bias)
				got, shares := routing.Choices(0)
				want, wanted := ref.Route(scores, bias, router)
				for i := range want {
					if int(got[i]) != want[i] || math.Abs(float64(shares[i])-wanted[i]) > 1e-6*(1+wanted[i]) {
						t.Fatalf("%+v, scores %v, bias %v: experts %v with shares %v, want %v with %v",
							router, scores, bias, got, shares, want, wanted)
					}
				}
			}
		}
	}
}

// Scores that are no numbers still choose different experts, and the shares show the fault.
func TestRoutingOfNoNumbers(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, scores := range [][]float32{{nan, nan, nan, nan}, {1, nan, 2, 3}, {inf, 1, inf, 2},
		{-inf, -inf, -inf, nan}} {
		for _, sigmoid := range []bool{false, true} {
			routing := cpu.NewRouting(cpu.Router{Experts: 4, Used: 3, Sigmoid: sigmoid, Scale: 1}, 1)
			routing.Begin(1)
			routing.Choose(0, scores, nil)
			experts, shares := routing.Choices(0)
			sorted := slices.Sorted(slices.Values(experts))
			if len(slices.Compact(sorted)) != 3 || sorted[0] < 0 || sorted[2] > 3 || shares[0] == shares[0] {
				t.Errorf("scores %v: experts %v with shares %v", scores, experts, shares)
			}
		}
	}
}

// expertWeights are the matrices of some experts, and the reference's product with one of them.
type expertWeights struct {
	name       string
	rows, cols int
	experts    []cpu.Expert
	product    func(dst, x []float32, expert int)
	exact      bool // inputs are not quantised
}

// everyExpertWeights returns experts of each type that can be loaded.
func everyExpertWeights(experts int, r *rand.Rand) (all []expertWeights) {
	for i, f := range formats {
		for _, exact := range []bool{false, true} {
			if i%4 != 0 && (exact || testing.Short()) {
				continue // TestMatMulDequantizedEqualsReference has all formats; -short looks for races
			}
			w := expertWeights{name: fmt.Sprint(f.cpu), rows: 40, cols: f.ref.BlockElements, exact: exact}
			var blocks [][]byte
			for range experts {
				b := randomBlocks(f.ref, w.rows, w.cols, r, false)
				blocks, w.experts = append(blocks, b), append(w.experts,
					cpu.Expert{Panels: repack(f.cpu, w.rows, w.cols, b)})
			}
			w.product = func(dst, x []float32, e int) {
				if !exact {
					ref.MatMulQuantized(dst, x, 1, f.ref, blocks[e], w.rows, w.cols)
					return
				}
				plain := make([]float32, w.rows*w.cols)
				f.ref.Dequantize(plain, blocks[e])
				ref.MatMulF32(dst, x, 1, plain, w.rows, w.cols)
			}
			all = append(all, w)
		}
	}
	for _, n := range numbers {
		w := expertWeights{name: fmt.Sprint(n.cpu), rows: 37, cols: 48, exact: true}
		var plain [][]float32
		for range experts {
			numbers := fill(w.rows*w.cols, r, inputs[0].number)
			data := narrow(n.cpu, numbers)
			n.cpu.Dequantize(numbers, data)
			plain, w.experts = append(plain, numbers), append(w.experts, cpu.Expert{Type: n.cpu, Data: data})
		}
		w.product = func(dst, x []float32, e int) { ref.MatMulF32(dst, x, 1, plain[e], w.rows, w.cols) }
		all = append(all, w)
	}
	return all
}

// The product of each choice has the reference's bits, for every type, however the rows are
// grouped, however many there are, and however threads share the work.
func TestMatMulExpertsEqualsReference(t *testing.T) {
	pool := cpu.NewPool(3, cpu.DefaultPoll)
	defer pool.Close()
	run := func(task cpu.Task, items int) { pool.Run(task, items, 1<<30) }
	onEveryLevel(t, func(t *testing.T) {
		memory := cpu.ExpertMemory{Quantised: &cpu.Quantized{}}
		var room cpu.Room
		r := rand.New(rand.NewPCG(7, 1))
		router := cpu.Router{Experts: 6, Used: 3, Normed: true, Scale: 1}
		for _, w := range everyExpertWeights(router.Experts, r) {
			for _, m := range []int{1, 5, 33} {
				for _, bySlot := range []bool{false, true} {
					routing, chosen := routed(router, m, r)
					x := fill(m*w.cols, r, inputs[0].number)
					in := x
					if bySlot { // the same rows, where the experts expect them
						in = make([]float32, routing.Slots()*w.cols)
						for slot := range routing.Slots() {
							copy(in[slot*w.cols:], x[routing.RowOf(slot)*w.cols:][:w.cols])
						}
					}
					rows := memory.NewExpertRows(routing, in, w.cols, bySlot, !w.exact)
					run(&rows, rows.Items())
					run((*cpu.ExpertPacking)(&rows), rows.Packs())
					got, twice := make([]float32, routing.Slots()*w.rows), make([]float32,
						routing.Slots()*w.rows)
					task := cpu.ExpertProducts{X: rows}
					for _, dst := range [][]float32{got, twice} {
						task.Add(cpu.MatMulExperts{Dst: dst, Experts: w.experts, Rows: w.rows, Cols: w.cols, Room: &room})
					}
					run(&task, task.Items())

					want := make([]float32, len(got))
					ref.MatMulExperts(want, x, m, w.rows, w.cols, chosen, w.product)
					what := fmt.Sprintf("%s, %d rows, by slot %v, exact %v", w.name, m, bySlot, w.exact)
					for i := range m {
						for rank := range router.Used {
							choice := (i*router.Used + rank) * w.rows
							slot := routing.SlotOf(i, rank) * w.rows
							sameBits(t, what, got[slot:slot+w.rows], want[choice:choice+w.rows])
							sameBits(t, what+", second product", twice[slot:slot+w.rows],
								want[choice:choice+w.rows])
						}
					}
				}
			}
		}
	})
}

// Mixing has the reference's bits.
func TestMixEqualsReference(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		const m, cols = 5, 71
		r := rand.New(rand.NewPCG(9, 1))
		router := cpu.Router{Experts: 6, Used: 3, Normed: true, Scale: 1}
		routing, _ := routed(router, m, r)
		x := fill(routing.Slots()*cols, r, inputs[0].number)
		for row := range m {
			own := make([]float32, 0, router.Used*cols)
			for rank := range router.Used {
				own = append(own, x[routing.SlotOf(row, rank)*cols:][:cols]...)
			}
			_, shares := routing.Choices(row)
			got, want := make([]float32, cols), make([]float32, cols)
			ref.Mix(want, own, shares)
			routing.Mix(got[:40], x, row, 0, cols)
			routing.Mix(got[40:], x, row, 40, cols)
			sameBits(t, fmt.Sprintf("row %d", row), got, want)
		}
	})
}
