package cuda

import (
	"bytes"
	"encoding/binary"

	"specula/kernels/format"
)

// words visits the four-byte words of 16 rows of 32 bytes, in the order in which tensor cores read
// them. place is the word's offset in bytes; the word has bytes k … k+3 of row r. The 32 bytes are 32
// numbers of one byte, or 16 of two.
func words(visit func(place, r, k int)) {
	for lane := range 32 {
		for i := range 4 {
			visit(lane*16+i*4, lane/4+i%2*8, lane%4*4+i/2*16)
		}
	}
}

func packShorts(_ *Format, slab []byte, rows *[tileRows][]byte) {
	for step := range 8 {
		words(func(place, r, k int) {
			if from := step*32 + k; from < len(rows[r]) {
				copy(slab[step*512+place:][:4], rows[r][from:])
			}
		})
	}
}

// packScaled packs the formats of src/scaled.h and src/halves.h: the quants of all blocks, then their scales.
func packScaled(f *Format, slab []byte, rows *[tileRows][]byte) {
	var share format.Share
	le := binary.LittleEndian
	blocks, tilesPerBlock := f.Columns/format.Tile, f.file.BlockElements/format.Tile
	low := plane{bits: f.file.Low.Bits, blocks: blocks}
	high := plane{at: low.bytes(), bits: f.file.High.Bits, blocks: blocks}
	scales := slab[high.at+high.bytes():]
	// A bias is the value of a quant's top bit. Inverting this bit subtracts the bias, in two's complement.
	signs := uint32(f.file.Bias) * 0x01010101
	zeros := [format.Tile]byte(bytes.Repeat([]byte{byte(f.file.Bias)}, format.Tile)) // for missing rows and columns
	for block := range blocks {
		var quants [tileRows][format.Tile]byte
		for r, row := range rows {
			from := block / tilesPerBlock * f.file.BlockBytes
			if from >= len(row) {
				quants[r] = zeros
				continue
			}
			f.file.Read(&share, row[from:from+f.file.BlockBytes], block%tilesPerBlock)
			quants[r] = share.Quants
			f.putScales(scales, r, block, &share)
		}
		for lane := range 32 {
			for i := range 4 {
				four := le.Uint32(quants[lane/4+i%2*8][lane%4*4+i/2*16:]) ^ signs
				low.add(slab, block, lane, i, four)
				if high.bits > 0 {
					high.add(slab, block, lane, i, four>>low.bits)
				}
			}
		}
	}
}

// plane is where some bits of all quants of a slab lie (src/quants.h). It begins at byte `at` of the slab, and
// has as many bits of each quant, and as many blocks of 32 columns, as the fields bits and blocks say.
type plane struct{ at, bits, blocks int }

// bytes is the size of a plane.
func (p plane) bytes() int { return tileRows * format.Tile * p.blocks * p.bits / 8 }

// add adds the lowest bits of four quants, one in each byte of four, to a plane. Of a block, a lane of a warp
// holds four such words; i is the number of this one.
func (p plane) add(slab []byte, block, lane, i int, four uint32) {
	bit := block * p.bits
	at, shift := p.at+bit/8*512+lane*16+i*4, bit%8
	if p.blocks*p.bits < 8 {
		at, shift = p.at+lane*8+i/2*4, bit+i%2*4
	}
	le := binary.LittleEndian
	four &= (1<<p.bits - 1) * 0x01010101
	le.PutUint32(slab[at:], le.Uint32(slab[at:])|four<<shift)
}

// exponentOf returns the byte e of a scale 2^(e−128), which is given in bfloat16.
func exponentOf(scale uint16) byte {
	const smallest = 0x20 // 2⁻¹²⁸, a subnormal number. The next scale, 2⁻¹²⁷, is subnormal, too.
	if scale == smallest {
		return 0
	}
	return byte(scale>>7) + 1
}

// putScales writes what the weights of a block of row r have besides their quants.
func (f *Format) putScales(scales []byte, r, block int, s *format.Share) {
	le := binary.LittleEndian
	switch place := r%8*2 + r/8; { // the row's place in the order 0, 8, 1, 9, …, 7, 15
	case f.file.Factors == format.SixBits:
		scales[r*16+block], scales[r*16+8+block] = s.Factors[0], s.Factors[1]
		le.PutUint16(scales[256+4*place:], s.Scale)
		le.PutUint16(scales[256+4*place+2:], s.Min)
	case f.file.Factors == format.Nibbles:
		copy(scales[r*16+2*block:], s.Factors[:])
		le.PutUint16(scales[256+4*place:], s.Scale)
		le.PutUint16(scales[256+4*place+2:], s.Min)
	case f.file.Halves():
		scales[r*16+2*block], scales[r*16+2*block+1] = s.Factors[0]+128, s.Factors[1]+128
		le.PutUint16(scales[256+2*place:], s.Scale)
	case f.file.OneFactor():
		scales[r*8+block] = s.Factors[0] + 128
		le.PutUint16(scales[128+2*place:], s.Scale)
	case f.file.ScaleKind == format.Exponent:
		scales[r*4+block] = exponentOf(s.Scale)
	default:
		at := r%8*16 + block*4 + r/8*2
		le.PutUint16(scales[at:], s.Scale)
		if f.file.Mins() {
			le.PutUint16(scales[128+at:], s.Min)
		}
	}
}

func packQ6_K(_ *Format, slab []byte, rows *[tileRows][]byte) {
	var quants [tileRows][256]byte
	var share format.Share
	sixBits := format.Find(format.Q6_K)
	for r, row := range rows {
		if row == nil {
			continue
		}
		for tile := range 8 {
			sixBits.Read(&share, row, tile)
			copy(quants[r][tile*format.Tile:], share.Quants[:])
		}
		for i, scale := range row[192:208] {
			slab[3072+r*16+i] = scale + 128
		}
		copy(slab[3072+256+r%8*4+r/8*2:][:2], row[208:])
	}
	le := binary.LittleEndian
	for pair := range 4 {
		words(func(place, r, k int) {
			first, second := le.Uint32(quants[r][pair*64+k:]), le.Uint32(quants[r][pair*64+32+k:])
			le.PutUint32(slab[pair*512+place:], first&0x0f0f0f0f|second<<4&0xf0f0f0f0)
			high := (first>>2&0x0c0c0c0c | second>>4&0x03030303) ^ 0x0a0a0a0a
			at := slab[2048+pair/2*512+place:]
			le.PutUint32(at, le.Uint32(at)|high<<(4-pair%2*4))
		})
	}
}
