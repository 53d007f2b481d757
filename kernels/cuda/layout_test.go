package cuda

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"specula/kernels/format"
	"specula/kernels/ref"
)

var formats = Packed()

// byteIn is where the byte of a number is, in 512 bytes that have one byte of each of 16 rows × 32
// columns.
func byteIn(row, column int) int { return (row%8*4+column%16/4)*16 + (row/8+column/16*2)*4 + column%4 }

func float16(b []byte) float32 {
	var v [1]float32
	ref.DequantizeF16(v[:], b)
	return v[0]
}

func bfloat16At(slab []byte, row, column int) float32 {
	at := column/16*512 + byteIn(row, 2*(column%16))
	return math.Float32frombits(uint32(slab[at])<<16 | uint32(slab[at+1])<<24)
}

// unpacked has a function for each format that reads one number of a tile. The functions follow the
// layouts that the kernels' comments describe.
var unpacked = map[*Format]func(slab []byte, row, column int) float32{
	BFloat16: bfloat16At,
	Half: func(slab []byte, row, column int) float32 {
		return float16(slab[column/16*512+byteIn(row, 2*(column%16)):])
	},
	Q6_K: func(slab []byte, row, column int) float32 {
		block, at := column/32, byteIn(row, column%32)
		low, high := slab[block/2*512+at]>>(block%2*4)&15, slab[2048+block/4*512+at]>>(6-block%4*2)&3^2
		quant, scale := int(low)+16*int(high)-32, int(slab[3072+row*16+column/16])-128
		return float16(slab[3328+row%8*4+row/8*2:]) * float32(quant*scale)
	},
}

// unpackedScaled reads a number of a format of src/scaled.h.
func unpackedScaled(f *Format, slab []byte, row, column int) float32 {
	block, at := column/32, byteIn(row, column%32)
	var quant float32
	scales, place := slab[f.Columns*2*f.file.Bits():], row%8*2+row/8
	switch f.file.Low.Bits {
	case 8:
		quant = float32(int8(slab[block*512+at]))
	case 4:
		bits := slab[block/2*512+at] >> (block % 2 * 4) & 15
		switch high := slab[f.Columns*8:]; {
		case f.file.High.Bits == 1 && f.Columns == 256:
			bits |= high[at] >> block & 1 << 4
		case f.file.High.Bits == 1: // the second and the fourth word lie in the upper halves of the others
			bits |= high[at/16*8+at%16/8*4+at%4] >> (block + at/4%2*4) & 1 << 4
		}
		quant = float32(bits)
		if top := uint8(f.file.Bias); top != 0 {
			quant = float32(int(bits&^top) - int(bits&top))
		} else if f.file.Values != nil {
			quant = float32(f.file.Values[bits])
		}
	case 2:
		bits := slab[block/4*512+at] >> (block % 4 * 2) & 3
		quant = float32(bits)
		if f.file.High.Bits == 1 { // in two's complement
			quant -= float32(slab[f.Columns*4:][at]>>block&1) * 4
		}
	}
	switch {
	case f.file.Factors == format.Nibbles:
		factors, d := scales[row*16+column/16], scales[256+4*place:]
		return float16(d)*(quant*float32(factors&15)) - float16(d[2:])*float32(factors>>4)
	case f.file.Halves():
		return float16(scales[256+2*place:]) * (quant * float32(int(scales[row*16+column/16])-128))
	case f.file.OneFactor():
		return float32(float16(scales[128+2*place:])*float32(int(scales[row*8+block])-128)) * quant
	case f.file.ScaleKind == format.Exponent:
		return float32(math.Ldexp(float64(quant), int(scales[row*4+block])-128))
	case f.file.Super():
		factors, d := scales[row*16:], scales[256+row%8*8+row/8*4:]
		return float32(float16(d)*float32(factors[block])*quant) - float16(d[2:])*float32(factors[8+block])
	}
	scale := scales[row%8*16+block*4+row/8*2:]
	weight := float16(scale) * quant
	if f.file.Mins() {
		weight += float16(scale[128:])
	}
	return weight
}

