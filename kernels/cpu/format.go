package cpu

import (
	"encoding/binary"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

// Format is a way to store weights as integers with scales, with the names of GGUF. The zero Format
// is invalid.
type Format struct{ layout.Panel }

// FormatOf returns the format with this number in GGUF.
func FormatOf(number uint32) (f Format, ok bool) {
	found := format.Find(number)
	return Format{layout.Panel{Format: found}}, found != nil && found.Quants != nil
}

// share is the part of a tile of 32 columns that belongs to one weight row.
type share struct {
	quants [Block]uint8 // with the bias
	d      uint16       // half-precision scale; one for a whole super-block
	min    uint16       // half-precision minimum; one for a whole super-block
	// In a super-block: the integer factors of d and −min. With halves: the signed factors of d for
	// each half.
	scales [2]uint8
}

// scaleAndMin returns the float32 factors of a share: weight = scale·(quant − bias) + min. With
// halves, scale does not include the integer factors.
func (f Format) scaleAndMin(s *share) (scale, min float32) {
	scale = half(s.d)
	if f.Mins() {
		min = half(s.min)
	}
	if f.Factors == format.SixBits {
		scale *= float32(s.scales[0])
		min *= -float32(s.scales[1])
	}
	return scale, min
}

// split reads the share of a row from a block of the file.
func (f Format) split(block []byte, tile int, s *share) {
	q := f.Quants
	q.Unpack(&s.quants, block, tile)
	s.d = binary.LittleEndian.Uint16(block[q.Scale:])
	if q.Mins() {
		s.min = binary.LittleEndian.Uint16(block[q.Min:])
	}
	switch q.Factors {
	case format.SixBits:
		s.scales[0], s.scales[1] = format.UnpackSixBits(block[q.FactorsAt:], tile)
	case format.SignedBytes:
		s.scales = [2]uint8(block[q.FactorsAt+2*tile:])
	}
}
