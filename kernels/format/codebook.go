package format

import (
	_ "embed"
	"encoding/binary"
	"math/bits"
)

// codebooks holds the grids of IQ1, IQ2_XXS, IQ2_XS, IQ2_S, IQ3_XXS and IQ3_S, one after the other. A
// grid is a list of points. A point has 16 bits: eight numbers of two bits, or four numbers of four.
// testdata/codebooks.py makes the file.
//
//go:embed codebooks.bin
var codebooks string

// The index of the first point of each grid in codebooks. IQ1 has 2048 points, IQ2_XXS 256, IQ2_XS
// 512, IQ2_S 1024, IQ3_XXS 256, IQ3_S 512.
const (
	pointsIQ1    = 0
	pointsIQ2XXS = pointsIQ1 + 2048
	pointsIQ2XS  = pointsIQ2XXS + 256
	pointsIQ2S   = pointsIQ2XS + 512
	pointsIQ3XXS = pointsIQ2S + 1024
	pointsIQ3S   = pointsIQ3XXS + 256
)

func point(i int) uint16 { return uint16(codebooks[2*i]) | uint16(codebooks[2*i+1])<<8 }

// What the quants of these formats stand for: the magnitudes of a grid, then their negatives. In the
// IQ1 formats, the numbers of a point are −1, 0 and 1, and ⅛ is added or subtracted; the table has
// eight times the result.
var (
	valuesIQ2    = [16]int8{8, 25, 43, 0, -8, -25, -43}
	valuesIQ3XXS = [16]int8{4, 12, 20, 28, 36, 44, 52, 62, -4, -12, -20, -28, -36, -44, -52, -62}
	valuesIQ3S   = [16]int8{1, 3, 5, 7, 9, 11, 13, 15, -1, -3, -5, -7, -9, -11, -13, -15}
	valuesIQ1    = [16]int8{-7, 1, 9, 0, -9, -1, 7}
)

// put8 writes the eight quants from 8·eighth on. The quant for number k of the point has this number as
// its bits 0 and 1, and bit k of upper as its bit 2.
func (s *Share) put8(eighth int, point uint16, upper uint8) {
	quants := s.Quants[8*eighth:][:8]
	for k := range quants {
		quants[k] = uint8(point>>(2*k)&3) | upper>>k&1<<2
	}
}

// put4 writes the four quants from 4·quarter on. The quant for number k of the point has this number,
// which is below 8, as its bits 0 to 2, and bit k of upper as its bit 3.
func (s *Share) put4(quarter int, point uint16, upper uint8) {
	quants := s.Quants[4*quarter:][:4]
	for k := range quants {
		quants[k] = uint8(point>>(4*k)&7) | upper>>k&1<<3
	}
}

// signs8 returns the signs of eight numbers from seven stored bits. The eighth bit follows from them,
// because the number of negative numbers is even.
func signs8(seven uint32) uint8 {
	low := uint8(seven & 127)
	return low | uint8(bits.OnesCount8(low)&1)<<7
}

// odd returns the factor 2·i + 1, which IQ1, IQ2 and IQ3 store as i.
func odd(i uint8) uint8 { return 2*i + 1 }

// unpackIQ2XXS: a tile has four indices of a byte each, then 28 bits of signs and four of the factor.
func unpackIQ2XXS(s *Share, block []byte, tile int) {
	le := binary.LittleEndian
	indices, rest := block[2+8*tile:], le.Uint32(block[2+8*tile+4:])
	for i := range 4 {
		s.put8(i, point(pointsIQ2XXS+int(indices[i])), signs8(rest>>(7*i)))
	}
	s.Scale, s.Factors[0] = le.Uint16(block), odd(uint8(rest>>28))
}

// unpackIQ2XS: eight weights have nine bits of an index and seven of signs; 16 weights have a factor.
func unpackIQ2XS(s *Share, block []byte, tile int) {
	le := binary.LittleEndian
	for i := range 4 {
		both := le.Uint16(block[2+8*tile+2*i:])
		s.put8(i, point(pointsIQ2XS+int(both&511)), signs8(uint32(both>>9)))
	}
	s.Scale, s.Factors = le.Uint16(block), oddNibbles(block[66+tile])
}

// oddNibbles returns the two factors in a byte.
func oddNibbles(b byte) [2]uint8 { return [2]uint8{odd(b & 15), odd(b >> 4)} }

// unpackIQ2S: eight weights have the low byte of an index, a byte of signs, and two upper bits of the
// index; 16 weights have a factor.
func unpackIQ2S(s *Share, block []byte, tile int) {
	low, signs, high := block[2+4*tile:], block[34+4*tile:], int(block[66+tile])
	for i := range 4 {
		s.put8(i, point(pointsIQ2S+int(low[i])+high>>(2*i)&3<<8), signs[i])
	}
	s.Scale, s.Factors = binary.LittleEndian.Uint16(block), oddNibbles(block[74+tile])
}

// unpackIQ3XXS: four weights have an index of one byte; a tile has 28 bits of signs and four of the
// factor.
func unpackIQ3XXS(s *Share, block []byte, tile int) {
	le := binary.LittleEndian
	indices, rest := block[2+8*tile:], le.Uint32(block[66+4*tile:])
	for i := range 8 {
		s.put4(i, point(pointsIQ3XXS+int(indices[i])), signs8(rest>>(i/2*7))>>(i%2*4))
	}
	s.Scale, s.Factors[0] = le.Uint16(block), odd(uint8(rest>>28))
}

// unpackIQ3S: four weights have the low byte of an index, its upper bit, and four bits of signs; a tile
// has a factor of four bits.
func unpackIQ3S(s *Share, block []byte, tile int) {
	low, high, signs := block[2+8*tile:], int(block[66+tile]), block[74+4*tile:]
	for i := range 8 {
		s.put4(i, point(pointsIQ3S+int(low[i])+high>>i&1<<8), signs[i/2]>>(i%2*4))
	}
	s.Scale, s.Factors[0] = binary.LittleEndian.Uint16(block), odd(block[106+tile/2]>>(tile%2*4)&15)
}

// unpackIQ1S: eight weights have the low byte of an index. A tile has twelve upper bits of its four
// indices, three bits of the factor, and one bit that says whether ⅛ is subtracted or added.
func unpackIQ1S(s *Share, block []byte, tile int) {
	le := binary.LittleEndian
	low, rest := block[2+4*tile:], int(le.Uint16(block[34+2*tile:]))
	for i := range 4 {
		s.put8(i, point(pointsIQ1+int(low[i])+rest>>(3*i)&7<<8), -uint8(rest>>15))
	}
	s.Scale, s.Factors[0] = le.Uint16(block), odd(uint8(rest>>12&7))
}

// unpackIQ1M: eight weights have the low byte of an index, its three upper bits, and one bit that says
// whether ⅛ is subtracted or added. 16 weights have three bits of the factor. The scale lies in the
// upper nibbles of the 16-bit numbers that hold the factors.
func unpackIQ1M(s *Share, block []byte, tile int) {
	le := binary.LittleEndian
	for i := range 4 {
		high := int(block[32+2*tile+i/2] >> (i % 2 * 4))
		s.put8(i, point(pointsIQ1+int(block[4*tile+i])+high&7<<8), -uint8(high>>3&1))
	}
	factors := le.Uint16(block[48+tile/2*2:]) >> (tile % 2 * 6)
	s.Factors = [2]uint8{odd(uint8(factors & 7)), odd(uint8(factors >> 3 & 7))}
	s.Scale = 0
	for i := range 4 {
		s.Scale |= le.Uint16(block[48+2*i:]) >> 12 << (4 * i)
	}
}
