//go:build !amd64 || noasm

package cpu

func deltaRecall(recalled, s, key []float32, decay float32) {
	deltaRecallGeneric(recalled, s, key, decay)
}

func deltaStep(dst, out, s, key, change, query []float32, decay float32) {
	deltaStepGeneric(dst, out, s, key, change, query, decay)
}

func deltaStepRecall(dst, out, recalled, s, key, change, query, nextKey []float32, decay, nextDecay float32) {
	deltaStepRecallGeneric(dst, out, recalled, s, key, change, query, nextKey, decay, nextDecay)
}

func convolve(dst []float32, inputs [][]float32, w []float32, column, width int) {
	convolveGeneric(dst, inputs, w, column, width)
}
