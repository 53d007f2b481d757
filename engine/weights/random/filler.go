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

// filler makes blocks of one type. Fresh random bytes are a valid block of most types once their scales are set.
type filler struct {
	typ compute.DType
	// set finishes random bytes, whole blocks, so that the numbers have mean 0 and the standard deviation given, or nearly.
	set func(blocks []byte, deviation float64)
}

// The scales of a block are halves at fixed places, in units of the deviation. Quants and scales inside a block are evenly spread, so
// that the second half of those with a minimum makes the mean zero.
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

// matrix writes (rows, cols) numbers, a row at a time, of standard deviation 1/√cols: a product then has the size of its input.
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

// setF16 keeps the sign and the fraction, and one bit of the exponent below the power of two nearest to deviation·√2: magnitudes
// from half of it to twice.
func setF16(numbers []byte, deviation float64) {
	exponent := uint16(max(1, 15+math.Round(math.Log2(deviation)))) // of numbers from deviation to 2·deviation
	for i := 0; i < len(numbers); i += 2 {
		bits := binary.LittleEndian.Uint16(numbers[i:])
		binary.LittleEndian.PutUint16(numbers[i:], bits&0x83ff|(exponent-bits>>14&1)<<10)
	}
}

// setBF16 is setF16 with eight bits of exponent.
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

// half is a scale of a block.
type half struct {
	at    int     // byte of the block
	scale float64 // for numbers of deviation 1
}

// halves sets the scales of blocks of so many bytes.
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
