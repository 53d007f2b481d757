//go:build (!amd64 && !arm64) || noasm

package cpu

// multiplyPanel adds the product of a panel and rows first … of x to sums (rows, 32).
func multiplyPanel(sums []float32, f Format, panel []byte, x *Quantized, first int) {
	multiplyPanelGeneric(sums, f, panel, x, first)
}

// quantizeRow writes the records of x, which are stride bytes apart.
func quantizeRow(records []byte, x []float32, stride int) { quantizeRowGeneric(records, x, stride) }

func askForRows(dst []float32, m, stride int) {}

func moveSums(dst, sums []float32, stride int) { moveSumsGeneric(dst, sums, stride) }
