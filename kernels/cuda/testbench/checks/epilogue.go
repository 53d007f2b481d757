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

// beside is what a product does besides: an epilogue of a kind, which may write an operand, and the residual
// stream, whose norm it reads instead of x if norm is not nil.
type beside struct {
	kind            int
	operand         []byte
	stream, squares []float32
	norm            []float32
	eps             float32
	blocks          int // of a product that normalises its row; 0: as many as there can be
}

// arguments are the last parameters of a kernel for few rows.
func (b beside) arguments(slabs, columns int) []any {
	memory := func(v []float32) any {
		if v == nil {
			return uint64(0)
		}
		return v
	}
	var operand any = uint64(0)
	if b.operand != nil {
		operand = b.operand
	}
	return []any{int32(b.kind), operand, int32(slabs), memory(b.stream), memory(b.squares), memory(b.norm), int32(columns), b.eps}
}

// CheckEpilogues compares each product that also does a neighbouring step (an epilogue, or the norm of its
// input) with a plain product and that step done separately, by a kernel or by package ref. Results, operands,
// the residual stream and its squares must have the same bits.
func (f Matmul) CheckEpilogues(t testing.TB, run Run) {
	t.Helper()
	r := rand.New(rand.NewPCG(9, 9))
	for _, atLeast := range []int{300, 528} { // a ragged tile in most formats; more tiles than lanes
		f.checkNormed(t, run, r, (atLeast+f.multiple-1)/f.multiple*f.multiple)
	}
	if f.Operand() == "" {
		return
	}
	for _, n := range []int{32, 96, 304} { // blocks of 32 columns: one, three, nine and a half
		ranges := 2
		if n == 32 {
			ranges = 5 // too many for a block to have a warp for each range of each tile
		}
		cols := ranges * f.Columns
		both := []packed{f.pack(t, f.random(r, n, cols), n, cols, ranges), f.pack(t, f.random(r, n, cols), n, cols, ranges)}
		for _, m := range []int{1, 2, 9} {
			x := simtest.Normal(7, m*cols)
			separate := f.products(run, x, m, both, cols)
			want := f.emptyOperand(m, n)
			got := slices.Clone(want)
			run("swiglu"+f.Operand(), simtest.Grid(1, m), simtest.Block(256), 0, want, separate[0], separate[1], int32(n), int32(f.ActivationSlabs(n)))
			f.productsThen(run, x, m, both, cols, beside{kind: cuda.SwiGLUEpilogue, operand: got})
			simtest.Equal(t, fmt.Sprintf("%s: SwiGLU of %d rows of %d", f.Name, m, n), got, want)
		}
	}
}

// emptyOperand is memory for an operand of m rows of n numbers.
func (f Matmul) emptyOperand(m, n int) []byte {
	return simtest.Filled(f.ActivationBytes(m, n), byte(0xab))
}

// checkNormed compares a product that adds to the residual stream, a norm of the sum, and two products that
// normalise the stream themselves, with the separate steps.
func (f Matmul) checkNormed(t testing.TB, run Run, r *rand.Rand, n int) {
	t.Helper()
	const ranges, eps, rows = 2, float32(1e-6), 40
	cols := ranges * f.Columns
	before := f.pack(t, f.random(r, n, cols), n, cols, ranges)
	own := min(2, f.Slabs(n)) // so few warps that a thread has several turns
	next := []packed{f.pack(t, f.random(r, rows, n), rows, n, own), f.pack(t, f.random(r, rows, n), rows, n, own)}
	norm := simtest.Normal(4, n)
	for _, m := range []int{1, 2, 9, 32} {
		name := fmt.Sprintf("%s: %d rows of %d", f.Name, m, n)
		x, stream := simtest.Normal(7, m*cols), simtest.Normal(8, m*n)
		sum, normed, squares := slices.Clone(stream), make([]float32, m*n), []float32(nil)
		result := f.product(run, x, m, before, cols)
		for i, v := range result {
			sum[i] += v
		}
		for i := 0; i < m*n; i += n {
			ref.RMSNormGroup(normed[i:i+n], sum[i:i+n], norm, eps)
			squares = append(squares, ref.TileSquares(sum[i:i+n])...)
		}
		also := beside{kind: cuda.SumEpilogue, stream: stream, squares: garbage(len(squares))}
		simtest.Equal(t, name+": result", f.productsThen(run, x, m, []packed{before}, cols, also)[0], result)
		simtest.Equal(t, name+": residual stream", stream, sum)
		simtest.Equal(t, name+": squares", also.squares, squares)

		if f.Operand() == "" {
			continue
		}
		launch := func(l cuda.Launch, arguments ...any) {
			run(l.Kernel, simtest.Grid(l.GridX, l.GridY), simtest.Block(l.Threads), l.SharedBytes, arguments...)
		}
		operand, got := f.emptyOperand(m, n), f.emptyOperand(m, n)
		launch(f.Prepare(m, n), operand, normed, int32(n), int32(f.ActivationSlabs(n)))
		launch(f.NormSummed(m, n), got, stream, squares, norm, int32(n), eps, int32(f.ActivationSlabs(n)))
		simtest.Equal(t, name+": norm", got, operand)
		if m > 1 {
			continue
		}
		also.norm, also.eps = norm, eps
		want := f.products(run, normed, m, next, n)
		operand = f.emptyOperand(m, rows)
		f.productsThen(run, normed, m, next, n, beside{kind: cuda.SwiGLUEpilogue, operand: operand})
		for _, also.blocks = range []int{0, 1} { // a block for each tile, and one for all
			also.kind = cuda.NoEpilogue
			own := f.productsThen(run, nil, m, next, n, also)
			for i := range want {
				simtest.Equal(t, fmt.Sprintf("%s: product %d of the norm", name, i), own[i], want[i])
			}
			also.kind, also.operand = cuda.SwiGLUEpilogue, f.emptyOperand(m, rows)
			f.productsThen(run, nil, m, next, n, also)
			simtest.Equal(t, name+": SwiGLU of the norm", also.operand, operand)
		}
	}
}
