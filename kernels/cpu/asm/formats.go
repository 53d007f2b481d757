package main

// format describes the layout of a tile, 32 columns of 32 weight rows, in a panel. It must agree
// with kernels/cpu/panel.go.
type format struct {
	name     string
	super    bool   // eight tiles share d, and dmin if any, which come before them
	mins     bool   // weight = scale·quant + minimum
	halves   bool   // columns 0–15 and 16–31 have separate integer scales
	bits     int    // of a quant: 4, 5, 6 or 8
	biasBits uint64 // quants are stored with a bias of 1<<biasBits, or without one
}

var formats = []format{
	{name: "Q8_0", bits: 8, biasBits: 7},
	{name: "Q4_0", bits: 4, biasBits: 3},
	{name: "Q4_1", bits: 4, mins: true},
	{name: "Q5_0", bits: 5, biasBits: 4},
	{name: "Q5_1", bits: 5, mins: true},
	{name: "Q4_K", bits: 4, super: true, mins: true},
	{name: "Q5_K", bits: 5, super: true, mins: true},
	{name: "Q6_K", bits: 6, super: true, halves: true, biasBits: 5},
}

const (
	panelRows = 32
	groups    = 8 // groups of four columns per tile: four bytes of activations, one lane of the dot instruction

	// A row of activations has a record per tile: 32 quants and these numbers.
	quantsAt    = 0
	scaleAt     = 32 // float32
	minusSumAt  = 36 // int32: minus the sum of the quants
	minusLowAt  = 40 // int32: minus the sum of the first 16
	scaledSumAt = 44 // float32: scale · sum
	recordBytes = 48
)

// headBytes returns the size of the half-precision numbers before a tile or super-block.
func (f format) headBytes() int {
	if f.mins {
		return 4 * panelRows
	}
	return 2 * panelRows
}

// tileScaleBytes returns the size of the scales inside a tile.
func (f format) tileScaleBytes() int {
	if f.super {
		return 2 * panelRows
	}
	return f.headBytes()
}

func (f format) highBytes() int {
	switch f.bits {
	case 5:
		return 4 * panelRows
	case 6:
		return 8 * panelRows
	}
	return 0
}

func (f format) tileBytes() int {
	low := 16 * panelRows
	if f.bits == 8 {
		low = 32 * panelRows
	}
	return f.tileScaleBytes() + f.highBytes() + low
}
