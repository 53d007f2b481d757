// Package format is the table of GGUF's tensor types: the one place that says how a block of
// weights lies in a file. Readers of files, kernels, generators of assembly, random weights, error
// texts and documents take their types from here.
//
// Quants describes a block: where the bits of its quants lie (Plane), how its scale, minimum and
// factors are stored, and how a weight follows from them. Read gives the part of a block that belongs to
// one tile (Share). Value gives the number that a quant stands for. Names and layouts are those of
// ggml-quants.c and gguf-py.
// Source: https://github.com/ggml-org/llama.cpp.
package format

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// Tile is how many neighbouring weights Read unpacks together. A block of a quantised format holds 1, 2, 4
// or 8 tiles.
const Tile = 32

// Format is a tensor type. A block holds BlockElements weights in BlockBytes bytes.
type Format struct {
	Type          uint32 // its number in GGUF
	Name          string
	BlockElements int
	BlockBytes    int
	*Quants       // nil for a type that is not quantised, and for one that no kernel multiplies
}

// Quants says what the bytes of a block mean: weight = scale·(quant − Bias), or scale·Values[quant],
// or scale·quant + minimum in a format with minima. Factors says by which integers a part of the block
// multiplies the scale and the minimum.
type Quants struct {
	Low, High Plane     // the lower and upper bits of the quants; no High if Low has all of them
	Bias      int       // 0 in formats with minima or Values
	Signed    bool      // quants are stored in two's complement; inverting their highest bit adds the bias
	Values    *[16]int8 // what the quants stand for; nil: a quant stands for itself minus the bias
	ScaleKind ScaleKind // how the scale is stored
	Scale     int       // offset of the scale
	Unit      float32   // a power of two by which the scale is multiplied; 0 stands for 1
	Min       int       // offset of the minimum, a half-precision number (see Factors for its sign); 0: no minima
	Factors   Factors
	FactorsAt int // offset of the factors
	// unpack reads one tile of blocks that the fields above cannot describe: their quants are points of
	// a codebook, or digits of another base. Low and High then only say how many bits a quant takes in
	// panels.
	unpack func(s *Share, block []byte, tile int)
	// Deviation is the standard deviation of the weights in a block of random bytes whose scale is
	// 1 and whose minimum makes their mean 0. Makers of random weights divide by it.
	Deviation float64
}

// Plane says where some bits of each quant lie in a block: Bits bits per quant, from byte At on. The
// first Run quants lie in the lowest bits of Run neighbouring bytes. The next Run quants lie in the
// next bits of the same bytes, until these are full. Example: the low bits of Q4_K are {16, 4, 32}:
// quants 0 to 31 are the low nibbles of bytes 16 to 47, quants 32 to 63 the high nibbles.
type Plane struct{ At, Bits, Run int }

// Find returns where the plane keeps its bits of a quant: in byte at of the block, from bit shift on.
func (p Plane) Find(quant int) (at, shift int) {
	// without divisions, which are slow
	run, size := bits.TrailingZeros(uint(p.Run)), bits.TrailingZeros(uint(p.Bits))
	// 1<<group quants share Run bytes
	group := run + 3 - size
	return p.At + quant>>group<<run + quant&(p.Run-1), quant & (1<<group - 1) >> run << size
}

// Words has a byte for each quant of a tile. A has the first eight quants, the first in its lowest byte.
type Words struct{ A, B, C, D uint64 }

// Read returns the plane's bits of the quants of a tile.
func (p *Plane) Read(block []byte, tile int) Words {
	le := binary.LittleEndian
	mask := uint64(eachByte) * (1<<p.Bits - 1)
	at, shift := p.Find(tile * Tile)
	switch {
	case p.Run >= Tile: // the same bits of 32 bytes
		in := (*[Tile]byte)(block[at:])
		return Words{le.Uint64(in[0:]) >> (shift & 7) & mask, le.Uint64(in[8:]) >> (shift & 7) & mask,
			le.Uint64(in[16:]) >> (shift & 7) & mask, le.Uint64(in[24:]) >> (shift & 7) & mask}
	case p.Run == 1 && p.Bits == 1: // the bits of four bytes
		in := (*[4]byte)(block[at:])
		return Words{spread(in[0]), spread(in[1]), spread(in[2]), spread(in[3])}
	}
	eight := func(k int) uint64 {
		at, shift := p.Find(tile*Tile + k)
		return le.Uint64(block[at:]) >> (shift & 7) & mask
	}
	return Words{eight(0), eight(8), eight(16), eight(24)}
}

const eachByte = 0x0101010101010101

// spread returns the bits of a byte as bytes: bit i becomes byte i, 0 or 1.
func spread(bits byte) uint64 {
	const bitOfEach = 0x8040201008040201 // bit 0 of byte 0, bit 1 of byte 1, …
	return (uint64(bits)*eachByte&bitOfEach + 0x7f*eachByte) >> 7 & eachByte
}

// Super reports whether a block is a super-block: eight tiles that share a scale and have factors.
func (f *Format) Super() bool { return f.Factors != NoFactors && f.Factors != HalfScales }

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

// Highest returns the highest number of a type that ggml defines.
func Highest() (number uint32) {
	for _, list := range [][]Format{loadable, others} {
		for i := range list {
			number = max(number, list[i].Type)
		}
	}
	return number
}

// Loadable returns the types that specula can compute with.
func Loadable() []*Format {
	var all []*Format
	for i := range loadable {
		all = append(all, &loadable[i])
	}
	return all
}

// CanLoad reports whether the type with this number is one of Loadable.
func CanLoad(number uint32) bool {
	return slices.ContainsFunc(loadable, func(f Format) bool { return f.Type == number })
}

// Quantised returns the types of Loadable that are quantised.
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
