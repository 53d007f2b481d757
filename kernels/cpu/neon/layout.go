package main

import l "specula/kernels/cpu/layout"

const (
	panelRows     = l.Rows
	groups        = l.Groups
	tilesPerSuper = l.TilesPerSuper
	vectorBytes   = l.VectorBytes
	recordBytes   = l.RecordBytes

	factorsAt   = l.ScaleAt // in a record, of four numbers in this order:
	scaleOf     = 0
	minusSumOf  = (l.MinusSumAt - l.ScaleAt) / 4
	minusLowOf  = (l.MinusLowAt - l.ScaleAt) / 4
	scaledSumOf = (l.ScaledSumAt - l.ScaleAt) / 4
)
