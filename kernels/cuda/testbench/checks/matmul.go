package checks

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/cuda/testbench/sim"
	"specula/kernels/cuda/testbench/simtest"
	"specula/kernels/format"
	"specula/kernels/ref"
)

// Run runs a kernel on slices, as Kernels.Run does, on the simulator, the emulator or a GPU.
type Run func(kernel string, grid, block sim.Dim, sharedBytes int, arguments ...any)

// Matmul is a format with its reference, and a source of weights in the layout of a file.
type Matmul struct {
	*cuda.Format
	multiple int // the number of columns must be a multiple of it
	random   func(r *rand.Rand, rows, cols int) []byte
	// multiply is the reference of the product.
	multiply func(dst, x []float32, m int, w []byte, rows, cols, ranges int)
	widen    func(dst []float32, src []byte)
}

func shorts(draw func(r *rand.Rand) uint16) func(r *rand.Rand, rows, cols int) []byte {
	return func(r *rand.Rand, rows, cols int) []byte {
		var list []byte
		for range rows * cols {
			list = binary.LittleEndian.AppendUint16(list, draw(r))
		}
		return list
	}
}

func randomBFloat16(r *rand.Rand) uint16 {
	return uint16(math.Float32bits(float32(r.NormFloat64())) >> 16)
}
func randomHalf(r *rand.Rand) uint16 {
	return uint16(r.Uint32N(2)<<15 | (10+r.Uint32N(6))<<10 | r.Uint32N(1024))
}

// blocks returns random bytes; their half-precision scales are normal numbers.
func blocks(f ref.Format) func(r *rand.Rand, rows, cols int) []byte {
	return func(r *rand.Rand, rows, cols int) []byte {
		list := make([]byte, rows*cols/f.BlockElements*f.BlockBytes)
		for i := range list {
			list[i] = byte(r.Uint32())
		}
		for b := 0; b < len(list); b += f.BlockBytes {
			f.SetScales(list[b:], randomHalf(r), randomHalf(r))
		}
		return list
	}
}

func tiles(round ref.Rounding, widen func(dst []float32, src []byte)) func(dst, x []float32, m int,
	w []byte, rows, cols, ranges int) {
	return func(dst, x []float32, m int, w []byte, rows, cols, ranges int) {
		wide := make([]float32, rows*cols)
		widen(wide, w)
		ref.MatMulTiles(dst, x, m, wide, rows, cols, ranges, round)
	}
}

func quantised(f *cuda.Format, file ref.Format) Matmul {
	multiply := func(dst, x []float32, m int, w []byte, rows, cols, ranges int) {
		ref.MatMulQuantizedRanges(dst, x, m, file, w, rows, cols, f.Columns, ranges)
	}
	return Matmul{f, file.BlockElements, blocks(file), multiply, file.Dequantize}
}

// Matmuls lists all formats with their references.
var Matmuls = append([]Matmul{
	{cuda.BFloat16, 1, shorts(randomBFloat16), tiles(ref.ToBFloat16s, ref.DequantizeBF16),
		ref.DequantizeBF16},
	{cuda.Half, 1, shorts(randomHalf), tiles(ref.ToHalves, ref.DequantizeF16),
		ref.DequantizeF16},
}, allQuantised()...)

func allQuantised() (list []Matmul) {
	for _, f := range cuda.Packed() {
		if file, ok := ref.FormatOf(f.Source().Type); ok {
			list = append(list, quantised(f, file))
		}
	}
	return list
}

// Exact reports whether products give the reference's bits on every GPU. They do where tensor cores sum integers.
func (f Matmul) Exact() bool { return f.Activations == quantise }

const quantise = "quantise_rows"

// ModuleOf is the module of a kernel that the checks of a format run.
func (f Matmul) ModuleOf(kernel string) string {
	switch strings.TrimSuffix(kernel, f.Operand()) {
	case "norm_summed":
		return "norm"
	case "swiglu":
		return "elementwise"
	case quantise:
		return "quantise"
	}
	return f.Module
}

