package ref

import "encoding/binary"

// Format is a way to store weights as integers with scales. Names and layouts are those of GGUF.
// Source: ggml-quants.c and gguf-py of https://github.com/ggml-org/llama.cpp.
type Format struct {
	Name          string
	BlockElements int // weights per block
	BlockBytes    int
	// unpack returns the 32 weights of a block from number 32·part on, as scale·quants + min. Where
	// each 16 weights have an integer scale, it is already multiplied into the quants.
	unpack func(block []byte, part int) (scale, min float32, quants [Block]int32)
}

// The quantised formats.
var (
	Q8_0 = Format{"Q8_0", 32, 34, func(b []byte, _ int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = int32(int8(b[2+k]))
		}
		return half(b[0], b[1]), 0, q
	}}
	Q4_0 = Format{"Q4_0", 32, 18, func(b []byte, _ int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = nibble(b[2:], k) - 8
		}
		return half(b[0], b[1]), 0, q
	}}
	Q4_1 = Format{"Q4_1", 32, 20, func(b []byte, _ int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = nibble(b[4:], k)
		}
		return half(b[0], b[1]), half(b[2], b[3]), q
	}}
	Q5_0 = Format{"Q5_0", 32, 22, func(b []byte, _ int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = nibble(b[6:], k) + 16*bit(b[2:], k) - 16
		}
		return half(b[0], b[1]), 0, q
	}}
	Q5_1 = Format{"Q5_1", 32, 24, func(b []byte, _ int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = nibble(b[8:], k) + 16*bit(b[4:], k)
		}
		return half(b[0], b[1]), half(b[2], b[3]), q
	}}
	Q4_K = Format{"Q4_K", 256, 144, func(b []byte, part int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = superNibble(b[16:], part, k)
		}
		scale, min = superScales(b, part)
		return scale, min, q
	}}
	Q5_K = Format{"Q5_K", 256, 176, func(b []byte, part int) (scale, min float32, q [Block]int32) {
		for k := range q {
			q[k] = superNibble(b[48:], part, k) + 16*int32(b[16+k]>>part&1)
		}
		scale, min = superScales(b, part)
		return scale, min, q
	}}
	Q6_K = Format{"Q6_K", 256, 210, func(b []byte, part int) (scale, min float32, q [Block]int32) {
		half128, quarter := part/4, part%4
		for k := range q {
			low := b[64*half128+32*(quarter%2)+k] >> (4 * (quarter / 2)) & 15
			high := b[128+32*half128+k] >> (2 * quarter) & 3
			q[k] = (int32(low) + 16*int32(high) - 32) * int32(int8(b[192+2*part+k/16]))
		}
		return half(b[208], b[209]), 0, q
	}}
)

// nibble returns four bits of quant k. The first 16 quants are the low halves of 16 bytes, the
// others the high halves.
func nibble(b []byte, k int) int32 { return int32(b[k%16] >> (k / 16 * 4) & 15) }

func bit(word []byte, k int) int32 { return int32(binary.LittleEndian.Uint32(word) >> k & 1) }

// superNibble returns four bits of quant k in a part. Two parts share 32 bytes.
func superNibble(b []byte, part, k int) int32 { return int32(b[part/2*32+k] >> (part % 2 * 4) & 15) }

// superScales returns a part's scale d·s and minimum −dmin·m. The factors s and m have six bits
// each and are packed into 12 bytes.
func superScales(b []byte, part int) (scale, min float32) {
	p := b[4:16]
	s, m := p[part%4]&63, p[part%4+4]&63
	if part >= 4 {
		s, m = p[part+4]&15|p[part-4]>>6<<4, p[part+4]>>4|p[part]>>6<<4
	}
	return half(b[0], b[1]) * float32(s), -half(b[2], b[3]) * float32(m)
}

// Dequantize decodes blocks: scale·quant, plus min where the format has minima. Each operation is
// rounded to float32.
func (f Format) Dequantize(dst []float32, src []byte) {
	parts := f.BlockElements / Block
	for i := range len(dst) / Block {
		scale, min, quants := f.unpack(src[i/parts*f.BlockBytes:], i%parts)
		for k, q := range quants {
			dst[i*Block+k] = scale * float32(q)
			if f.mins() {
				dst[i*Block+k] += min
			}
		}
	}
}
