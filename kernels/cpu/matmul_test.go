package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// inputs are kinds of activations and weights that have broken kernels before.
var inputs = []struct {
	name   string
	number func(*rand.Rand) float32
}{
	{"normal", func(r *rand.Rand) float32 { return float32(r.NormFloat64()) }},
	{"zero", func(*rand.Rand) float32 { return 0 }},
	{"sparse", func(r *rand.Rand) float32 { return float32(r.IntN(2) * r.IntN(2) * r.IntN(3)) }},
	{"subnormal", func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32() & 0x807fffff) }},
	{"tiny", func(r *rand.Rand) float32 { return float32(r.NormFloat64()) * 0x1p-119 }},
	{"huge", func(r *rand.Rand) float32 { return float32(r.IntN(3)-1) * math.MaxFloat32 }},
	{"any magnitude", func(r *rand.Rand) float32 { return float32(math.Ldexp(r.NormFloat64(), r.IntN(60)-30)) }},
	{"any bits", func(r *rand.Rand) float32 { return math.Float32frombits(r.Uint32()) }},
	{"a NaN now and then", func(r *rand.Rand) float32 {
		if r.IntN(100) == 0 {
			return float32(math.NaN())
		}
		return float32(r.NormFloat64())
	}},
	{"an infinity now and then", func(r *rand.Rand) float32 {
		if r.IntN(100) == 0 {
			return float32(math.Inf(r.IntN(2)*2 - 1))
		}
		return float32(r.NormFloat64())
	}},
}

func fill(n int, r *rand.Rand, number func(*rand.Rand) float32) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = number(r)
	}
	return x
}

// sameBits compares bit by bit; all NaNs are one, because no order of operations fixes their payload.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d is %v (%08x), want %v (%08x)", what, i,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

func TestMatMulF32EqualsReference(t *testing.T) {
	pool := cpu.NewPool(3)
	defer pool.Close()
	for _, in := range inputs {
		for _, cols := range []int{1, 7, 15, 16, 17, 31, 64, 100, 257} {
			for _, m := range []int{1, 2, 5, 9} {
				const rows = 37
				r := rand.New(rand.NewPCG(uint64(cols), uint64(m)))
				x, w := fill(m*cols, r, in.number), fill(rows*cols, r, in.number)
				got, want := make([]float32, m*rows), make([]float32, m*rows)
				task := cpu.MatMulF32{Dst: got, X: x, M: m, W: w, Rows: rows, Cols: cols}
				pool.Run(&task, rows, 1<<30)
				ref.MatMulF32(want, x, m, w, rows, cols)
				sameBits(t, fmt.Sprintf("%s, %d columns, %d rows", in.name, cols, m), got, want)
			}
		}
	}
}

func BenchmarkMatMulF32(b *testing.B) {
	const rows, cols = 256, 256
	r := rand.New(rand.NewPCG(1, 0))
	x, w := fill(9*cols, r, inputs[0].number), fill(rows*cols, r, inputs[0].number)
	for _, m := range []int{1, 3, 9} {
		task := cpu.MatMulF32{Dst: make([]float32, m*rows), X: x, M: m, W: w, Rows: rows, Cols: cols}
		b.Run(fmt.Sprint("m=", m), func(b *testing.B) {
			for b.Loop() {
				task.Do(0, rows)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*cols), "ns/weight")
		})
	}
}
