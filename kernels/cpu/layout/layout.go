// Package layout says where numbers lie in the two structures that the Go code and the assembly of
// kernels/cpu share: panels of weights and records of activations. The generators of the assembly
// read it, too.
package layout

import (
	"math/bits"

	"specula/kernels/format"
)

// A panel holds 32 weight rows; see kernels/cpu.Panels.
const (
	Rows          = 32 // of a panel: the lanes of two AVX-512 registers
	Columns       = format.Tile
	Groups        = Columns / 4 // of a tile: four columns are four bytes, a lane of the dot instruction
	VectorBytes   = 4 * Rows    // of a group: four columns of all rows
	TilesPerSuper = 8
)

// A record describes 32 columns of one row of activations: the quants, and numbers that all weight
// rows use. The constants are offsets in bytes.
const (
	QuantsAt    = 0
	ScaleAt     = Columns        // float32
	MinusSumAt  = ScaleAt + 4    // int32: minus the sum of the quants
	MinusLowAt  = MinusSumAt + 4 // int32: minus the sum of the first 16
	ScaledSumAt = MinusLowAt + 4 // float32: scale · sum
	RecordBytes = ScaledSumAt + 4
)

// Panel is the layout of a format's panels.
type Panel struct{ *format.Format }

// Looked reports whether quants stand for values of a table.
func (p Panel) Looked() bool { return p.Values != nil }

// Biased reports whether quants are stored with a bias.
func (p Panel) Biased() bool { return p.Bias != 0 }

// BiasBits returns b for quants that are stored with a bias of 1<<b, and 0 for quants without a bias.
func (p Panel) BiasBits() int { return max(0, bits.Len(uint(p.Bias))-1) }

// TwoScales reports whether each half of a tile has a scale in half precision. The second scale lies
// where other formats have the minimum.
func (p Panel) TwoScales() bool { return p.Factors == format.HalfScales }

// HeadBytes returns the size of the 16-bit numbers of a tile or super-block: scales, and minima or second
// scales if there are any.
func (p Panel) HeadBytes() int {
	if p.Mins() || p.TwoScales() {
		return 4 * Rows
	}
	return 2 * Rows
}

// ScaleBytes returns the size of what lies before the quants of a tile: in a super-block the factors of the
// tile, otherwise the 16-bit numbers (HeadBytes).
func (p Panel) ScaleBytes() int {
	switch {
	case p.OneFactor():
		return Rows
	case p.Super():
		return 2 * Rows
	}
	return p.HeadBytes()
}

// Twin returns the first format of the table whose panels look like the receiver's; it may be the receiver
// itself. The kernels of the twin compute products of both formats.
func (p Panel) Twin() Panel {
	for _, f := range format.Quantised() {
		if other := (Panel{f}); other.look() == p.look() {
			return other
		}
	}
	return p
}

// look returns all properties of a format's panels that a product depends on.
func (p Panel) look() any {
	return struct {
		low, high, bias        int
		values                 *[16]int8
		exponent               bool
		unit                   float32
		mins, super, two, one  bool
		signedHalves, fourBits bool
	}{p.Low.Bits, p.High.Bits, p.Bias, p.Values, p.ScaleKind == format.Exponent, p.UnitOf(), p.Mins(),
		p.Super(), p.TwoScales(), p.OneFactor(),
		p.Halves(), p.Factors == format.Nibbles}
}

// HighBytes returns the size of the part of a tile that holds the upper bits of the quants.
func (p Panel) HighBytes() int { return p.High.Bits * VectorBytes }

// TileBytes returns the size of a tile.
func (p Panel) TileBytes() int {
	return p.ScaleBytes() + p.HighBytes() + p.Low.Bits*VectorBytes
}

// Place says where a tile's bit plane keeps one group of four columns. bits is the number of bits that
// the plane holds of each quant. The result is the number of the vector, and the group's lowest bit in
// each byte of that vector.
func Place(bits, group int) (vector, shift int) {
	switch bits {
	case 1:
		return 0, group
	case 2:
		return group / 4, group % 4 * 2
	case 4:
		return group % 4, group / 4 * 4
	}
	return group, 0
}
