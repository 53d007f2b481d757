//go:build !noasm

package cpu

// The functions of this file choose a kernel with a switch over all cases. If they called a function
// value, their pointers would escape to the heap.

// mostTogether returns the largest number of queries that a kernel computes at once.
func mostTogether() int {
	if level >= AVX512 {
		return 8
	}
	return 4
}

func scoreKeys(dst []float32, q *queries, keys []float32, n, headDim, blocks int, factor float32) {
	_ = keys[:blocks*lanes*headDim]
	_ = dst[:(n-1)*KeysPerSplit+blocks*lanes]
	switch {
	case level == Portable:
		scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
	case level == AVX2 && n == 1:
		scoreKeysF32x1AVX2(&dst[0], (*[1]*float32)(q[:1]), &keys[0], headDim, blocks, factor)
	case level == AVX2 && n == 2:
		scoreKeysF32x2AVX2(&dst[0], (*[2]*float32)(q[:2]), &keys[0], headDim, blocks, factor)
	case level == AVX2 && n == 4:
		scoreKeysF32x4AVX2(&dst[0], (*[4]*float32)(q[:4]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 1:
		scoreKeysF32x1AVX512(&dst[0], (*[1]*float32)(q[:1]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 2:
		scoreKeysF32x2AVX512(&dst[0], (*[2]*float32)(q[:2]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 4:
		scoreKeysF32x4AVX512(&dst[0], (*[4]*float32)(q[:4]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 8:
		scoreKeysF32x8AVX512(&dst[0], (*[8]*float32)(q[:8]), &keys[0], headDim, blocks, factor)
	}
}

func soften(scores []float32, seen *[queriesAtOnce]int, n int, largests, sums *[queriesAtOnce]float32) {
	if level >= AVX512 {
		softenAVX512(&scores[0], seen, n, largests, sums)
		return
	}
	softenRows(scores, seen, n, largests, sums)
}

func sumValues(dst *queries, values []float32, weights []float32, n, keys, headDim int) {
	_ = values[:keys*headDim]
	_ = weights[:(n-1)*KeysPerSplit+keys]
	cols := whole(headDim, lanes)
	switch {
	case cols == 0:
	case level == AVX2 && n == 1:
		sumValuesF32x1AVX2((*[1]*float32)(dst[:1]), &values[0], &weights[0], keys, headDim, cols)
	case level == AVX2 && n == 2:
		sumValuesF32x2AVX2((*[2]*float32)(dst[:2]), &values[0], &weights[0], keys, headDim, cols)
	case level == AVX2 && n == 4:
		sumValuesF32x4AVX2((*[4]*float32)(dst[:4]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 1:
		sumValuesF32x1AVX512((*[1]*float32)(dst[:1]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 2:
		sumValuesF32x2AVX512((*[2]*float32)(dst[:2]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 4:
		sumValuesF32x4AVX512((*[4]*float32)(dst[:4]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 8:
		sumValuesF32x8AVX512((*[8]*float32)(dst[:8]), &values[0], &weights[0], keys, headDim, cols)
	}
	sumValuesGeneric(dst, values, weights, n, keys, headDim, cols)
}

func scoreKeysHalf(dst []float32, q *queries, keys []uint16, n, headDim, blocks int, factor float32) {
	_ = keys[:blocks*lanes*headDim]
	_ = dst[:(n-1)*KeysPerSplit+blocks*lanes]
	switch {
	case level == Portable:
		scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
	case level == AVX2 && n == 1:
		scoreKeysF16x1AVX2(&dst[0], (*[1]*float32)(q[:1]), &keys[0], headDim, blocks, factor)
	case level == AVX2 && n == 2:
		scoreKeysF16x2AVX2(&dst[0], (*[2]*float32)(q[:2]), &keys[0], headDim, blocks, factor)
	case level == AVX2 && n == 4:
		scoreKeysF16x4AVX2(&dst[0], (*[4]*float32)(q[:4]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 1:
		scoreKeysF16x1AVX512(&dst[0], (*[1]*float32)(q[:1]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 2:
		scoreKeysF16x2AVX512(&dst[0], (*[2]*float32)(q[:2]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 4:
		scoreKeysF16x4AVX512(&dst[0], (*[4]*float32)(q[:4]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 8:
		scoreKeysF16x8AVX512(&dst[0], (*[8]*float32)(q[:8]), &keys[0], headDim, blocks, factor)
	}
}

func sumValuesHalf(dst *queries, values []uint16, weights []float32, n, keys, headDim int) {
	_ = values[:keys*headDim]
	_ = weights[:(n-1)*KeysPerSplit+keys]
	cols := whole(headDim, lanes)
	switch {
	case cols == 0:
	case level == AVX2 && n == 1:
		sumValuesF16x1AVX2((*[1]*float32)(dst[:1]), &values[0], &weights[0], keys, headDim, cols)
	case level == AVX2 && n == 2:
		sumValuesF16x2AVX2((*[2]*float32)(dst[:2]), &values[0], &weights[0], keys, headDim, cols)
	case level == AVX2 && n == 4:
		sumValuesF16x4AVX2((*[4]*float32)(dst[:4]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 1:
		sumValuesF16x1AVX512((*[1]*float32)(dst[:1]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 2:
		sumValuesF16x2AVX512((*[2]*float32)(dst[:2]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 4:
		sumValuesF16x4AVX512((*[4]*float32)(dst[:4]), &values[0], &weights[0], keys, headDim, cols)
	case level >= AVX512 && n == 8:
		sumValuesF16x8AVX512((*[8]*float32)(dst[:8]), &values[0], &weights[0], keys, headDim, cols)
	}
	sumValuesGeneric(dst, values, weights, n, keys, headDim, cols)
}

func scoreKeysQuantized(dst []float32, q *queries, keys []byte, n, headDim, blocks int, factor float32) {
	_ = keys[:quantizedAt(blocks*lanes*headDim)]
	_ = dst[:(n-1)*KeysPerSplit+blocks*lanes]
	switch {
	case level == Portable:
		scoreKeysQuantizedGeneric(dst, q, keys, n, headDim, blocks, factor)
	case level == AVX2 && n == 1:
		scoreKeysQ8_0x1AVX2(&dst[0], (*[1]*float32)(q[:1]), &keys[0], headDim, blocks, factor)
	case level == AVX2 && n == 2:
		scoreKeysQ8_0x2AVX2(&dst[0], (*[2]*float32)(q[:2]), &keys[0], headDim, blocks, factor)
	case level == AVX2 && n == 4:
		scoreKeysQ8_0x4AVX2(&dst[0], (*[4]*float32)(q[:4]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 1:
		scoreKeysQ8_0x1AVX512(&dst[0], (*[1]*float32)(q[:1]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 2:
		scoreKeysQ8_0x2AVX512(&dst[0], (*[2]*float32)(q[:2]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 4:
		scoreKeysQ8_0x4AVX512(&dst[0], (*[4]*float32)(q[:4]), &keys[0], headDim, blocks, factor)
	case level >= AVX512 && n == 8:
		scoreKeysQ8_0x8AVX512(&dst[0], (*[8]*float32)(q[:8]), &keys[0], headDim, blocks, factor)
	}
}

func sumValuesQuantized(dst *queries, values []byte, weights []float32, n, keys, headDim int) {
	_ = values[:quantizedAt(keys*headDim)]
	_ = weights[:(n-1)*KeysPerSplit+keys]
	switch {
	case level == Portable:
		sumValuesQuantizedGeneric(dst, values, weights, n, keys, headDim)
	case level == AVX2 && n == 1:
		sumValuesQ8_0x1AVX2((*[1]*float32)(dst[:1]), &values[0], &weights[0], keys, headDim)
	case level == AVX2 && n == 2:
		sumValuesQ8_0x2AVX2((*[2]*float32)(dst[:2]), &values[0], &weights[0], keys, headDim)
	case level == AVX2 && n == 4:
		sumValuesQ8_0x4AVX2((*[4]*float32)(dst[:4]), &values[0], &weights[0], keys, headDim)
	case level >= AVX512 && n == 1:
		sumValuesQ8_0x1AVX512((*[1]*float32)(dst[:1]), &values[0], &weights[0], keys, headDim)
	case level >= AVX512 && n == 2:
		sumValuesQ8_0x2AVX512((*[2]*float32)(dst[:2]), &values[0], &weights[0], keys, headDim)
	case level >= AVX512 && n == 4:
		sumValuesQ8_0x4AVX512((*[4]*float32)(dst[:4]), &values[0], &weights[0], keys, headDim)
	case level >= AVX512 && n == 8:
		sumValuesQ8_0x8AVX512((*[8]*float32)(dst[:8]), &values[0], &weights[0], keys, headDim)
	}
}