func TestPackedNumbersAreThoseOfTheFile(t *testing.T) {
	dequantize := map[*Format]func(dst []float32, src []byte){BFloat16: ref.DequantizeBF16,
		Half: ref.DequantizeF16}
	random := rand.NewChaCha8([32]byte{1})
	for _, f := range formats {
		for _, shape := range [][2]int{{1, f.file.BlockElements}, {16, f.Columns},
			{37, 2*f.Columns + 3*f.file.BlockElements}} {
			rows, cols := shape[0], shape[1]
			src := make([]byte, rows*cols/f.file.BlockElements*f.file.BlockBytes)
			random.Read(src)
			want := make([]float32, rows*cols)
			if quantised, ok := ref.FormatOf(f.file.Type); ok {
				quantised.Dequantize(want, src)
			} else {
				dequantize[f](want, src)
			}
			packed := make([]byte, f.Bytes(rows, cols))
			random.Read(packed) // Pack overwrites it
			if err := f.Pack(packed, src, rows, cols); err != nil {
				t.Fatal(err)
			}
			for r := range Tiles(rows) * tileRows {
				for c := range f.Slabs(cols) * f.Columns {
					slab := packed[(r/tileRows*f.Slabs(cols)+c/f.Columns)*f.slabBytes:][:f.slabBytes]
					read, own := unpacked[f]
					if !own {
						read = func(slab []byte, row, column int) float32 { return unpackedScaled(f, slab, row, column) }
					}
					got, expected := read(slab, r%tileRows, c%f.Columns), float32(0)
					if r < rows && c < cols {
						expected = want[r*cols+c]
					}
					if got != expected && (got == got || expected == expected) {
						t.Fatalf("%s, %d × %d: row %d, column %d is %g, in the file %g", f.Name, rows,
							cols, r, c, got, expected)
					}
				}
			}
		}
	}
}

func TestPackRefusesWhatDoesNotFit(t *testing.T) {
	for _, c := range []struct {
		name           string
		cols, src, dst int
		want           string
	}{
		{"columns", 33, 34, 2176, "33 columns are no multiple of 32"},
		{"short file", 32, 33, 2176, "got 33 and 2176"},
		{"short memory", 32, 34, 2000, "got 34 and 2000"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Q8_0.Pack(make([]byte, c.dst), make([]byte, c.src), 1, c.cols)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}

// Every launch must be one that every GPU from Ampere on accepts.
func TestLaunchesFit(t *testing.T) {
	for _, f := range formats {
		for _, cols := range []int{f.Columns, 1024, 12288} {
			for _, rows := range []int{1, 1024, 4096, 151936} {
				w := f.Factor(rows, cols)
				if w.Ranges < 1 || w.Ranges > f.Slabs(cols) {
					t.Errorf("%s: %d × %d has %d ranges", f.Name, rows, cols, w.Ranges)
				}
				for _, m := range []int{1, 8, 9, 16, 17, 32, 33, 512, 4096} {
					l := f.Product(m, w, w, f.Factor(64, cols))
					if l.Threads > 32*f.mostRanges && l.Threads != 256 || l.SharedBytes > 99<<10 ||
						l.GridY > 65535 {
						t.Errorf("%s: %d rows with %d × %d: %+v", f.Name, m, rows, cols, l)
					}
					if m > MostGated {
						continue
					}
					l = f.ProductThen(SwiGLUEpilogue, m, w, w)
					if l.Threads > 512 || l.Threads%(32*w.Ranges) != 0 || l.SharedBytes > 99<<10 {
						t.Errorf("%s: %d rows gated with %d × %d: %+v", f.Name, m, rows, cols, l)
					}
				}
			}
		}
	}
}

func ExampleFormat_Product() {
	const rows, cols, m = 4096, 4096, 5
	f := BFloat16
	fmt.Println(f.Bytes(rows, cols), "bytes of weights")
	fmt.Printf("%+v\n", f.Product(m, f.Factor(rows, cols)))
	// Output:
	// 33554432 bytes of weights
	// {Kernel:matmul_bfloat16_rows8 GridX:256 GridY:1 Threads:256 SharedBytes:4096}
}
func BenchmarkPack(b *testing.B) {
	for _, f := range formats {
		b.Run(f.Name, func(b *testing.B) {
			const rows, cols = 256, 4096
			src := make([]byte, rows*cols/f.file.BlockElements*f.file.BlockBytes)
			dst := make([]byte, f.Bytes(rows, cols))
			b.SetBytes(int64(len(src)))
			for b.Loop() {
				if err := f.Pack(dst, src, rows, cols); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Every exponent that a file may have stays what it was, also those of the two subnormal scales.
func TestEveryExponentIsKept(t *testing.T) {
	file := format.Find(39)
	for e := range 256 {
		var share format.Share
		block := make([]byte, file.BlockBytes)
		block[file.Scale] = byte(e)
		if file.Read(&share, block, 0); exponentOf(share.Scale) != byte(e) {
			t.Errorf("%s: the exponent %d became %d", file.Name, e, exponentOf(share.Scale))
		}
	}
}
