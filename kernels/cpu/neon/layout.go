package main

// layout describes the layout of a tile, 32 columns of 32 weight rows, in a panel. It must agree
// with kernels/cpu/panel.go.
type layout struct {
	name     string
	super    bool // eight tiles share d, and dmin if any, which come before them
	mins     bool // weight = scale·quant + minimum
	halves   bool // columns 0–15 and 16–31 have separate integer scales
	bits     int  // of a quant: 4, 5, 6 or 8
	biasBits int  // quants are stored with a bias of 1<<biasBits, or without one
}

var layouts = []layout{
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
	panelRows     = 32
	groups        = 8 // groups of four columns per tile: four bytes of activations, one lane of the dot instruction
	tilesPerSuper = 8
	vectorBytes   = 4 * panelRows // of a group: four columns of all rows

	// A row of activations has a record per tile: 32 quants and these numbers.
	factorsAt   = 32 // of four numbers, in this order:
	scaleOf     = 0  // float32
	minusSumOf  = 1  // int32: minus the sum of the quants
	minusLowOf  = 2  // int32: minus the sum of the first 16
	scaledSumOf = 3  // float32: scale · sum
	recordBytes = 48
)

// headBytes returns the size of the half-precision numbers before a tile or super-block.
func (l layout) headBytes() int {
	if l.mins {
		return 4 * panelRows
	}
	return 2 * panelRows
}

// scaleBytes returns the size of the scales inside a tile.
func (l layout) scaleBytes() int {
	if l.super {
		return 2 * panelRows
	}
	return l.headBytes()
}

func (l layout) highBytes() int {
	switch l.bits {
	case 5:
		return vectorBytes
	case 6:
		return 2 * vectorBytes
	}
	return 0
}

func (l layout) tileBytes() int {
	low := groups / 2 * vectorBytes
	if l.bits == 8 {
		low = groups * vectorBytes
	}
	return l.scaleBytes() + l.highBytes() + low
}