// unusualRows puts unusual numbers into some rows of activations, different ones into each.
func unusualRows(x []float32, m, cols int) {
	for i, special := range [][]float32{
		{0}, {float32(math.Inf(1))}, {float32(math.NaN())}, {math.MaxFloat32, -math.MaxFloat32},
		{1e-45, -1e-45}, {1e-38, 3e-39}, {65520, -65519}, {1e-36},
	} {
		row := x[min(i+2, m)*cols : min(i+3, m)*cols]
		for k := range row {
			switch {
			case special[0] == 0:
				row[k] = 0
			case k%7 == i%7:
				row[k] = special[k/7%len(special)]
			case math.Abs(float64(special[0])) < 1e-30:
				row[k] = special[k%len(special)] * row[k]
			}
		}
	}
}

// pack converts weights as a file has them to the layout that the kernels read.
func (f Matmul) pack(t testing.TB, w []byte, rows, cols, ranges int) packed {
	t.Helper()
	weights := make([]byte, f.Bytes(rows, cols))
	if err := f.Pack(weights, w, rows, cols); err != nil {
		t.Fatal(err)
	}
	return packed{cuda.Factor{Rows: rows, Ranges: ranges}, weights}
}

// packed is a matrix in the layout of a format.
type packed struct {
	cuda.Factor
	weights []byte
}

// product brings the activations x into the form that the kernel reads, and multiplies them with one matrix.
func (f Matmul) product(run Run, x []float32, m int, w packed, cols int) []float32 {
	return f.products(run, x, m, []packed{w}, cols)[0]
}

// products brings the activations x into the form that the kernel reads, and multiplies them with joined matrices.
func (f Matmul) products(run Run, x []float32, m int, matrices []packed, cols int) [][]float32 {
	return f.productsThen(run, x, m, matrices, cols, beside{})
}

// productsThen is products that do something besides.
func (f Matmul) productsThen(run Run, x []float32, m int, matrices []packed, cols int, also beside) [][]float32 {
	start := func(l cuda.Launch, arguments ...any) {
		run(l.Kernel, simtest.Grid(l.GridX, l.GridY), simtest.Block(l.Threads), l.SharedBytes, arguments...)
	}
	var activations any = uint64(0)
	if also.norm == nil {
		// the content of missing rows must not matter
		to := simtest.Filled(f.ActivationBytes(m, cols), byte(0xff))
		start(f.Prepare(m, cols), to, x, int32(cols), int32(f.ActivationSlabs(cols)))
		activations = to
	}
	var results [][]float32
	var factors []cuda.Factor
	var arguments []any
	for i := range cuda.MostJoined {
		if i >= len(matrices) {
			arguments = append(arguments, uint64(0), int32(0), uint64(0), int32(0))
			continue
		}
		w := matrices[i]
		results = append(results, simtest.Filled(m*w.Rows, float32(math.NaN())))
		factors = append(factors, w.Factor)
		arguments = append(arguments, results[i], int32(w.Rows), w.weights, int32(w.Ranges))
	}
	arguments = append(arguments, activations, int32(m), int32(f.Slabs(cols)))
	if m <= cuda.MostWithEpilogue {
		arguments = append(arguments, also.arguments(f.ActivationSlabs(matrices[0].Rows), cols)...)
	}
	launch := f.ProductThen(also.kind, m, factors...)
	if also.norm != nil {
		launch = f.NormedProduct(also.kind, cols, factors...)
		if also.blocks > 0 {
			launch.GridX = also.blocks
		}
	}
	start(launch, arguments...)
	return results
}

