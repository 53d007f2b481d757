package cuda

import (
	"encoding/binary"
	"math"

	"specula/kernels/format"
	"specula/kernels/ref"
)

// StoredAs returns the type in which the GPU keeps weights of a type that has no kernels of its own,
// and whether all weights keep their values. BF16 holds formats whose scale is a power of two or has
// eight bits. Of the other formats without a minimum, Q8_0 holds those without factors. Q6_K holds those
// with signed factors whose quants stand for −32 to 31 and whose Unit is 1. The rest is rounded to half
// precision.
func StoredAs(number uint32) (as *Format, exact bool) {
	f := format.Find(number)
	switch {
	case f == nil || f.Quants == nil:
		return Half, false
	case f.ScaleKind == format.Exponent || f.Factors == format.HalfScales:
		return BFloat16, true
	case f.Factors == format.NoFactors && !f.Mins():
		return Q8_0, true
	case sixBits(f):
		return Q6_K, true
	}
	return Half, false
}

// sixBits reports whether blocks of Q6_K can hold the weights.
func sixBits(f *format.Format) bool {
	if f.Mins() || f.UnitOf() != 1 || f.Factors == format.SixBits || f.Factors == format.Nibbles {
		return false
	}
	for quant := range 1 << f.Bits() {
		if v := f.Value(uint8(quant)); v < -32 || v > 31 {
			return false
		}
	}
	return true
}

// Recode converts whole blocks of weights to blocks of the type that StoredAs returns. It is for types
// for which StoredAs says exact.
func Recode(number uint32, blocks []byte) []byte {
	f := format.Find(number)
	switch as, _ := StoredAs(number); as {
	case BFloat16:
		return toBFloat16(f, blocks)
	case Q8_0:
		return toQ8_0(f, blocks)
	}
	return toQ6_K(f, blocks)
}

func toBFloat16(f *format.Format, blocks []byte) []byte {
	wide := make([]float32, len(blocks)/f.BlockBytes*f.BlockElements)
	ref.Format{Format: f}.Dequantize(wide, blocks)
	out := make([]byte, 0, 2*len(wide))
	for _, v := range wide {
		out = binary.LittleEndian.AppendUint16(out, uint16(math.Float32bits(v)>>16))
	}
	return out
}

func toQ8_0(f *format.Format, blocks []byte) []byte {
	var out []byte
	eachTile(f, blocks, func(_ int, s *format.Share) {
		out = binary.LittleEndian.AppendUint16(out, s.Scale)
		for _, quant := range s.Quants {
			out = append(out, byte(f.Value(quant)))
		}
	})
	return out
}

// toQ6_K converts blocks to Q6_K. The table of formats says where a block of Q6_K has its quants.
func toQ6_K(f *format.Format, blocks []byte) []byte {
	as := format.Find(format.Q6_K)
	out := make([]byte, len(blocks)/f.BlockBytes*as.BlockBytes)
	eachTile(f, blocks, func(tile int, s *format.Share) {
		block := out[tile/8*as.BlockBytes:][:as.BlockBytes]
		for k, quant := range s.Quants {
			v := byte(f.Value(quant) + int32(as.Bias))
			number := tile%8*format.Tile + k
			at, shift := as.Low.Find(number)
			block[at] |= v & 15 << shift
			at, shift = as.High.Find(number)
			block[at] |= v >> 4 << shift
		}
		factors := s.Factors
		if f.OneFactor() {
			factors[1] = factors[0]
		}
		copy(block[as.FactorsAt+2*(tile%8):], factors[:])
		binary.LittleEndian.PutUint16(block[as.Scale:], s.Scale)
	})
	return out
}

// eachTile calls visit with the contents of every tile of the blocks, in order.
func eachTile(f *format.Format, blocks []byte, visit func(tile int, s *format.Share)) {
	var s format.Share
	tiles := f.BlockElements / format.Tile
	for b := range len(blocks) / f.BlockBytes {
		for tile := range tiles {
			f.Read(&s, blocks[b*f.BlockBytes:][:f.BlockBytes], tile)
			visit(b*tiles+tile, &s)
		}
	}
}
