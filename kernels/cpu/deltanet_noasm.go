//go:build !amd64 || noasm

package cpu

func deltaRecall(recalled, s, key []float32, decay float32) {
	deltaRecallGeneric(recalled, s, key, decay)
}

func deltaStep(dst, out, s, key, change, query []float32, decay float32) {
	deltaStepGeneric(dst, out, s, key, change, query, decay)
}
