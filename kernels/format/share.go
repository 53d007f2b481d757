package format

import (
	"encoding/binary"
	"sort"
)

// Share is what a block says about one of its tiles (of Tile weights), unpacked: quants, scale, minimum and factors.
type Share struct {
	Quants [Tile]uint8 // before the bias is subtracted, or indices of Values
	// Scale has the bits of the scale, in half precision or as ScaleKind says. Min has the bits of
	// the minimum, in half precision; with HalfScales, it has the bits of the second scale.
	Scale, Min uint16
	// Factors holds the integers by which the scale and the minimum are multiplied. The constants of
	// the type Factors say what each of the two bytes means.
	Factors [2]uint8
}

// ScaleKind says how the scale of a block is stored.
type ScaleKind int

// The kinds of scales.
const (
	// Half is half precision.
	Half ScaleKind = iota
	// Exponent is a byte e that stands for 2^(e−128). Share.Scale has it converted to bfloat16.
	Exponent
	// Spread is half precision in four parts of four bits, the lowest first. Each part is the upper four
	// bits of one of four 16-bit numbers of the block. A Share has the whole scale.
	Spread
)

// Factors says how a block stores the factors of its parts, which are tiles or half tiles. The scale of a
// part is the block's scale times an integer factor. If a format has minima, the minimum of a part is the
// block's minimum times another factor. With HalfScales each part has a scale of its own instead.
type Factors int

// The kinds of factors.
const (
	// NoFactors: all tiles of a block have the block's scale.
	NoFactors Factors = iota
	// SixBits: each of eight tiles has an unsigned factor of the scale and one of the minimum, in 12 bytes
	// together. UnpackSixBits reads them. The block stores minus the minimum.
	SixBits
	// SignedBytes: each 16 weights have a signed byte as their factor.
	SignedBytes
	// SignedSixBits: each 16 weights have a factor of six bits, from which 32 is subtracted. The 16 factors
	// take 12 bytes. The low four bits of factor i are nibble i/8 of byte i%8; its upper two bits lie in
	// byte 8 + i%4 from bit 2·(i/4) on. A Share has the factors as signed bytes.
	SignedSixBits
	// Nibbles: each 16 weights have a byte, with an unsigned factor of the scale in its low four bits and one
	// of the minimum in its high four. The block stores minus the minimum. A Share has the two bytes of its tile.
	Nibbles
	// TileSixBits: each tile has a factor of six bits, from which 32 is subtracted. A block has the upper
	// two bits of all factors in two bytes, then the lower four in four bytes. A Share has the factor as a
	// signed byte.
	TileSixBits
	// TileBytes: each tile has a signed byte as its factor.
	TileBytes
	// HalfScales: each 16 weights have a scale of their own: half the number that one byte holds, with four
	// bits of exponent and three of fraction (E4M3). A Share has the two scales of its tile in half precision.
	HalfScales
)

// Words returns bits first to first+n−1 of each quant, as the lowest bits of the quant's byte.
func (s *Share) Words(first, n int) Words {
	le, mask := binary.LittleEndian, uint64(eachByte)*(1<<n-1)
	q := &s.Quants
	return Words{le.Uint64(q[0:]) >> (first & 7) & mask, le.Uint64(q[8:]) >> (first & 7) & mask,
		le.Uint64(q[16:]) >> (first & 7) & mask, le.Uint64(q[24:]) >> (first & 7) & mask}
}

// Read reads a tile's part of a block into s.
func (q *Quants) Read(s *Share, block []byte, tile int) {
	if q.unpack != nil {
		q.unpack(s, block, tile)
		return
	}
	w := q.Low.Read(block, tile)
	if q.High.Bits > 0 {
		high, first := q.High.Read(block, tile), q.Low.Bits&7
		w = Words{w.A | high.A<<first, w.B | high.B<<first, w.C | high.C<<first, w.D | high.D<<first}
	}
	if q.Signed {
		highest := uint64(eachByte) << (q.Bits() - 1)
		w = Words{w.A ^ highest, w.B ^ highest, w.C ^ highest, w.D ^ highest}
	}
	le := binary.LittleEndian
	le.PutUint64(s.Quants[0:], w.A)
	le.PutUint64(s.Quants[8:], w.B)
	le.PutUint64(s.Quants[16:], w.C)
	le.PutUint64(s.Quants[24:], w.D)
	q.ReadScales(s, block, tile)
}

// InPlanes reports whether the planes Low and High have the bits of the quants, unchanged.
func (q *Quants) InPlanes() bool { return q.unpack == nil && !q.Signed }