// CheckProducts compares products of a format with the reference. The reference computes each row
// alone, so a row must have the same bits for every number of rows. Set exact to false on real
// tensor cores, which add floats in another order. Then the product with the most rows must be close
// to the reference, and products with fewer rows must have the bits of that product.
func (f Matmul) CheckProducts(t testing.TB, run Run, exact bool) {
	t.Helper()
	twoSlabs := 2 * f.Columns
	if f.multiple < f.Columns {
		twoSlabs = f.Columns + 3*f.multiple // the second is ragged
	}
	for _, shape := range []struct {
		rows, cols, ranges int
		m                  []int
	}{
		{16, f.Columns, 1, []int{1, 3}},
		{21, f.Columns + twoSlabs, 2, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17}},
		{37, twoSlabs, 2, []int{24, 33, 64, 130}},
		{130, twoSlabs, 2, []int{5, 40}},
	} {
		most := slices.Max(shape.m)
		r := rand.New(rand.NewPCG(1, uint64(shape.cols)))
		w := f.random(r, shape.rows, shape.cols)
		matrix := f.pack(t, w, shape.rows, shape.cols, shape.ranges)
		x := simtest.Normal(3, most*shape.cols)
		unusualRows(x, most, shape.cols)
		want := make([]float32, most*shape.rows)
		f.multiply(want, x, most, w, shape.rows, shape.cols, shape.ranges)
		if !exact {
			got := f.product(run, x, most, matrix, shape.cols)
			f.near(t, got, want)
			want = got
		}
		for _, m := range shape.m {
			got := f.product(run, x[:m*shape.cols], m, matrix, shape.cols)
			simtest.Equal(t, fmt.Sprintf("%s: %d × %d with %d rows", f.Name, shape.rows, shape.cols, m),
				got, want[:m*shape.rows])
		}
	}
}

// near checks that results are equal up to the rounding of sums in another order.
func (f Matmul) near(t testing.TB, got, want []float32) {
	t.Helper()
	largest := 0.0
	for _, v := range want {
		if a := math.Abs(float64(v)); a > largest && a < 1e6 {
			largest = a
		}
	}
	for i, v := range want {
		if a := math.Abs(float64(v)); a < 1e6 && !(math.Abs(float64(got[i])-float64(v)) < 1e-4*largest) {
			t.Errorf("%s: element %d is %g, in the reference %g", f.Name, i, got[i], v)
			return
		}
	}
}

// CheckJoined compares one launch for three matrices, which have different numbers of ranges, with three
// launches of one matrix.
func (f Matmul) CheckJoined(t testing.TB, run Run) {
	t.Helper()
	cols := 3 * f.Columns
	var matrices []packed
	for i, ranges := range []int{2, 3, 1} { // up to 32 rows, a block has as many warps as the fewest ranges
		n := []int{40, 16, 7}[i]
		matrices = append(matrices, f.pack(t, f.random(rand.New(rand.NewPCG(5, uint64(i))), n, cols), n,
			cols, ranges))
	}
	for _, m := range []int{1, 2, 35} {
		x := simtest.Normal(6, m*cols)
		got := f.products(run, x, m, matrices, cols)
		for i, w := range matrices {
			want := f.product(run, x, m, w, cols)
			simtest.Equal(t, fmt.Sprintf("%s: matrix %d of three with %d rows", f.Name, i, m), got[i], want)
		}
	}
}

// CheckEmbedding compares rows read back from the layout with the reference.
func (f Matmul) CheckEmbedding(t testing.TB, run Run) {
	t.Helper()
	rows, cols := 21, f.Columns+f.multiple%f.Columns
	w := f.random(rand.New(rand.NewPCG(4, 4)), rows, cols)
	if file := f.Source(); file.Quants != nil && file.ScaleKind == format.Exponent {
		for b := range len(w) / file.BlockBytes {
			w[b*file.BlockBytes+file.Scale] = byte(b) // the scales 0 and 1 are subnormal
		}
	}
	wide := make([]float32, rows*cols)
	f.widen(wide, w)
	ids := []int32{20, 0, 7, 8, 15, 16, 7}
	var want []float32
	for _, id := range ids {
		want = append(want, wide[int(id)*cols:(int(id)+1)*cols]...)
	}
	y := simtest.Filled(len(want), float32(math.NaN()))
	run(f.EmbedKernel(), simtest.Grid(len(ids)), simtest.Block(64), 0, y,
		f.pack(t, w, rows, cols, 1).weights, ids, int32(cols), int32(f.Slabs(cols)))
	simtest.Equal(t, f.Name+", embedded", y, want)
}
