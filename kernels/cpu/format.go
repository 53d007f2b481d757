package cpu

import (
	"encoding/binary"

	"specula/kernels/cpu/layout"
	"specula/kernels/format"
)

// Format is a way to store weights as integers with scales, with the names of GGUF. The zero Format
// is invalid.
type Format struct{ layout.Panel }

// Formats returns the supported formats.
func Formats() []Format {
	var all []Format
	for _, f := range format.Quantised() {
		all = append(all, Format{layout.Panel{Format: f}})
	}
	return all
}

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
	if s.quants = [Block]uint8{}; q.High.Bits > 0 {
		s.addBits(block, &q.High, tile, q.Low.Bits)
	}
	s.addBits(block, &q.Low, tile, 0)
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

// addBits adds the bits of a plane to the quants, above their first bits. It takes eight quants at
// a time: they lie in eight bytes, or are the bits of one.
func (s *share) addBits(block []byte, p *format.Plane, tile, first int) {
	const each = 0x0101010101010101
	le := binary.LittleEndian
	at, shift := p.Find(tile * Block)
	packed := block[at:]
	if p.Run == 1 {
		for k := 0; k < Block; k += 8 {
			const bitOfEach = 0x8040201008040201
			word := (uint64(packed[k/8])*each&bitOfEach + 0x7f*each) >> 7 & each
			le.PutUint64(s.quants[k:], le.Uint64(s.quants[k:])|word<<(first&7))
		}
		return
	}
	mask := uint64(each)<<(p.Bits&7) - each
	for k := 0; k < Block; k += 8 {
		if k&(p.Run-1) == 0 && k > 0 { // the next quants are the next bits of the same bytes
			shift += p.Bits
		}
		word := le.Uint64(packed[k&(p.Run-1):]) >> (shift & 7) & mask
		le.PutUint64(s.quants[k:], le.Uint64(s.quants[k:])|word<<(first&7))
	}
}
