package simtest

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/ref"
)

// matrixFormat is a format with its reference and a source of weights as they are in a file.
type matrixFormat struct {
	*cuda.Format
	module   string
	multiple int // columns are a multiple of it
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
func randomHalf(r *rand.Rand) uint16 { return uint16(r.Uint32N(2)<<15 | (10+r.Uint32N(6))<<10 | r.Uint32N(1024)) }

// blocks are random bytes with half precision scales that are normal numbers, at the given places.
func blocks(f ref.Format, scales ...int) func(r *rand.Rand, rows, cols int) []byte {
	return func(r *rand.Rand, rows, cols int) []byte {
		list := make([]byte, rows*cols/f.BlockElements*f.BlockBytes)
		for i := range list {
			list[i] = byte(r.Uint32())
		}
		for b := 0; b < len(list); b += f.BlockBytes {
			for _, at := range scales {
				binary.LittleEndian.PutUint16(list[b+at:], randomHalf(r))
			}
		}
		return list
	}
}

func tiles(round ref.TileTerms, widen func(dst []float32, src []byte)) func(dst, x []float32, m int, w []byte, rows, cols, ranges int) {
	return func(dst, x []float32, m int, w []byte, rows, cols, ranges int) {
		wide := make([]float32, rows*cols)
		widen(wide, w)
		ref.MatMulTiles(dst, x, m, wide, rows, cols, ranges, round)
	}
}

func quantised(f ref.Format, slabColumns int) func(dst, x []float32, m int, w []byte, rows, cols, ranges int) {
	return func(dst, x []float32, m int, w []byte, rows, cols, ranges int) {
		ref.MatMulQuantizedRanges(dst, x, m, f, w, rows, cols, slabColumns, ranges)
	}
}

var matrixFormats = []matrixFormat{
	{cuda.BFloat16, "matmul_float", 1, shorts(randomBFloat16), tiles(ref.BFloat16Terms(1), ref.DequantizeBF16), ref.DequantizeBF16},
	{cuda.BFloat16TwoTerms, "matmul_float", 1, shorts(randomBFloat16), tiles(ref.BFloat16Terms(2), ref.DequantizeBF16), ref.DequantizeBF16},
	{cuda.Half, "matmul_float", 1, shorts(randomHalf), tiles(ref.HalfTerm, ref.DequantizeF16), ref.DequantizeF16},
	{cuda.Q8_0, "matmul_integer", 32, blocks(ref.Q8_0, 0), quantised(ref.Q8_0, 128), ref.Q8_0.Dequantize},
	{cuda.Q4_K, "matmul_integer", 256, blocks(ref.Q4_K, 0, 2), quantised(ref.Q4_K, 256), ref.Q4_K.Dequantize},
	{cuda.Q6_K, "matmul_integer", 256, blocks(ref.Q6_K, 208), quantised(ref.Q6_K, 256), ref.Q6_K.Dequantize},
}

// product prepares the activations and multiplies, on the simulator.
func (f matrixFormat) product(t *testing.T, k Kernels, x []float32, m int, w []byte, rows, cols, ranges int) []float32 {
	t.Helper()
	packed := make([]byte, f.Bytes(rows, cols))
	if err := f.Pack(packed, w, rows, cols); err != nil {
		t.Fatal(err)
	}
	activations := Filled(f.ActivationBytes(m, cols), byte(0xff)) // what stands in rows that are not there must not matter
	run := func(l cuda.Launch, arguments ...any) {
		t.Helper()
		k.Run(l.Kernel, Grid(l.GridX, l.GridY), Block(l.Threads), l.SharedBytes, arguments...)
	}
	run(f.Prepare(m, cols), activations, x, int32(cols), int32(f.ActivationSlabs(cols)))
	y := Filled(m*rows, float32(math.NaN()))
	l := f.Product(m, cuda.Tiles(rows), cols)
	if f.Ranges(cuda.Tiles(rows), cols) != ranges && l.Threads != 256 {
		t.Fatalf("%d ranges were meant", ranges)
	}
	run(l, y, int32(rows), nil, int32(0), nil, int32(0), packed, activations, int32(m), int32(f.Slabs(cols)), int32(ranges))
	return y
}

func TestProductsEqualTheReference(t *testing.T) {
	for _, f := range matrixFormats {
		t.Run(f.Name, func(t *testing.T) {
			k := Load(t, f.module)
			for _, shape := range []struct{ rows, cols, most int }{{16, f.Columns, 2}, {37, 3*f.Columns + f.multiple%f.Columns*3, 17}} {
				r := rand.New(rand.NewPCG(1, uint64(shape.cols)))
				w := f.random(r, shape.rows, shape.cols)
				x := Normal(3, shape.most*shape.cols)
				ranges := f.Ranges(cuda.Tiles(shape.rows), shape.cols)
				want := make([]float32, shape.most*shape.rows)
				f.multiply(want, x, shape.most, w, shape.rows, shape.cols, ranges)
				for m := 1; m <= shape.most; m++ {
					got := f.product(t, k, x[:m*shape.cols], m, w, shape.rows, shape.cols, ranges)
					Equal(t, fmt.Sprintf("%d × %d with %d rows", shape.rows, shape.cols, m), got, want[:m*shape.rows])
				}
			}
		})
	}
}

func TestEmbeddedRowsEqualTheReference(t *testing.T) {
	for _, f := range matrixFormats {
		k := Load(t, f.module)
		rows, cols := 21, f.Columns+f.multiple%f.Columns
		w := f.random(rand.New(rand.NewPCG(4, 4)), rows, cols)
		packed := make([]byte, f.Bytes(rows, cols))
		if err := f.Pack(packed, w, rows, cols); err != nil {
			t.Fatal(err)
		}
		wide := make([]float32, rows*cols)
		f.widen(wide, w)
		ids := []int32{20, 0, 7, 8, 15, 16, 7}
		var want []float32
		for _, id := range ids {
			want = append(want, wide[int(id)*cols:(int(id)+1)*cols]...)
		}
		y := Filled(len(want), float32(math.NaN()))
		k.Run(f.EmbedKernel(), Grid(len(ids)), Block(64), 0, y, packed, ids, int32(cols), int32(f.Slabs(cols)))
		Equal(t, f.Name, y, want)
	}
}
