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

// halfExtremes are half-precision numbers at which arithmetic behaves differently.
var halfExtremes = []uint16{
	0x0000, 0x8000, // zeros
	0x0001, 0x83ff, // the smallest and the largest subnormal
	0x0400, 0x7bff, 0xfbff, // the smallest normal number and the largest
	0x7c00, 0xfc00, 0x7e00, 0xfc01, // infinities; NaNs, one of them signalling
}

// mostRows is more than the rows of a verification.
const mostRows = 17

// rowCounts are all numbers up to mostRows, and some larger ones: enough rows for the prefill
// kernels, which take 16 rows at once, and more than a batch.
func rowCounts() []int {
	counts := []int{32, 47, 113}
	for m := 1; m <= mostRows; m++ {
		counts = append(counts, m)
	}
	return counts
}

// blocksWith are blocks with the given scales; their other bytes are all equal, or random.
func blocksWith(scales []uint16, f ref.Format, rows, cols int, r *rand.Rand) []byte {
	w := make([]byte, rows*cols/f.BlockElements*f.BlockBytes)
	for block := 0; block < len(w); block += f.BlockBytes {
		fill := []byte{0x00, 0xff, 0x80, 0x7f, 0x0f}[r.IntN(5)]
		random := r.IntN(3) == 0
		for i := range f.BlockBytes {
			if random {
				fill = byte(r.Uint32())
			}
			w[block+i] = fill
		}
		f.SetScales(w[block:], scales[r.IntN(len(scales))], scales[r.IntN(len(scales))])
	}
	return w
}

// extremeBlocks have extreme scales, infinities and NaNs among them. finiteBlocks have finite scales, so
// that sums are not all NaN.
func extremeBlocks(f ref.Format, rows, cols int, r *rand.Rand) []byte {
	return blocksWith(halfExtremes, f, rows, cols, r)
}

func finiteBlocks(f ref.Format, rows, cols int, r *rand.Rand) []byte {
	const one, minusOne = 0x3c00, 0xbc00
	return blocksWith(append(halfExtremes[:7:7], one, minusOne), f, rows, cols, r)
}

// Every format, with every kind of activations and weights that arithmetic treats differently. Row
// counts are 1 to 17 and some more. Products have one to three blocks, or enough for several steps
// of the prefill kernels. Some panels are not full.
func TestMatMulQuantizedAdversarial(t *testing.T) {
	weights := []func(ref.Format, int, int, *rand.Rand) []byte{finiteBlocks, extremeBlocks}
	for _, f := range formats {
		for _, m := range rowCounts() {
			for n, in := range inputs {
				rows, blocks := []int{1, 31, 33, 32, 65}[(m+n)%5], 1+(m+n/2)%3
				if m > mostRows && f.ref.BlockElements == cpu.Block {
					blocks *= 4
				}
				cols := blocks * f.ref.BlockElements
				r := rand.New(rand.NewPCG(uint64(m), uint64(n)))
				x, w := fill(m*cols, r, in.number), weights[(m+n)%2](f.ref, rows, cols, r)
				want := make([]float32, m*rows)
				ref.MatMulQuantized(want, x, m, f.ref, w, rows, cols)
				what := fmt.Sprintf("%v, %s, %d × %d, %d rows", f.cpu, in.name, rows, cols, m)
				onEveryLevelQuietly(func(level cpu.Level) {
					var quants cpu.Quantized
					quants.Quantize(x, m, cols)
					got := make([]float32, m*rows)
					task := cpu.MatMulQuantized{Dst: got, X: &quants, W: repack(f.cpu, rows, cols, w)}
					task.Do(0, task.Items())
					sameBits(t, fmt.Sprint(level, ", ", what), got, want)
				})
			}
		}
	}
}

// onEveryLevelQuietly is onEveryLevel without subtests; the reference was computed before.
func onEveryLevelQuietly(test func(cpu.Level)) {
	for _, level := range cpu.Levels() {
		func() {
			defer cpu.SetLevel(level)()
			test(level)
		}()
	}
}

