package main

import (
	"specula/kernels/cpu/layout"
	table "specula/kernels/format"
)

// format is a format of weights, with the layout of its panels.
type format struct {
	panel    layout.Panel
	name     string
	super    bool   // eight tiles share d, and dmin if any, which come before them
	mins     bool   // weight = scale·quant + minimum
	halves   bool   // columns 0–15 and 16–31 have separate integer scales
	bits     int    // of a quant: 4, 5, 6 or 8
	biasBits uint64 // quants are stored with a bias of 1<<biasBits, or without one
}

var formats = func() (all []format) {
	for _, f := range table.Quantised() {
		p := layout.Panel{Format: f}
		all = append(all, format{p, p.Name, p.Super(), p.Mins(), p.Halves(), p.Bits(), uint64(p.BiasBits())})
	}
	return all
}()

func (f format) headBytes() int      { return f.panel.HeadBytes() }
func (f format) tileScaleBytes() int { return f.panel.ScaleBytes() }
func (f format) highBytes() int      { return f.panel.HighBytes() }
func (f format) tileBytes() int      { return f.panel.TileBytes() }

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
