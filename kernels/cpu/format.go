package cpu

import "encoding/binary"

// Format is a way to store weights as integers with scales, with the names of GGUF. The zero Format
// is invalid.
type Format struct {
	*layout
}

// The supported formats.
var (
	Q8_0 = Format{&layout{name: "Q8_0", blockBytes: 34, bits: 8, bias: 128, split: splitQ8_0}}
	Q4_0 = Format{&layout{name: "Q4_0", blockBytes: 18, bits: 4, bias: 8, split: splitQ4_0}}
	Q4_1 = Format{&layout{name: "Q4_1", blockBytes: 20, bits: 4, mins: true, split: splitQ4_1}}
	Q5_0 = Format{&layout{name: "Q5_0", blockBytes: 22, bits: 5, bias: 16, split: splitQ5_0}}
	Q5_1 = Format{&layout{name: "Q5_1", blockBytes: 24, bits: 5, mins: true, split: splitQ5_1}}
	Q4_K = Format{&layout{name: "Q4_K", blockBytes: 144, bits: 4, super: true, mins: true, split: splitQ4_K}}
	Q5_K = Format{&layout{name: "Q5_K", blockBytes: 176, bits: 5, super: true, mins: true, split: splitQ5_K}}
	Q6_K = Format{&layout{name: "Q6_K", blockBytes: 210, bits: 6, super: true, halves: true, bias: 32, split: splitQ6_K}}
)

// layout describes a block in a file, and how it splits into tiles.
type layout struct {
	name       string
	blockBytes int
	bits       int   // of a quant: 4, 5, 6 or 8
	bias       int32 // added to quants when stored, so that they are unsigned
	super      bool  // a block is a super-block of 8 tiles, which share d and, if any, min
	mins       bool  // weight = scale·quant + minimum; otherwise scale·(quant − bias)
	halves     bool  // the first and the last 16 columns of a tile have separate integer scales
	split      func(block []byte, tile int, s *share)
}

// share is the part of a tile of 32 columns that belongs to one weight row.
type share struct {
	quants [Block]uint8
	d      uint16 // half-precision scale; one for a whole super-block
	min    uint16 // half-precision minimum; one for a whole super-block
	// In a super-block: the integer factors of d and −min. With halves: the signed factors of d for
	// each half.
	scales [2]uint8
}

func (f Format) String() string { return f.name }

// BlockElements returns the number of weights in a block of a file.
func (f Format) BlockElements() int {
	if f.super {
		return tilesPerSuper * Block
	}
	return Block
}

// BlockBytes returns the size of a block in a file.
func (f Format) BlockBytes() int { return f.blockBytes }

// scaleAndMin returns the float32 factors of a share: weight = scale·(quant − bias) + min. With
// halves, scale does not include the integer factors.
func (f Format) scaleAndMin(s *share) (scale, min float32) {
	scale = half(s.d)
	if f.mins {
		min = half(s.min)
	}
	if f.super && f.mins {
		scale *= float32(s.scales[0])
		min *= -float32(s.scales[1])
	}
	return scale, min
}

func splitQ8_0(block []byte, _ int, s *share) {
	s.d = binary.LittleEndian.Uint16(block)
	for k := range Block {
		s.quants[k] = block[2+k] ^ 0x80
	}
}

// nibbles unpacks 16 bytes. Their low halves are the first 16 quants, their high halves the others.
func (s *share) nibbles(packed []byte) {
	le := binary.LittleEndian
	for k := 0; k < Block/2; k += 4 {
		word := le.Uint32(packed[k:])
		le.PutUint32(s.quants[k:], word&0x0f0f0f0f)
		le.PutUint32(s.quants[k+Block/2:], word>>4&0x0f0f0f0f)
	}
}

// fifthBits adds bit k of a little-endian word to quant k, as its fifth bit.
func (s *share) fifthBits(word []byte) {
	bits := binary.LittleEndian.Uint32(word)
	for k := range s.quants {
		s.quants[k] |= uint8(bits>>k&1) << 4
	}
}

func splitQ4_0(block []byte, _ int, s *share) {
	s.d = binary.LittleEndian.Uint16(block)
	s.nibbles(block[2:])
}

func splitQ4_1(block []byte, _ int, s *share) {
	s.d, s.min = binary.LittleEndian.Uint16(block), binary.LittleEndian.Uint16(block[2:])
	s.nibbles(block[4:])
}

func splitQ5_0(block []byte, _ int, s *share) {
	s.d = binary.LittleEndian.Uint16(block)
	s.nibbles(block[6:])
	s.fifthBits(block[2:])
}

func splitQ5_1(block []byte, _ int, s *share) {
	s.d, s.min = binary.LittleEndian.Uint16(block), binary.LittleEndian.Uint16(block[2:])
	s.nibbles(block[8:])
	s.fifthBits(block[4:])
}

func splitQ4_K(block []byte, tile int, s *share) {
	s.superScales(block, tile)
	s.superNibbles(block[16:], tile)
}

func splitQ5_K(block []byte, tile int, s *share) {
	s.superScales(block, tile)
	s.superNibbles(block[48:], tile)
	for k, b := range block[16:48] {
		s.quants[k] |= b >> tile & 1 << 4
	}
}

// superNibbles unpacks one half of each of 32 bytes, which two tiles share.
func (s *share) superNibbles(packed []byte, tile int) {
	le := binary.LittleEndian
	packed, shift := packed[tile/2*Block:][:Block], tile%2*4
	for k := 0; k < Block; k += 4 {
		le.PutUint32(s.quants[k:], le.Uint32(packed[k:])>>shift&0x0f0f0f0f)
	}
}

// superScales reads d, min and the two 6-bit factors of a tile, which ggml packs into 12 bytes. The
// factors of the first four tiles are the low 6 bits of a byte each. Those of the last four are a
// nibble, plus the high bits of those first bytes.
func (s *share) superScales(block []byte, tile int) {
	s.d, s.min = binary.LittleEndian.Uint16(block), binary.LittleEndian.Uint16(block[2:])
	p := block[4:16]
	if tile < 4 {
		s.scales = [2]uint8{p[tile] & 63, p[tile+4] & 63}
		return
	}
	s.scales = [2]uint8{p[tile+4]&15 | p[tile-4]>>6<<4, p[tile+4]>>4 | p[tile]>>6<<4}
}

// splitQ6_K: each half of a super-block has 64 bytes of low nibbles and 32 bytes of upper bits, in
// which four tiles are interleaved.
func splitQ6_K(block []byte, tile int, s *share) {
	low, high := block[tile/4*64+tile%2*32:], block[128+tile/4*32:]
	le := binary.LittleEndian
	for k := 0; k < Block; k += 4 {
		nibbles := le.Uint32(low[k:]) >> (tile % 4 / 2 * 4) & 0x0f0f0f0f
		le.PutUint32(s.quants[k:], nibbles|le.Uint32(high[k:])>>(tile%4*2)&0x03030303<<4)
	}
	s.scales = [2]uint8{block[192+2*tile], block[193+2*tile]}
	s.d = binary.LittleEndian.Uint16(block[208:])
}
