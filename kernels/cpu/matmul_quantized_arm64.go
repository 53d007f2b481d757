//go:build !noasm

package cpu

// multiplyPanel multiplies a panel with the rows first … of x. It writes 32 columns to rows of dst
// that are stride numbers apart. sums (rows, 32) is scratch memory; it must be zero before, and is
// zero afterwards.
func multiplyPanel(dst []float32, stride int, sums []float32, f Format, panel []byte, x *Quantized, first int) {
	if level == Portable {
		multiplyPanelGeneric(sums, f, panel, x, first)
	} else {
		productNEON(f, &sums[0], &panel[0], &x.record(0, first)[0], x.cols/Block, len(sums)/panelRows, x.m*recordBytes)
	}
	moveSumsGeneric(dst, sums, stride)
}

// productNEON is a switch over all formats. With a function value the sums would escape to the
// heap.
func productNEON(f Format, acc *float32, panel, x *byte, tiles, m, stride int) {
	switch f {
	case Q8_0:
		productQ8_0NEON(acc, panel, x, tiles, m, stride)
	case Q4_0:
		productQ4_0NEON(acc, panel, x, tiles, m, stride)
	case Q4_1:
		productQ4_1NEON(acc, panel, x, tiles, m, stride)
	case Q5_0:
		productQ5_0NEON(acc, panel, x, tiles, m, stride)
	case Q5_1:
		productQ5_1NEON(acc, panel, x, tiles, m, stride)
	case Q4_K:
		productQ4_KNEON(acc, panel, x, tiles, m, stride)
	case Q5_K:
		productQ5_KNEON(acc, panel, x, tiles, m, stride)
	case Q6_K:
		productQ6_KNEON(acc, panel, x, tiles, m, stride)
	default:
		panic("cpu: no product of " + f.name)
	}
}

// quantizeRow writes the records of x; they are stride bytes apart.
func quantizeRow(records []byte, x []float32, stride int) {
	if level == Portable {
		quantizeRowGeneric(records, x, stride)
		return
	}
	quantizeNEON(&records[0], &x[0], len(x)/Block, stride)
}

// askForRows does nothing: whether prefetching helps on these processors was not measured.
func askForRows(dst []float32, m, stride int) {}