// extremeNumbers returns a type's numbers with extreme bits, mixed with normal ones.
func extremeNumbers(n cpu.Number, count int, r *rand.Rand) []byte {
	w := narrow(n, fill(count, r, inputs[0].number))
	floats := []float32{
		0, float32(math.Copysign(0, -1)), 0x1p-149, -0x1p-127, 0x1p-126, math.MaxFloat32, -math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 0x1p-133,
	}
	for i := range count {
		if r.IntN(4) > 0 {
			continue
		}
		kind := r.IntN(len(floats))
		switch bits := math.Float32bits(floats[kind]); n {
		case cpu.F32:
			binary.LittleEndian.PutUint32(w[4*i:], bits)
		case cpu.BF16:
			binary.LittleEndian.PutUint16(w[2*i:], uint16(bits>>16))
		case cpu.F16:
			binary.LittleEndian.PutUint16(w[2*i:], halfExtremes[kind])
		}
	}
	return w
}

func TestMatMulFloatAdversarial(t *testing.T) {
	for _, n := range numbers {
		for m := 1; m <= mostRows; m++ {
			for i, in := range inputs {
				rows, cols := []int{1, 3, 4, 5, 7, 38}[(m+i)%6], []int{1, 16, 31, 32, 33, 48}[(m+i/2)%6]
				r := rand.New(rand.NewPCG(uint64(m), uint64(i)))
				x := fill(m*cols, r, in.number)
				w := extremeNumbers(n.cpu, rows*cols, r)
				if i%2 == 0 {
					w = narrow(n.cpu, fill(rows*cols, r, in.number))
				}
				wide, want := make([]float32, rows*cols), make([]float32, m*rows)
				n.widen(wide, w)
				ref.MatMulF32(want, x, m, wide, rows, cols)
				what := fmt.Sprintf("%v, %s, %d × %d, %d rows", n.cpu, in.name, rows, cols, m)
				onEveryLevelQuietly(func(level cpu.Level) {
					got := make([]float32, m*rows)
					task := cpu.MatMulFloat{Dst: got, X: x, M: m, Type: n.cpu, W: unaligned(w),
						Rows: rows, Cols: cols}
					task.Do(0, task.Items())
					sameBits(t, fmt.Sprint(level, ", ", what), got, want)
				})
			}
		}
	}
}

// A row has the same bits alone and in a product of up to 113 rows.
func TestMatMulRowsAreIndependent(t *testing.T) {
	const rows = 38
	onEveryLevelQuietly(func(level cpu.Level) {
		r := rand.New(rand.NewPCG(7, 0))
		for _, f := range formats {
			cols := 2 * f.ref.BlockElements
			w := repack(f.cpu, rows, cols, randomBlocks(f.ref, rows, cols, r, false))
			sameAlone(t, fmt.Sprint(level, ", ", f.cpu), rows, cols, r, func(dst, x []float32, m int) {
				var quants cpu.Quantized
				quants.Quantize(x, m, cols)
				task := cpu.MatMulQuantized{Dst: dst, X: &quants, W: w}
				task.Do(0, task.Items())
			})
		}
		for _, n := range numbers {
			const cols = 96
			w := narrow(n.cpu, fill(rows*cols, r, inputs[0].number))
			sameAlone(t, fmt.Sprint(level, ", ", n.cpu), rows, cols, r, func(dst, x []float32, m int) {
				task := cpu.MatMulFloat{Dst: dst, X: x, M: m, Type: n.cpu, W: w, Rows: rows, Cols: cols}
				task.Do(0, task.Items())
			})
		}
	})
}

func sameAlone(t *testing.T, what string, rows, cols int, r *rand.Rand,
	multiply func(dst, x []float32, m int)) {
	t.Helper()
	const most = 113 // the largest of rowCounts
	x, alone := fill(most*cols, r, inputs[0].number), make([]float32, most*rows)
	for i := range most {
		multiply(alone[i*rows:(i+1)*rows], x[i*cols:(i+1)*cols], 1)
	}
	for _, m := range rowCounts() {
		together := make([]float32, m*rows)
		multiply(together, x[:m*cols], m)
		sameBits(t, fmt.Sprintf("%s, %d rows", what, m), together, alone[:m*rows])
	}
}
