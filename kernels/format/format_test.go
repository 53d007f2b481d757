package format_test

import (
	"testing"

	"specula/kernels/format"
)

// Every bit of a block has one meaning.
func TestARowDescribesItsWholeBlock(t *testing.T) {
	for _, f := range format.Quantised() {
		if f.Low.Run == 0 {
			continue // the planes do not say where the bits of these lie
		}
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
		scaleBits := map[format.ScaleKind]int{format.Half: 16, format.Exponent: 8}[f.ScaleKind]
		if f.Factors == format.HalfScales {
			scaleBits = 0
		}
		mark("scale", 8*f.Scale, scaleBits)
		if f.Mins() {
			mark("minimum", 8*f.Min, 16)
		}
		mark("factors", 8*f.FactorsAt,
			8*map[format.Factors]int{format.SixBits: 12, format.SignedBytes: 16, format.SignedSixBits: 12,
				format.Nibbles: 16, format.TileSixBits: 6, format.HalfScales: 4}[f.Factors])
		for bit, count := range meanings {
			if count != 1 {
				t.Fatalf("%s: bit %d of byte %d has %d meanings", f, bit%8, bit/8, count)
			}
		}
	}
}

// The highest number is that of a type, and no type has a higher one.
func TestHighest(t *testing.T) {
	for number := range uint32(1000) {
		if last := format.Highest(); number >= last && (format.Find(number) != nil) != (number == last) {
			t.Errorf("type %d is %v, and the highest number is %d", number, format.Find(number), last)
		}
	}
}

// What panels of weights (kernels/cpu/layout) can hold.
func TestARowFitsThePanels(t *testing.T) {
	for _, f := range format.Quantised() {
		switch low, high := f.Low.Bits, f.High.Bits; {
		case low != 2 && low != 4 && low != 8 || high > 2 || low == 8 && high > 0:
			t.Errorf("%s: no kernel unpacks quants of %d and %d bits", f, low, high)
		case f.Low.Run > 0 && !suitable(f.Low) || f.High.Run > 0 && !suitable(f.High):
			t.Errorf("%s: no kernel unpacks eight quants at a time", f)
		case f.Values != nil && (f.Bias != 0 || f.Mins() || f.Bits() > 4):
			t.Errorf("%s: a table has 16 values, and neither bias nor minimum beside it", f)
		case f.Values == nil && f.Mins() == (f.Bias != 0):
			t.Errorf("%s: weights need a minimum or a bias, not both", f)
		case f.Bias&(f.Bias-1) != 0 || f.Bias >= 1<<f.Bits():
			t.Errorf("%s: a bias of %d is no power of two below %d", f, f.Bias, 1<<f.Bits())
		case f.Super() && f.BlockElements != 8*format.Tile || f.BlockElements%format.Tile != 0:
			t.Errorf("%s: a block with factors is eight tiles, every other some tiles", f)
		case f.Deviation <= 0:
			t.Errorf("%s: the random weights need a deviation", f)
		}
	}
}

// suitable reports whether the bits of eight quants are one byte, or lie in eight bytes.
func suitable(p format.Plane) bool { return p.Run == 1 && p.Bits == 1 || p.Run >= 8 }
