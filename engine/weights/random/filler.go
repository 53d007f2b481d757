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
)

// filler makes blocks of one type. For most types random bytes are a valid block as soon as the
// scales are set.
type filler struct {
	typ compute.DType
	// set finishes whole blocks of random bytes. Their numbers then have mean 0 and the given
	// standard deviation, or nearly.
	set func(blocks []byte, deviation float64)
}

// The scales of a block are half-precision numbers at fixed offsets, in units of the deviation.
// Quants, and the scales inside a block, are uniform. Where a type has a minimum as well, the
// second scale is chosen so that the mean becomes 0.
func fillers() []filler {
	return []filler{
		{compute.F16, setF16}, {compute.BF16, setBF16}, {compute.F32, setF32},
		{compute.Q8_0, halves(34, half{0, 1 / 73.9})},
		{compute.Q4_0, halves(18, half{0, 1 / 4.61})},
		{compute.Q4_1, halves(20, half{0, 1 / 4.61}, half{2, -7.5 / 4.61})},
		{compute.Q5_0, halves(22, half{0, 1 / 9.23})},
		{compute.Q5_1, halves(24, half{0, 1 / 9.23}, half{2, -15.5 / 9.23})},
		{compute.Q4_K, halves(144, half{0, 1.0 / 258}, half{2, 7.5 / 258})},
		{compute.Q5_K, halves(176, half{0, 1.0 / 527}, half{2, 15.5 / 527})},
		{compute.Q6_K, halves(210, half{208, 1.0 / 1365})},
	}
}

func fillerOf(t compute.DType) (filler, error) {
	for _, f := range fillers() {
		if f.typ == t {
			return f, nil
		}
	}
	return filler{}, fmt.Errorf("there are no random weights of type %s", gguf.TypeName(t))
}

// matrix writes (rows, cols) numbers, one row at a time, with standard deviation 1/√cols. So a
// product has about the size of its input.
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

// setF16 keeps sign and fraction, and one random bit of the exponent. With p the power of two
// nearest to deviation, half of the magnitudes lie between p/2 and p, the others between p and 2p.
func setF16(numbers []byte, deviation float64) {
	exponent := uint16(max(1, 15+math.Round(math.Log2(deviation)))) // that of numbers from p to 2p
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

// half is a scale of a block, in half precision.
type half struct {
	at    int     // byte offset in the block
	scale float64 // for numbers of deviation 1
}

// halves sets the scales of blocks of this size.
func halves(blockBytes int, scales ...half) func([]byte, float64) {
	return func(blocks []byte, deviation float64) {
		for i := 0; i < len(blocks); i += blockBytes {
			for _, h := range scales {
				binary.LittleEndian.PutUint16(blocks[i+h.at:], float16(h.scale*deviation))
			}
		}
	}
}

func float16(v float64) uint16 {
	return binary.LittleEndian.Uint16(gguf.Encode(compute.F16, []float32{float32(v)}))
}
