//go:build (!amd64 && !arm64) || noasm

package cpu

// mostTogether returns the largest number of queries that a kernel computes at once.
func mostTogether() int { return 4 }

func scoreKeys(dst []float32, q *queries, keys []float32, n, headDim, blocks int, factor float32) {
	scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
}

func soften(scores []float32, seen *[queriesAtOnce]int, n int, largests, sums *[queriesAtOnce]float32) {
	softenRows(scores, seen, n, largests, sums)
}

func sumValues(dst *queries, values []float32, weights []float32, n, keys, headDim int) {
	sumValuesGeneric(dst, values, weights, n, keys, headDim, 0)
}

func scoreKeysHalf(dst []float32, q *queries, keys []uint16, n, headDim, blocks int, factor float32) {
	scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
}

func sumValuesHalf(dst *queries, values []uint16, weights []float32, n, keys, headDim int) {
	sumValuesGeneric(dst, values, weights, n, keys, headDim, 0)
}

func scoreKeysQuantized(dst []float32, q *queries, keys []byte, n, headDim, blocks int, factor float32) {
	scoreKeysQuantizedGeneric(dst, q, keys, n, headDim, blocks, factor)
}

func sumValuesQuantized(dst *queries, values []byte, weights []float32, n, keys, headDim int) {
	sumValuesQuantizedGeneric(dst, values, weights, n, keys, headDim)
}
