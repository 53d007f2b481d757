//go:build !noasm

package cpu

import "unsafe"

// wideDelta reports whether states of n columns are computed with AVX-512.
func wideDelta(n int) bool { return level >= AVX512 && n > 0 && n%16 == 0 }

func deltaRecall(recalled, s, key []float32, decay float32) {
	n := len(recalled)
	if n == 0 || n%8 != 0 {
		deltaRecallGeneric(recalled, s, key, decay)
		return
	}
	_ = s[:len(key)*n]
	if wideDelta(n) {
		deltaRecallAVX512(&recalled[0], &s[0], &key[0], len(key), n, decay)
		return
	}
	deltaRecallAVX2(&recalled[0], &s[0], &key[0], len(key), n, decay)
}

func deltaStep(dst, out, s, key, change, query []float32, decay float32) {
	n := len(change)
	if n == 0 || n%8 != 0 {
		deltaStepGeneric(dst, out, s, key, change, query, decay)
		return
	}
	_, _ = s[:len(key)*n], query[:len(key)]
	if dst != nil {
		_ = dst[:len(key)*n]
	}
	if out != nil {
		_ = out[:n]
	}
	to, answer := unsafe.SliceData(dst), unsafe.SliceData(out) // may be nil
	switch wide := wideDelta(n); {
	case dst == nil && wide:
		deltaStepAnswerAVX512(nil, answer, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	case dst == nil:
		deltaStepAnswerAVX2(nil, answer, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	case out == nil && wide:
		deltaStepStoreAVX512(to, nil, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	case out == nil:
		deltaStepStoreAVX2(to, nil, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	case wide:
		deltaStepAVX512(to, answer, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	default:
		deltaStepAVX2(to, answer, &s[0], &key[0], &change[0], &query[0], len(key), n, decay)
	}
}

// deltaStepRecall is deltaStepRecallGeneric. With AVX-512 one reading of the state serves both steps.
func deltaStepRecall(dst, out, recalled, s, key, change, query, nextKey []float32, decay, nextDecay float32) {
	n := len(change)
	if !wideDelta(n) {
		deltaStep(dst, out, s, key, change, query, decay)
		deltaRecall(recalled, dst, nextKey, nextDecay)
		return
	}
	size := len(key) * n
	_, _, _, _, _ = dst[:size], s[:size], recalled[:n], query[:len(key)], nextKey[:len(key)]
	if out == nil {
		deltaStepStoreRecallAVX512(&dst[0], nil, &recalled[0], &s[0], &key[0], &change[0], &query[0], &nextKey[0], len(key), n, decay, nextDecay)
		return
	}
	_ = out[:n]
	deltaStepRecallAVX512(&dst[0], &out[0], &recalled[0], &s[0], &key[0], &change[0], &query[0], &nextKey[0], len(key), n, decay, nextDecay)
}

func convolve(dst []float32, inputs [][]float32, w []float32, column, width int) {
	n := whole(len(dst), 8)
	if n > 0 && len(inputs) > 0 {
		var at [MostKernel]*float32
		for i, x := range inputs {
			at[i] = &x[column:][:n][0]
		}
		_ = w[(len(inputs)-1)*width+column:][:n]
		convolveAVX2(&dst[0], &at[0], &w[column], len(inputs), 4*width, n)
	}
	convolveGeneric(dst[n:], inputs, w, column+n, width)
}
