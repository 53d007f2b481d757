package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// A product with activations that are not quantised has the bits of the product with the dequantised
// weights, however many rows there are, with every kind of number. Panels have whole steps of decoding
// and a rest, and the last panel is not full.
func TestMatMulDequantizedEqualsReference(t *testing.T) {
	const rows = 71
	weights := []func(ref.Format, int, int, *rand.Rand) []byte{finiteBlocks, extremeBlocks}
	for _, f := range formats {
		cols := max(2*f.ref.BlockElements, 5*cpu.Block)
		cols -= cols % f.ref.BlockElements
		for n, m := range []int{1, 2, 5, 33, 1, 2, 5, 67} {
			r := rand.New(rand.NewPCG(uint64(cols), uint64(n)))
			in := inputs[(n+n/2)%len(inputs)]
			x, blocks := fill(m*cols, r, in.number), weights[n%2](f.ref, rows, cols, r)
			plain, want := make([]float32, rows*cols), make([]float32, m*rows)
			f.ref.Dequantize(plain, blocks)
			ref.MatMulF32(want, x, m, plain, rows, cols)
			onEveryLevelQuietly(func(level cpu.Level) {
				var room cpu.Room
				got := make([]float32, m*rows)
				task := cpu.MatMulDequantized{Dst: got, X: x, M: m, W: repack(f.cpu, rows, cols, blocks), Room: &room}
				task.Do(0, 1)
				task.Do(1, task.Items())
				sameBits(t, fmt.Sprintf("%v, %v, %s, %d rows", level, f.cpu, in.name, m), got, want)
			})
		}
	}
}

func BenchmarkMatMulDequantized(b *testing.B) {
	const rows, cols = 16 << 10, 1024
	r := rand.New(rand.NewPCG(1, 0))
	pool := cpu.NewPool(2, cpu.DefaultPoll)
	defer pool.Close()
	var room cpu.Room
	for _, f := range formats {
		blocks := randomBlocks(f.ref, 32, cols, r, false)
		src := make([]byte, 0, rows/32*len(blocks))
		for range rows / 32 {
			src = append(src, blocks...)
		}
		w := repack(f.cpu, rows, cols, src)
		for _, m := range []int{1, 5, 64} {
			task := cpu.MatMulDequantized{Dst: make([]float32, m*rows), X: fill(m*cols, r, inputs[0].number), M: m, W: w, Room: &room}
			b.Run(fmt.Sprintf("%v/m=%d", f.cpu, m), func(b *testing.B) {
				for b.Loop() {
					pool.Run(&task, task.Items(), task.Work())
				}
				b.ReportMetric(float64(m*rows*cols)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "GMAC/s")
			})
		}
	}
}
