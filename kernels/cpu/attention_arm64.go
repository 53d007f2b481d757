//go:build !noasm

package cpu

// mostTogether returns the largest number of queries that a kernel computes at once.
func mostTogether() int { return 4 }

func scoreKeys(dst []float32, q *queries, keys []float32, n, headDim, blocks int, factor float32) {
	_ = keys[:blocks*lanes*headDim]
	_ = dst[:(n-1)*KeysPerSplit+blocks*lanes]
	if level == Portable {
		scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
		return
	}
	scoreKeysF32NEON(&dst[0], q, &keys[0], n, headDim, blocks, factor)
}

func soften(scores []float32, seen *[queriesAtOnce]int, n int, largests, sums *[queriesAtOnce]float32) {
	softenRows(scores, seen, n, largests, sums)
}

func sumValues(dst *queries, values []float32, weights []float32, n, keys, headDim int) {
	_ = values[:keys*headDim]
	_ = weights[:(n-1)*KeysPerSplit+keys]
	cols := whole(headDim, lanes)
	if cols > 0 {
		sumValuesF32NEON(dst, &values[0], &weights[0], n, keys, headDim, cols)
	}
	sumValuesGeneric(dst, values, weights, n, keys, headDim, cols)
}

func scoreKeysHalf(dst []float32, q *queries, keys []uint16, n, headDim, blocks int, factor float32) {
	_ = keys[:blocks*lanes*headDim]
	_ = dst[:(n-1)*KeysPerSplit+blocks*lanes]
	if level == Portable {
		scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
		return
	}
	scoreKeysF16NEON(&dst[0], q, &keys[0], n, headDim, blocks, factor)
}

func sumValuesHalf(dst *queries, values []uint16, weights []float32, n, keys, headDim int) {
	_ = values[:keys*headDim]
	_ = weights[:(n-1)*KeysPerSplit+keys]
	cols := whole(headDim, lanes)
	if cols > 0 {
		sumValuesF16NEON(dst, &values[0], &weights[0], n, keys, headDim, cols)
	}
	sumValuesGeneric(dst, values, weights, n, keys, headDim, cols)
}

func scoreKeysQuantized(dst []float32, q *queries, keys []byte, n, headDim, blocks int, factor float32) {
	_ = keys[:quantizedAt(blocks*lanes*headDim)]
	_ = dst[:(n-1)*KeysPerSplit+blocks*lanes]
	if level == Portable {
		scoreKeysQuantizedGeneric(dst, q, keys, n, headDim, blocks, factor)
		return
	}
	scoreKeysQ8_0NEON(&dst[0], q, &keys[0], n, headDim, blocks, factor)
}

func sumValuesQuantized(dst *queries, values []byte, weights []float32, n, keys, headDim int) {
	_ = values[:quantizedAt(keys*headDim)]
	_ = weights[:(n-1)*KeysPerSplit+keys]
	if level == Portable {
		sumValuesQuantizedGeneric(dst, values, weights, n, keys, headDim)
		return
	}
	sumValuesQ8_0NEON(dst, &values[0], &weights[0], n, keys, headDim)
}
