package sample

import "math/bits"

// philox draws from Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3",
// 2011). It is a pure function of key and counter, so a draw depends only on its address, and not on
// the number of draws before it.
type philox struct {
	key   [2]uint32 // seed, low word first
	reply uint32
}

// NewPhilox returns the uniforms of one reply. The same seed and reply number give the same
// uniforms on every machine.
//
// A device computes the same numbers in two steps:
//
//	w = philox4x32-10(counter: {position, round, stream, reply}, key: {seed mod 2³², seed div 2³²})
//	u = ((w[0] >> 5)·2²⁶ + (w[1] >> 6)) / 2⁵³
//
// u has 53 bits, which a float64 holds exactly, so u is below 1. A float32 has room for 24 bits. With
// these, a token less probable than 6·10⁻⁸ would get probability 0 or 6·10⁻⁸, and rounding u to the
// nearest float32 could give 1. A device that compares in float32 must therefore truncate, to (w[0] >>
// 8)/2²⁴ ≤ u. Comparing in float64 is better, and is one operation per token.
func NewPhilox(seed uint64, reply int) Uniforms {
	return philox{key: [2]uint32{uint32(seed), uint32(seed >> 32)}, reply: uint32(reply)}
}

func (g philox) Counter() (seed uint64, reply uint32) {
	return uint64(g.key[1])<<32 | uint64(g.key[0]), g.reply
}

func (g philox) Uniform(stream Stream, round, position int) float64 {
	w := philox4x32([4]uint32{uint32(position), uint32(round), uint32(stream), g.reply}, g.key)
	return float64(uint64(w[0]>>5)<<26|uint64(w[1]>>6)) / (1 << 53)
}

// philox4x32 is the block function of Philox with 10 rounds.
func philox4x32(counter [4]uint32, key [2]uint32) [4]uint32 {
	const (
		multiplier0, multiplier1 = 0xD2511F53, 0xCD9E8D57
		weyl0, weyl1             = 0x9E3779B9, 0xBB67AE85
	)
	for range 10 {
		high0, low0 := bits.Mul32(multiplier0, counter[0])
		high1, low1 := bits.Mul32(multiplier1, counter[2])
		counter = [4]uint32{high1 ^ counter[1] ^ key[0], low1, high0 ^ counter[3] ^ key[1], low0}
		key[0] += weyl0
		key[1] += weyl1
	}
	return counter
}
