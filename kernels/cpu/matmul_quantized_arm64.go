//go:build !noasm

package cpu

// multiplyPanel multiplies a panel with rows of x, beginning with row first. It writes 32 columns to rows
// of dst that are stride numbers apart. sums (rows, 32) is scratch memory; it must be zero before, and is
// zero afterwards.
func multiplyPanel(dst []float32, stride int, sums []float32, f Format, panel []byte, x *Quantized,
	first int, _ Prefetching) {
	if level == Portable {
		multiplyPanelGeneric(sums, f, panel, x, first)
	} else {
		productNEON(f, &sums[0], &panel[0], &x.record(0, first)[0], x.cols/Block, len(sums)/panelRows,
			x.m*recordBytes)
	}
	moveSumsGeneric(dst, sums, stride)
}

// quantizeRow quantises x and writes its records, which are stride bytes apart.
func quantizeRow(records []byte, x []float32, stride int) {
	if level == Portable {
		quantizeRowGeneric(records, x, stride)
		return
	}
	quantizeNEON(&records[0], &x[0], len(x)/Block, stride)
}

// askForRows does nothing: whether prefetching helps on these processors was not measured.
func askForRows(dst []float32, m, stride int) {}
