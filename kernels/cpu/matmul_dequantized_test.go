package cpu_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// Products with activations that are not quantised are those with the dequantised weights, to the
// bit, and a row has the same bits however many there are.
func TestMatMulDequantizedEqualsReference(t *testing.T) {
	pool := cpu.NewPool(3, cpu.DefaultPoll)
	defer pool.Close()
	onEveryLevel(t, func(t *testing.T) {
		var room cpu.Room
		for _, f := range formats {
			const rows = 71
			cols := 2 * f.ref.BlockElements
			r := rand.New(rand.NewPCG(uint64(cols), 1))
			blocks := randomBlocks(f.ref, rows, cols, r, false)
			plain := make([]float32, rows*cols)
			f.ref.Dequantize(plain, blocks)
			for _, m := range []int{1, 2, 5, 33} {
				x := fill(m*cols, r, inputs[0].number)
				got, want := make([]float32, m*rows), make([]float32, m*rows)
				task := cpu.MatMulDequantized{Dst: got, X: x, M: m,
					W: repack(f.cpu, rows, cols, blocks), Room: &room}
				pool.Run(&task, task.Items(), 1<<30)
				ref.MatMulF32(want, x, m, plain, rows, cols)
				sameBits(t, fmt.Sprintf("%v, %d rows", f.cpu, m), got, want)
			}
		}
	})
}