// ReadScales is Read without the quants, for formats for which InPlanes is true.
func (q *Quants) ReadScales(s *Share, block []byte, tile int) {
	if q.ScaleKind == Exponent {
		s.Scale = bfloat16OfExponent(block[q.Scale])
	} else {
		s.Scale = binary.LittleEndian.Uint16(block[q.Scale:])
	}
	if q.Mins() {
		s.Min = binary.LittleEndian.Uint16(block[q.Min:])
	}
	q.readFactors(s, block[q.FactorsAt:], tile)
}

func (q *Quants) readFactors(s *Share, p []byte, tile int) {
	switch q.Factors {
	case SixBits:
		s.Factors[0], s.Factors[1] = UnpackSixBits(p, tile)
	case SignedBytes, Nibbles:
		s.Factors = [2]uint8(p[2*tile:])
	case SignedSixBits:
		for half := range s.Factors {
			i := 2*tile + half
			s.Factors[half] = p[i%8]>>(i/8*4)&15 | p[8+i%4]>>(i/4*2)&3<<4 - 32
		}
	case TileSixBits:
		upper := binary.LittleEndian.Uint16(p) >> (2 * tile) & 3
		s.Factors[0] = p[2+tile/2]>>(tile%2*4)&15 | uint8(upper)<<4 - 32
	case HalfScales:
		s.Scale, s.Min = halfOfE4M3(p[2*tile]), halfOfE4M3(p[2*tile+1])
	}
}

// UnpackSixBits reads the two factors of a tile from the 12 bytes p. A factor of the first four tiles
// is the low 6 bits of one of the first eight bytes. A factor of the other tiles has its low 4 bits in
// a nibble of the last four bytes, and its upper 2 bits in the upper 2 bits of one of the first eight.
func UnpackSixBits(p []byte, tile int) (scale, min byte) {
	if tile < 4 {
		return p[tile] & 63, p[tile+4] & 63
	}
	return p[tile+4]&15 | p[tile-4]>>6<<4, p[tile+4]>>4 | p[tile]>>6<<4
}

// bfloat16OfExponent returns 2^(e−128) in bfloat16. The two smallest are subnormal.
func bfloat16OfExponent(e byte) uint16 {
	if e < 2 {
		return 0x20 << e
	}
	return uint16(e-1) << 7
}

// halfOfE4M3 returns half of the number that e is in E4M3, in half precision. The sign is ignored. 0x7f
// (NaN in E4M3) counts as 0, as in ggml.
func halfOfE4M3(e byte) uint16 {
	exponent, fraction := uint16(e>>3&15), uint16(e&7)
	switch {
	case e == 0x7f || exponent == 0 && fraction == 0:
		return 0
	case exponent > 0:
		return (exponent+15-7-1)<<10 | fraction<<7
	}
	exponent = 8 // subnormal: fraction·2⁻¹⁰
	for ; fraction&8 == 0; fraction <<= 1 {
		exponent--
	}
	return exponent<<10 | fraction&7<<7
}

// Bits returns the number of bits of a quant.
func (q *Quants) Bits() int { return q.Low.Bits + q.High.Bits }

// Mins reports whether weights have a minimum.
func (q *Quants) Mins() bool { return q.Min != 0 }

// Halves reports whether the two halves of a tile have integer factors of their own.
func (q *Quants) Halves() bool {
	return q.Factors == SignedBytes || q.Factors == SignedSixBits || q.Factors == Nibbles
}

// OneFactor reports whether a tile has one factor, a signed byte.
func (q *Quants) OneFactor() bool { return q.Factors == TileSixBits || q.Factors == TileBytes }

// UnitOf returns the power of two by which the scale is multiplied: Unit, or 1 if Unit is 0.
func (q *Quants) UnitOf() float32 {
	if q.Unit == 0 {
		return 1
	}
	return q.Unit
}

// Value returns the integer that a quant of a Share stands for.
func (q *Quants) Value(quant uint8) int32 {
	if q.Values != nil {
		return int32(q.Values[quant])
	}
	return int32(quant) - int32(q.Bias)
}

// SetScales sets the scale and the minimum of a block, given in half precision. If a format stores fewer
// bits of a scale, the others are cut off. It is for makers of random blocks.
func (q *Quants) SetScales(block []byte, scale, min uint16) {
	switch {
	case q.ScaleKind == Exponent:
		block[q.Scale] = uint8(scale>>10&31) - 15 + 128
	case q.Factors == HalfScales:
		above := sort.Search(0x7f, func(e int) bool { return halfOfE4M3(byte(e)) > scale&0x7fff })
		for i := range 4 {
			block[q.FactorsAt+i] = uint8(max(0, above-1))
		}
	case q.ScaleKind == Spread:
		for i := range 4 {
			at := q.Scale + 2*i + 1
			block[at] = block[at]&15 | uint8(scale>>(4*i)&15)<<4
		}
	default:
		binary.LittleEndian.PutUint16(block[q.Scale:], scale)
		if q.Mins() {
			binary.LittleEndian.PutUint16(block[q.Min:], min)
		}
	}
}
