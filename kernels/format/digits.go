package format

import "encoding/binary"

// unpackTQ10 reads digits of base three. A byte b holds five of them: b/256, written in base three, is
// 0.d₀d₁d₂d₃d₄…. The first 32 bytes hold weights 0 to 159: digit n of byte m is weight 32·n + m.
// In the same way the next 16 bytes hold weights 160 to 239, and the last four, with four digits
// each, weights 240 to 255.
func unpackTQ10(s *Share, block []byte, tile int) {
	for k := range s.Quants {
		weight := tile*Tile + k
		var at, digit int
		switch {
		case weight < 160:
			at, digit = weight%32, weight/32
		case weight < 240:
			at, digit = 32+(weight-160)%16, (weight-160)/16
		default:
			at, digit = 48+(weight-240)%4, (weight-240)/4
		}
		fraction := block[at]
		for range digit {
			fraction *= 3
		}
		s.Quants[k] = uint8(uint16(fraction) * 3 >> 8)
	}
	s.Scale, s.Factors[0] = binary.LittleEndian.Uint16(block[52:]), 1
}

// unpackTQ20 reads two bits per weight. A block of eight tiles is treated as a super-block, which has
// factors. The format has none, so the factors are 1.
func unpackTQ20(s *Share, block []byte, tile int) {
	for k := range s.Quants {
		s.Quants[k] = block[tile/4*32+k] >> (tile % 4 * 2) & 3
	}
	s.Scale, s.Factors[0] = binary.LittleEndian.Uint16(block[64:]), 1
}

// unpackQ10 reads one bit per weight: 0 stands for −1, 1 for 1. Quants are the weight plus 1: 0 or 2.
func unpackQ10(s *Share, block []byte, tile int) {
	for k := range s.Quants {
		s.Quants[k] = block[2+4*tile+k/8] >> (k % 8) & 1 * 2
	}
	s.Scale = binary.LittleEndian.Uint16(block)
}

// unpackQ20 reads two bits per weight; four neighbours share a byte.
func unpackQ20(s *Share, block []byte, tile int) {
	for k := range s.Quants {
		s.Quants[k] = block[2+8*tile+k/4] >> (k % 4 * 2) & 3
	}
	s.Scale = binary.LittleEndian.Uint16(block)
}
