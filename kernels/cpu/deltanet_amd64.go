//go:build !noasm

package cpu

func deltaRecall(recalled, s, key []float32, decay float32) {
	n := len(recalled)
	if n == 0 || n%8 != 0 {
		deltaRecallGeneric(recalled, s, key, decay)
		return
	}
	_ = s[:len(key)*n]
	deltaRecallAVX2(&recalled[0], &s[0], &key[0], len(key), n, decay)
}

func deltaStep(dst, out, s, key, change, query []float32, decay float32) {
	n := len(change)
	if n == 0 || n%8 != 0 {
		deltaStepGeneric(dst, out, s, key, change, query, decay)
		return
	}
	_, _ = s[:len(key)*n], query[:len(key)]
	switch {
	case dst == nil:
		_ = out[:n]
		deltaStepAnswerAVX2(nil, &out[0], &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	case out == nil:
		_ = dst[:len(key)*n]
		deltaStepStoreAVX2(&dst[0], nil, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	default:
		_, _ = out[:n], dst[:len(key)*n]
		deltaStepAVX2(&dst[0], &out[0], &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	}
}
