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

// randomQ8 makes blocks of every byte and a scale of the kind asked for.
func randomQ8(rows, cols int, r *rand.Rand, anyScale bool) []byte {
	w := make([]byte, rows*cols/cpu.Block*cpu.BlockBytesQ8_0)
	for i := range w {
		w[i] = byte(r.Uint32())
		if !anyScale && i%cpu.BlockBytesQ8_0 == 1 {
			w[i] = w[i]&0x83 | 0x20 // of magnitude about 2⁻⁷
		}
	}
	return w
}

func TestMatMulQ8_0EqualsReference(t *testing.T) {
	pool := cpu.NewPool(3)
	defer pool.Close()
	var packed cpu.Packed
	for _, in := range inputs {
		for _, cols := range []int{32, 64, 256, 352} {
			for m := 1; m <= 9; m++ {
				for _, anyScale := range []bool{false, true} {
					const rows = 19
					r := rand.New(rand.NewPCG(uint64(cols), uint64(m)))
					x, w := fill(m*cols, r, in.number), randomQ8(rows, cols, r, anyScale)
					got, want := make([]float32, m*rows), make([]float32, m*rows)
					packed.Pack(x, m, cols)
					task := cpu.MatMulQ8_0{Dst: got, X: &packed, W: w, Rows: rows}
					pool.Run(&task, rows, 1<<30)
					ref.MatMulQ8_0(want, x, m, w, rows, cols)
					sameBits(t, fmt.Sprintf("%s, %d columns, %d rows", in.name, cols, m), got, want)
				}
			}
		}
	}
}

// The largest sums a block can have must not run from one packed row into the next.
func TestPackedRowsDoNotMix(t *testing.T) {
	for signs := range 8 {
		x := make([]float32, 3*cpu.Block)
		for i := range x {
			x[i] = 127
			if signs>>(i/cpu.Block)&1 == 1 {
				x[i] = -127
			}
		}
		w := make([]byte, cpu.BlockBytesQ8_0)
		w[1] = 0x3c // scale 1
		for k := 2; k < len(w); k++ {
			w[k] = 0x80 // −128
		}
		var packed cpu.Packed
		packed.Pack(x, 3, cpu.Block)
		got := make([]float32, 3)
		task := cpu.MatMulQ8_0{Dst: got, X: &packed, W: w, Rows: 1}
		task.Do(0, 1)
		for i, v := range got {
			if want := -128 * 32 * x[i*cpu.Block]; v != want {
				t.Errorf("signs %03b: row %d is %v, want %v", signs, i, v, want)
			}
		}
	}
}

// Against float64 the error is that of rounding activations to 1/254 of their block's largest magnitude, plus float32 rounding.
func TestMatMulQ8_0ErrorBound(t *testing.T) {
	const m, rows, cols = 4, 50, 512
	r := rand.New(rand.NewPCG(5, 0))
	x, w := fill(m*cols, r, inputs[0].number), randomQ8(rows, cols, r, false)
	wide := make([]float32, rows*cols)
	ref.DequantizeQ8_0(wide, w)
	want, got := make([]float64, m*rows), make([]float32, m*rows)
	ref.MatMul(want, x, m, wide, rows, cols)
	var packed cpu.Packed
	packed.Pack(x, m, cols)
	task := cpu.MatMulQ8_0{Dst: got, X: &packed, W: w, Rows: rows}
	task.Do(0, rows)
	for i := range want {
		bound := 0.0
		for b := range cols / cpu.Block {
			largest, magnitudes := 0.0, 0.0
			for k := b * cpu.Block; k < (b+1)*cpu.Block; k++ {
				largest = max(largest, math.Abs(float64(x[i/rows*cols+k])))
				magnitudes += math.Abs(float64(wide[i%rows*cols+k]))
			}
			bound += magnitudes * largest / 254 * 1.001
		}
		if diff := math.Abs(float64(got[i]) - want[i]); diff > bound {
			t.Errorf("element %d differs by %g, the bound is %g", i, diff, bound)
		}
	}
}

func BenchmarkMatMul(b *testing.B) {
	const rows, cols = 256, 256
	r := rand.New(rand.NewPCG(1, 0))
	x := fill(9*cols, r, inputs[0].number)
	blocks, floats := randomQ8(rows, cols, r, false), fill(rows*cols, r, inputs[0].number)
	var packed cpu.Packed
	for _, m := range []int{1, 3, 9} {
		packed.Pack(x, m, cols)
		dst := make([]float32, m*rows)
		for _, c := range []struct {
			name string
			task cpu.Task
		}{
			{"Q8_0", &cpu.MatMulQ8_0{Dst: dst, X: &packed, W: blocks, Rows: rows}},
			{"F32", &cpu.MatMulF32{Dst: dst, X: x, M: m, W: floats, Rows: rows, Cols: cols}},
		} {
			b.Run(fmt.Sprintf("%s/m=%d", c.name, m), func(b *testing.B) {
				for b.Loop() {
					c.task.Do(0, rows)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/(rows*cols), "ns/weight")
			})
		}
	}
}
