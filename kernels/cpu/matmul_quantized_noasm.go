//go:build (!amd64 && !arm64) || noasm

package cpu

// multiplyPanel multiplies a panel with rows of x, beginning with row first. It writes 32 columns to rows
// of dst that are stride numbers apart. sums (rows, 32) is scratch memory; it must be zero before, and is
// zero afterwards.
func multiplyPanel(dst []float32, stride int, sums []float32, f Format, panel []byte, x *Quantized,
	first int, _ Prefetching) {
	multiplyPanelGeneric(sums, f, panel, x, first)
	moveSumsGeneric(dst, sums, stride)
}

// quantizeRow quantises x and writes its records, which are stride bytes apart.
func quantizeRow(records []byte, x []float32, stride int) { quantizeRowGeneric(records, x, stride) }

func askForRows(dst []float32, m, stride int) {}
