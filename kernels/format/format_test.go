package format_test

import (
	"testing"

	"specula/kernels/format"
)

// Every bit of a block has one meaning.
func TestARowDescribesItsWholeBlock(t *testing.T) {
	for _, f := range format.Quantised() {
		meanings := make([]int, 8*f.BlockBytes)
		mark := func(what string, bit, count int) {
			for i := range count {
				if bit+i >= len(meanings) {
					t.Fatalf("%s: the %s do not fit into a block of %d bytes", f, what, f.BlockBytes)
				}
				meanings[bit+i]++
			}
		}
		for _, plane := range []format.Plane{f.Low, f.High} {
			for quant := range f.BlockElements {
				if plane.Bits > 0 {
					at, shift := plane.Find(quant)
					mark("quants", 8*at+shift, plane.Bits)
				}
			}
		}
		for _, at := range f.HalfPrecision() {
			mark("half-precision numbers", 8*at, 16)
		}
		if f.Factors != format.NoFactors {
			mark("factors", 8*f.FactorsAt, 8*map[format.Factors]int{format.SixBits: 12, format.SignedBytes: 16}[f.Factors])
		}
		for bit, count := range meanings {
			if count != 1 {
				t.Fatalf("%s: bit %d of byte %d has %d meanings", f, bit%8, bit/8, count)
			}
		}
	}
}

// What panels of weights (kernels/cpu/layout) can hold.
func TestARowFitsThePanels(t *testing.T) {
	for _, f := range format.Quantised() {
		oneScale := f.BlockElements == format.Tile && f.Factors == format.NoFactors
		super := f.BlockElements == 8*format.Tile && f.Factors != format.NoFactors
		switch bits := f.Bits(); {
		case bits != 4 && bits != 5 && bits != 6 && bits != 8:
			t.Errorf("%s: no kernel unpacks quants of %d bits", f, bits)
		case !suitable(f.Low) || f.High.Bits > 0 && !suitable(f.High):
			t.Errorf("%s: no kernel unpacks eight quants at a time", f)
		case f.Mins() == (f.Bias != 0):
			t.Errorf("%s: weights need a minimum or a bias, not both", f)
		case f.Bias&(f.Bias-1) != 0 || f.Bias >= 1<<bits:
			t.Errorf("%s: a bias of %d is no power of two below %d", f, f.Bias, 1<<bits)
		case !oneScale && !super:
			t.Errorf("%s: a block is one tile, or eight tiles with factors", f)
		case f.Deviation <= 0:
			t.Errorf("%s: the random weights need a deviation", f)
		}
	}
}

// suitable reports whether the bits of eight quants are one byte, or lie in eight bytes that have
// the bits of a whole tile.
func suitable(p format.Plane) bool {
	return p.Run == 1 && p.Bits == 1 || p.Run >= 8 && p.Run*8/p.Bits >= format.Tile
}
