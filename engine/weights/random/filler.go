package random

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"specula/engine/compute"
	"specula/engine/weights/gguf"
	"specula/kernels/format"
)

// filler makes blocks of one type. For most types random bytes are a valid block as soon as the
// scales are set.
type filler struct {
	typ compute.DType
	// set finishes whole blocks of random bytes, so that their numbers have mean 0 and nearly the given
	// standard deviation.
	set func(blocks []byte, deviation float64)
}

func fillerOf(t compute.DType) (filler, error) {
	switch f := format.Find(uint32(t)); {
	case t == compute.F32:
		return filler{t, setF32}, nil
	case t == compute.F16:
		return filler{t, setF16}, nil
	case t == compute.BF16:
		return filler{t, setBF16}, nil
	case f != nil && f.Quants != nil:
		return filler{t, scales(f)}, nil
	}
	return filler{}, fmt.Errorf("there are no random weights of type %s", gguf.TypeName(t))
}

// matrix writes rows·cols numbers, one row at a time, with standard deviation 1/√cols. So the numbers of a
// product with the matrix are about as large as those of its input.
func (f filler) matrix(ctx context.Context, w io.Writer, r *rand.ChaCha8, rows, cols int) error {
	info, _ := gguf.Type(f.typ)
	row := make([]byte, uint64(cols)/info.BlockElements*info.BlockBytes)
	for range rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		_, _ = r.Read(row) // never fails
		f.set(row, 1/math.Sqrt(float64(cols)))
		if _, err := w.Write(row); err != nil {
			return err
		}
	}
	return nil
}

// setF16 keeps sign, fraction, and one random bit of the exponent. If p is the power of two nearest to
// deviation, half of the magnitudes lie between p/2 and p, the others between p and 2p.
func setF16(numbers []byte, deviation float64) {
	exponent := uint16(max(1, 15+math.Round(math.Log2(deviation)))) // the exponent of numbers from p to 2p
	for i := 0; i < len(numbers); i += 2 {
		bits := binary.LittleEndian.Uint16(numbers[i:])
		binary.LittleEndian.PutUint16(numbers[i:], bits&0x83ff|(exponent-bits>>14&1)<<10)
	}
}

// setBF16 is setF16 for the eight exponent bits of BF16.
func setBF16(numbers []byte, deviation float64) {
	exponent := uint16(127 + math.Round(math.Log2(deviation)))
	for i := 0; i < len(numbers); i += 2 {
		bits := binary.LittleEndian.Uint16(numbers[i:])
		binary.LittleEndian.PutUint16(numbers[i:], bits&0x807f|(exponent-bits>>14&1)<<7)
	}
}

// setF32 is setBF16 with a longer fraction.
func setF32(numbers []byte, deviation float64) {
	exponent := uint32(127 + math.Round(math.Log2(deviation)))
	for i := 0; i < len(numbers); i += 4 {
		bits := binary.LittleEndian.Uint32(numbers[i:])
		binary.LittleEndian.PutUint32(numbers[i:], bits&0x807fffff|(exponent-bits>>30&1)<<23)
	}
}

// scales returns a function that sets the scales of blocks of random bytes. The quants, and the integer
// scales inside a block, stay random. If the type has a minimum, it is set so that the mean is 0. Types
// with integer scales for the minimum store it negated.
func scales(f *format.Format) func([]byte, float64) {
	scale := 1 / f.Deviation
	if f.ScaleKind == format.Exponent {
		scale *= math.Sqrt2 // SetScales takes the next lower power of two: after ·√2 that is the nearest
	}
	min := -scale * float64(int(1)<<f.Bits()-1) / 2
	if f.Factors == format.SixBits || f.Factors == format.Nibbles {
		min = -min
	}
	return func(blocks []byte, deviation float64) {
		for ; len(blocks) > 0; blocks = blocks[f.BlockBytes:] {
			f.SetScales(blocks, float16(scale*deviation), float16(min*deviation))
		}
	}
}

func float16(v float64) uint16 {
	return binary.LittleEndian.Uint16(gguf.Encode(compute.F16, []float32{float32(v)}))
}
