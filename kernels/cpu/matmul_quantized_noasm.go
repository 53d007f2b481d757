//go:build (!amd64 && !arm64) || noasm

package cpu

// multiplyPanel writes the product of a panel and rows first … of x to 32 columns of rows of dst that are stride numbers apart. The sums
// (rows, 32) wait where sums says, which are zeros before and after.
func multiplyPanel(dst []float32, stride int, sums []float32, f Format, panel []byte, x *Quantized, first int) {
	multiplyPanelGeneric(sums, f, panel, x, first)
	moveSumsGeneric(dst, sums, stride)
}

// quantizeRow writes the records of x, which are stride bytes apart.
func quantizeRow(records []byte, x []float32, stride int) { quantizeRowGeneric(records, x, stride) }

func askForRows(dst []float32, m, stride int) {}
