package checks

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/ref"
)

type operand struct {
	suffix, round string
	slabBytes     int // of eight rows and 128 columns
}

// operands are the layouts in which products read rows, each with the kernel that makes it from a
// float32 row.
var operands = []operand{
	{"bfloat16", "round_bfloat16", 2048},
	{"int8", "quantise_rows", 1280},
}

// Operands checks the kernels that write a row directly as the operand of a product. The bytes
// must equal those of two steps: write the row as float32, then convert it.
func Operands(t *testing.T, launch Launch) {
	t.Helper()
	for _, o := range operands {
		r := rand.New(rand.NewPCG(11, 11))
		// two groups of rows, half a slab of zeros
		const rows, heads, headDim, length, splits = 9, 5, 64, 300, 2
		const cols, slabs, eps = heads * headDim, 3, float32(1e-6)
		check := func(what string, row []float32, fused func(to []byte)) {
			t.Helper()
			got := bytes.Repeat([]byte{0xab}, 2*slabs*o.slabBytes)
			want := slices.Clone(got)
			fused(got)
			launch(o.round, [3]int{1, rows, 1}, line(256), want, row, int32(cols), int32(slabs))
			if !bytes.Equal(got, want) {
				t.Errorf("%s_%s differs from the rounded row", what, o.suffix)
			}
		}
		x, y, w, row := numbers(r, rows*cols), numbers(r, rows*cols), numbers(r, cols), garbage(rows*cols)

		launch("rms_norm", line(rows), line(512), row, x, w, int32(cols), eps)
		check("rms_norm", row, func(to []byte) {
			launch("rms_norm_"+o.suffix, [3]int{1, rows, 1}, line(512), to, x, w, int32(cols),
				eps, int32(slabs))
		})
		stream := slices.Clone(x)
		launch("add_rms_norm", line(rows), line(512), row, stream, y, w, int32(cols), eps)
		check("add_rms_norm", row, func(to []byte) {
			sum := slices.Clone(x)
			launch("add_rms_norm_"+o.suffix, [3]int{1, rows, 1}, line(512), to, sum, y, w, int32(cols),
				eps, int32(slabs))
			sameBits(t, "the residual stream", sum, stream)
		})
		var squares []float32
		for i := 0; i < len(stream); i += cols {
			squares = append(squares, ref.TileSquares(stream[i:i+cols])...)
		}
		check("norm_summed", row, func(to []byte) {
			launch("norm_summed_"+o.suffix, [3]int{1, rows, 1}, line(256), to, stream, squares, w, int32(cols), eps, int32(slabs))
		})
		gate := slices.Clone(x)
		launch("swiglu", line(4), line(128), gate, y, int32(rows*cols))
		check("swiglu", gate, func(to []byte) {
			launch("swiglu_"+o.suffix, [3]int{2, rows, 1}, line(64), to, x, y, int32(cols), int32(slabs))
		})
		partial, stats := numbers(r, rows*heads*splits*headDim), numbers(r, rows*heads*splits*2)
		launch("combine_splits", [3]int{heads, rows, 1}, line(64), row, partial, stats, []int32{length},
			int32(0), int32(heads), int32(headDim), int32(splits), int32(0), w)
		check("combine_splits", row, func(to []byte) {
			launch("combine_splits_"+o.suffix, [3]int{2, rows, 1}, line(64), to, partial, stats,
				[]int32{length}, int32(0), int32(heads), int32(headDim),
				int32(splits), int32(0), w, int32(slabs))
		})
	}
}
