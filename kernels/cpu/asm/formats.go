package main

import (
	"specula/kernels/cpu/layout"
	table "specula/kernels/format"
)

// format is a format of weights, with the layout of its panels.
type format struct {
	panel             layout.Panel
	name              string
	super             bool // super-blocks: eight tiles share a scale, and a minimum if any, which lie before them
	mins              bool // weight = scale·quant + minimum
	nibbles           bool // each half of a tile's columns has factors of scale and minimum, of four bits
	halves            bool // each half of a tile's columns has its own factor, a signed integer
	twoScales         bool // each half has a scale; the second lies where other formats have the minimum
	oneFactor         bool // a tile has a signed factor
	exponent          bool // scales are bfloat16
	unit              float32
	lowBits, highBits int       // bits of a quant in the two parts of a tile
	values            *[16]int8 // what quants stand for, or nil
	biased            bool      // unpacked quants have a bias of 1<<biasBits
	biasBits          uint64
}

// formats are the quantised formats. Of several formats whose panels look the same, only the first is here.
var formats = func() (all []format) {
	for _, f := range table.Quantised() {
		p := layout.Panel{Format: f}
		if p.Twin() != p {
			continue
		}
		nibbles := p.Factors == table.Nibbles
		one := format{panel: p, name: p.Name, super: p.Super(), mins: p.Mins(), nibbles: nibbles, halves: p.Halves() && !nibbles,
			twoScales: p.TwoScales(), oneFactor: p.OneFactor(), exponent: p.ScaleKind == table.Exponent, unit: p.UnitOf(),
			lowBits: p.Low.Bits, highBits: p.High.Bits, values: p.Values, biased: p.Biased(), biasBits: uint64(p.BiasBits())}
		if one.values != nil { // AVX-512 multiplies unsigned bytes: add 128 to the values
			one.biased, one.biasBits = true, 7
		}
		all = append(all, one)
	}
	return all
}()

func (f format) headBytes() int      { return f.panel.HeadBytes() }
func (f format) tileScaleBytes() int { return f.panel.ScaleBytes() }
func (f format) highBytes() int      { return f.panel.HighBytes() }
func (f format) tileBytes() int      { return f.panel.TileBytes() }

// bytes reports whether quants are whole bytes.
func (f format) bytes() bool { return f.lowBits == 8 }

// split reports whether the products of the two halves of a tile are separate sums.
func (f format) split() bool { return f.halves || f.twoScales }

// shortHalves reports whether the product of half a tile fits into 16 bits, and halves have factors.
func (f format) shortHalves() bool {
	most := f.largest()
	if f.biased && f.values == nil {
		most = 1 << f.biasBits
	}
	return f.halves && most*127*4*groups/2 < 1<<15
}

// lowMask and highMask are the bits of the two parts, in each byte of a lane.
func (f format) lowMask() uint32  { return (1<<f.lowBits - 1) * 0x01010101 }
func (f format) highMask() uint32 { return (1<<f.highBits - 1) << f.lowBits * 0x01010101 }

// largest is the largest magnitude of an unpacked quant, times its factor if unpacking applies the factor.
func (f format) largest() int {
	switch {
	case f.values != nil:
		most := 0
		for _, v := range f.values {
			most = max(most, int(v), -int(v))
		}
		return most
	case f.nibbles:
		return (1<<f.lowBits - 1) * 15
	case f.bytes():
		return 128
	}
	return 1<<(f.lowBits+f.highBits) - 1
}

const (
	panelRows = layout.Rows
	groups    = layout.Groups

	quantsAt    = layout.QuantsAt
	scaleAt     = layout.ScaleAt
	minusSumAt  = layout.MinusSumAt
	minusLowAt  = layout.MinusLowAt
	scaledSumAt = layout.ScaledSumAt
	recordBytes = layout.RecordBytes
)
