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

func fillers() []filler {
	return []filler{{compute.F16, setF16}, {compute.Q8_0, setQ8_0}, {compute.Q4_K, setQ4_K}}
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

// setQ8_0 sets the scale of blocks of 32 evenly spread bytes, whose standard deviation is 256/√12.
func setQ8_0(blocks []byte, deviation float64) {
	scale := float16(deviation * math.Sqrt(12) / 256)
	for i := 0; i < len(blocks); i += 34 {
		binary.LittleEndian.PutUint16(blocks[i:], scale)
	}
}

// setQ4_K sets both scales of blocks of 256. A number is d·s·q − dmin·m with s, m from 0 to 63 and q from 0 to 15, all evenly
// spread: dmin = 7.5·d makes the mean zero, and then the standard deviation is 258·d.
func setQ4_K(blocks []byte, deviation float64) {
	d := deviation / 258
	for i := 0; i < len(blocks); i += 144 {
		binary.LittleEndian.PutUint16(blocks[i:], float16(d))
		binary.LittleEndian.PutUint16(blocks[i+2:], float16(7.5*d))
	}
}

func float16(v float64) uint16 {
	return binary.LittleEndian.Uint16(gguf.Encode(compute.F16, []float32{float32(v)}))
}
