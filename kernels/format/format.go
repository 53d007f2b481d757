// Package format is the table of GGUF's tensor types: the one place that says how a block of
// weights lies in a file. Readers of files, kernels, generators of assembly, random weights, error
// texts and documents take their types from here.
//
// A block is described by where the bits of its quants lie (Plane), its scale, and what else
// belongs to a weight (Quants). Names and layouts are those of ggml-quants.c and gguf-py.
// Source: https://github.com/ggml-org/llama.cpp.
package format

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// Tile is the number of weights that share a scale and a minimum. A block holds one tile or eight.
const Tile = 32

// Format is a tensor type. A block holds BlockElements weights in BlockBytes bytes.
type Format struct {
	Type          uint32 // its number in GGUF
	Name          string
	BlockElements int
	BlockBytes    int
	*Quants       // nil for a type that is not quantised, and for one that no kernel multiplies
}

// Quants says what the bytes of a block mean: weight = scale·(quant − Bias), or scale·quant +
// minimum in a format with minima.
type Quants struct {
	Low, High Plane // the lower and upper bits of the quants; no High if Low has all of them
	Bias      int   // 0 in formats with minima
	Signed    bool  // quants are stored in two's complement; inverting their highest bit adds the bias
	Scale     int   // offset of the block's scale, in half precision
	Min       int   // offset of the minimum, in half precision; 0: no minima
	Factors   Factors
	FactorsAt int // their offset
	// Deviation is the standard deviation of the weights in a block of random bytes whose scale is
	// 1 and whose minimum makes their mean 0. The random weights need it.
	Deviation float64
}

// Plane says where some bits of each quant lie in a block: Bits of them, from byte At on. Run
// neighbouring quants lie in Run neighbouring bytes, in their lowest bits. The next Run quants lie
// in the next bits of the same bytes, until these are full. The low bits of Q4_K, {16, 4, 32}:
// quants 0 to 31 are the low nibbles of bytes 16 to 47, quants 32 to 63 the high nibbles.
type Plane struct{ At, Bits, Run int }

// Find returns where the plane's bits of a quant lie: in byte at of the block, from bit shift of
// that byte on.
func (p Plane) Find(quant int) (at, shift int) {
	// without divisions, which are slow
	run, size := bits.TrailingZeros(uint(p.Run)), bits.TrailingZeros(uint(p.Bits))
	// 1<<group quants share Run bytes
	group := run + 3 - size
	return p.At + quant>>group<<run + quant&(p.Run-1), quant & (1<<group - 1) >> run << size
}

// Unpack writes the quants of a tile of the block to quants, as unsigned numbers from which Bias
// has not been subtracted yet.
func (q *Quants) Unpack(quants *[Tile]uint8, block []byte, tile int) {
	if *quants = [Tile]uint8{}; q.High.Bits > 0 {
		q.High.add(quants, block, tile, q.Low.Bits)
	}
	q.Low.add(quants, block, tile, 0)
	if q.Signed {
		for k := range quants {
			quants[k] ^= 1 << (q.Bits() - 1)
		}
	}
}

// add adds the plane's bits of a tile to its quants; the plane's lowest bit becomes bit number
// first of a quant. It takes eight quants at a time: they lie in eight bytes, or are the bits of
// one byte.
func (p *Plane) add(quants *[Tile]uint8, block []byte, tile, first int) {
	const each = 0x0101010101010101
	le := binary.LittleEndian
	at, shift := p.Find(tile * Tile)
	packed := block[at:]
	if p.Run == 1 {
		for k := 0; k < Tile; k += 8 {
			const bitOfEach = 0x8040201008040201 // bit 0 of byte 0, bit 1 of byte 1, …
			word := (uint64(packed[k/8])*each&bitOfEach + 0x7f*each) >> 7 & each
			le.PutUint64(quants[k:], le.Uint64(quants[k:])|word<<(first&7))
		}
		return
	}
	mask := uint64(each) * (1<<p.Bits - 1)
	for k := 0; k < Tile; k += 8 {
		if k&(p.Run-1) == 0 && k > 0 { // the next quants are the next bits of the same bytes
			shift += p.Bits
		}
		word := le.Uint64(packed[k&(p.Run-1):]) >> (shift & 7) & mask
		le.PutUint64(quants[k:], le.Uint64(quants[k:])|word<<(first&7))
	}
}

// Factors says how a block stores the integers by which each part of it multiplies the block's
// scale, and its minimum if the format has minima.
type Factors int

// The kinds of factors.
const (
	// NoFactors is for a block of one tile.
	NoFactors Factors = iota
	// SixBits are an unsigned factor of the scale, and one of minus the minimum, for each of eight
	// tiles, in 12 bytes. UnpackSixBits reads them.
	SixBits
	// SignedBytes are a signed byte for each 16 weights.
	SignedBytes
)

// UnpackSixBits reads the two factors of a tile from the 12 bytes p. Those of the first four tiles
// are the low 6 bits of one byte each, in the first eight bytes. Those of the other tiles have
// their low 4 bits in a nibble of the last four bytes, and their upper 2 bits in the upper 2 bits
// of one of the first eight bytes.
func UnpackSixBits(p []byte, tile int) (scale, min byte) {
	if tile < 4 {
		return p[tile] & 63, p[tile+4] & 63
	}
	return p[tile+4]&15 | p[tile-4]>>6<<4, p[tile+4]>>4 | p[tile]>>6<<4
}

// Bits returns the number of bits of a quant.
func (q *Quants) Bits() int { return q.Low.Bits + q.High.Bits }

// Mins reports whether weights have a minimum.
func (q *Quants) Mins() bool { return q.Min != 0 }

// Halves reports whether the two halves of a tile have factors of their own.
func (q *Quants) Halves() bool { return q.Factors == SignedBytes }

// HalfPrecision returns the offsets of the half-precision numbers in a block.
func (q *Quants) HalfPrecision() []int {
	if q.Mins() {
		return []int{q.Scale, q.Min}
	}
	return []int{q.Scale}
}

// Super reports whether a block is a super-block: eight tiles that share a scale.
func (f *Format) Super() bool { return f.BlockElements > Tile }

func (f *Format) String() string { return f.Name }

// Find returns the type with this number, or nil if ggml does not define it or has withdrawn it.
func Find(number uint32) *Format {
	for _, list := range [][]Format{loadable, others} {
		for i := range list {
			if list[i].Type == number {
				return &list[i]
			}
		}
	}
	return nil
}

// Loadable returns the types that specula can compute with.
func Loadable() []*Format {
	var all []*Format
	for i := range loadable {
		all = append(all, &loadable[i])
	}
	return all
}

// CanLoad reports whether this is one of Loadable.
func CanLoad(number uint32) bool {
	return slices.ContainsFunc(loadable, func(f Format) bool { return f.Type == number })
}

// Quantised returns those of Loadable that are multiplied as integers.
func Quantised() []*Format {
	var some []*Format
	for _, f := range Loadable() {
		if f.Quants != nil {
			some = append(some, f)
		}
	}
	return some
}

// Names lists the names of Loadable, with a word such as " or " before the last.
func Names(word string) string {
	var names []string
	for _, f := range loadable {
		names = append(names, f.Name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + word + names[last]
}
