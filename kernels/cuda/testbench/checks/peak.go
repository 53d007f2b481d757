package checks

import (
	"math"
	"testing"

	"specula/kernels/ref"
)

// Peak checks matrix_peak, whose speed the products are compared with. It uses whole numbers, whose
// sums are the same in any order.
func Peak(t *testing.T, launch Launch) {
	t.Helper()
	const blocks, threads, rounds, chains = 2, 64, 3, 8
	a, b := make([]float32, 16*16), make([]float32, 16*8)
	for i := range a {
		a[i] = float32(i*7%5 - 2)
	}
	for i := range b {
		b[i] = float32(i*5%7 - 3)
	}
	out := garbage(blocks * threads)
	launch("matrix_peak", line(blocks), line(threads), out, PeakOperands(a, b), int32(rounds))
	one := ref.MatrixPeak(a, b, rounds, chains)
	want := make([]float32, len(out))
	for i := range want {
		want[i] = one[i%32]
	}
	sameBits(t, "matrix_peak", out, want)
}

// PeakOperands lays out a tile a (16, 16) and a tile b (16, 8), both row-major, in bfloat16 as the
// lanes of a warp hold them.
func PeakOperands(a, b []float32) []uint32 {
	pair := func(low, high float32) uint32 { return math.Float32bits(low)>>16 | math.Float32bits(high)&0xffff0000 }
	var words []uint32
	for lane := range 32 {
		g, t := lane/4, lane%4
		for i := range 4 {
			at := 16*(g+8*(i%2)) + 2*t + 8*(i/2)
			words = append(words, pair(a[at], a[at+1]))
		}
		for i := range 2 {
			k := 2*t + 8*i
			words = append(words, pair(b[8*k+g], b[8*(k+1)+g]))
		}
	}
	return words
}
