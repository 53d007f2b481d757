//go:build !amd64 || noasm

package cpu

func add(x, y []float32)                        { addGeneric(x, y) }
func times(x []float32, factor float32)         { timesGeneric(x, factor) }
func scale(dst, x, w []float32, factor float32) { scaleGeneric(dst, x, w, factor) }
func squares(x []float32) float32               { return squaresGeneric(x) }
func largest(x []float32) float32               { return largestGeneric(x) }
func rotate(low, high, cos, sin []float32)      { rotateGeneric(low, high, cos, sin) }
func rotatePairs(x, cos, sin []float32)         { rotatePairsGeneric(x, cos, sin) }
func swiGLU(gate, up []float32)                 { swiGLUGeneric(gate, up) }
func expSum(x []float32, shift float32) float32 { sums := expSumGeneric(x, shift); return fold(&sums) }
func narrow(dst []uint16, x []float32)          { narrowGeneric(dst, x) }

func scoreKeys(dst []float32, q *queries, keys []float32, n, headDim, blocks int, factor float32) {
	scoreKeysGeneric(dst, q, keys, n, headDim, blocks, factor)
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
