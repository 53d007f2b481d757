package cpu_test

import (
	"encoding/binary"
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

// sameBits compares bit by bit. All NaNs count as equal, because no order of operations fixes their
// payload.
func sameBits(t *testing.T, what string, got, want []float32) {
	t.Helper()
	for i := range want {
		if math.Float32bits(got[i]) != math.Float32bits(want[i]) && (got[i] == got[i] || want[i] == want[i]) {
			t.Fatalf("%s: element %d is %v (%08x), want %v (%08x)", what, i,
				got[i], math.Float32bits(got[i]), want[i], math.Float32bits(want[i]))
		}
	}
}

// numbers pairs each number type with its reference.
var numbers = []struct {
	cpu   cpu.Number
	widen func([]float32, []byte)
}{{cpu.F32, ref.DequantizeF32}, {cpu.F16, ref.DequantizeF16}, {cpu.BF16, ref.DequantizeBF16}}

// narrow converts numbers to the type by dropping low bits. For F16 it also limits the exponent to
// the range of the type, so very small numbers do not become exact subnormals.
func narrow(n cpu.Number, numbers []float32) []byte {
	var w []byte
	for _, v := range numbers {
		bits := math.Float32bits(v)
		switch n {
		case cpu.F32:
			w = binary.LittleEndian.AppendUint32(w, bits)
		case cpu.BF16:
			w = binary.LittleEndian.AppendUint16(w, uint16(bits>>16))
		case cpu.F16:
			exponent := min(max(int(bits>>23&0xff)-127+15, 0), 31)
			w = binary.LittleEndian.AppendUint16(w, uint16(bits>>31<<15|uint32(exponent)<<10|bits>>13&0x3ff))
		}
	}
	return w
}

func TestMatMulFloatEqualsReference(t *testing.T) {
	pool := cpu.NewPool(3, cpu.DefaultPoll)
	defer pool.Close()
	onEveryLevel(t, func(t *testing.T) {
		for _, n := range numbers {
			for i, in := range inputs {
				for _, cols := range []int{1, 15, 16, 17, 48, 100, 528} {
					for _, m := range []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 50} {
						for _, rows := range []int{1, 3, 4, 37} {
							if m == 50 && (rows != 37 || cols > 64) ||
								i > 0 && (m%4 != 1 || rows == 4 || cols > 48) {
								continue // every shape with normal numbers, only some shapes with the others
							}
							r := rand.New(rand.NewPCG(uint64(cols), uint64(m)))
							x, w := fill(m*cols, r, in.number), narrow(n.cpu, fill(rows*cols, r, in.number))
							wide, got, want := make([]float32, rows*cols), make([]float32,
								m*rows), make([]float32, m*rows)
							n.widen(wide, w)
							task := cpu.MatMulFloat{Dst: got, X: x, M: m, Type: n.cpu, W: unaligned(w),
								Rows: rows, Cols: cols, WidenFirst: cols%32 == 0}
							pool.Run(&task, task.Items(), 1<<30)
							ref.MatMulF32(want, x, m, wide, rows, cols)
							sameBits(t, fmt.Sprintf("%v, %s, %d × %d, %d rows", n.cpu, in.name, rows,
								cols, m), got, want)
							clear(got)
							task.W = unaligned(cpu.PadRows(w, len(w)/rows))
							pool.Run(&task, task.Items(), 1<<30)
							sameBits(t, fmt.Sprintf("%v, %s, %d × %d, padded, %d rows", n.cpu, in.name,
								rows, cols, m), got, want)
						}
					}
				}
			}
		}
	})
}

// Sums over so many columns are computed in parts, and kept in memory from part to part. The first shape
// also has enough activation rows (m) for several batches; the second has few.
func TestMatMulFloatInParts(t *testing.T) {
	for _, s := range []struct {
		rows, cols int
		m          []int
	}{{70, 2*1024 + 48, []int{47, 48, 97, 113}}, {75, 3*1024 + 48, []int{2, 3, 4, 5, 6, 7, 8, 9, 10, 19}}} {
		for _, n := range numbers {
			for _, m := range s.m {
				inParts(t, n.cpu, n.widen, s.rows, s.cols, m)
			}
		}
	}
}

func inParts(t *testing.T, n cpu.Number, widen func([]float32, []byte), rows, cols, m int) {
	r := rand.New(rand.NewPCG(uint64(m), 5))
	x, w := fill(m*cols, r, inputs[6].number), narrow(n, fill(rows*cols, r, inputs[0].number))
	wide, want := make([]float32, rows*cols), make([]float32, m*rows)
	widen(wide, w)
	ref.MatMulF32(want, x, m, wide, rows, cols)
	onEveryLevelQuietly(func(level cpu.Level) {
		for _, widen := range []bool{false, true} {
			if widen && (m < 48 || level == cpu.Portable) {
				continue // there is one way only
			}
			got := make([]float32, m*rows)
			task := cpu.MatMulFloat{Dst: got, X: x, M: m, Type: n, W: unaligned(w), Rows: rows,
				Cols: cols, WidenFirst: widen}
			for from := 0; from < task.Items(); from += 3 {
				task.Do(from, min(from+3, task.Items()))
			}
			sameBits(t, fmt.Sprintf("%v, %v, %d rows, in chunks, widen first: %v", level, n, m,
				widen), got, want)
			clear(got)
			task.Do(0, task.Items())
			sameBits(t, fmt.Sprintf("%v, %v, %d rows, widen first: %v", level, n, m, widen), got, want)
		}
	})
}

// unaligned copies w to an odd address.
func unaligned(w []byte) []byte { return append(make([]byte, 1, len(w)+1), w...)[1:] }

func BenchmarkMatMulFloat(b *testing.B) {
	const rows, cols = 32 << 10, 1024
	r := rand.New(rand.NewPCG(1, 0))
	pool := cpu.NewPool(2, cpu.DefaultPoll)
	defer pool.Close()
	x := fill(128*cols, r, inputs[0].number)
	for _, n := range numbers {
		w := narrow(n.cpu, fill(rows*cols, r, inputs[0].number))
		for _, m := range []int{1, 2, 5, 9, 32, 128} {
			task := cpu.MatMulFloat{Dst: make([]float32, m*rows), X: x, M: m, Type: n.cpu, W: w,
				Rows: rows, Cols: cols}
			b.Run(fmt.Sprintf("%v/m=%d", n.cpu, m), func(b *testing.B) {
				b.SetBytes(int64(len(w)))
				for b.Loop() {
					pool.Run(&task, task.Items(), task.Work())
				}
				b.ReportMetric(2*float64(m*rows*cols)*float64(b.N)/float64(b.Elapsed().Nanoseconds()),
					"GFLOP/s")
			})
		}
	}
}
