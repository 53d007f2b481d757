//go:build !noasm

package cpu

func scoreKeys(dst, q, keys []float32, factor float32) {
	blocks := len(dst) / lanes
	_ = keys[:blocks*lanes*len(q)]
	switch {
	case blocks == 0:
	case level == AVX512:
		scoreKeysF32AVX512(&dst[0], &q[0], &keys[0], len(q), blocks, factor)
	case level == AVX2:
		scoreKeysF32AVX2(&dst[0], &q[0], &keys[0], len(q), blocks, factor)
	default:
		scoreKeysGeneric(dst, q, keys, factor)
	}
}

func scoreKeysHalf(dst, q []float32, keys []uint16, factor float32) {
	blocks := len(dst) / lanes
	_ = keys[:blocks*lanes*len(q)]
	switch {
	case blocks == 0:
	case level == AVX512:
		scoreKeysF16AVX512(&dst[0], &q[0], &keys[0], len(q), blocks, factor)
	case level == AVX2:
		scoreKeysF16AVX2(&dst[0], &q[0], &keys[0], len(q), blocks, factor)
	default:
		scoreKeysGeneric(dst, q, keys, factor)
	}
}

func sumValues(dst, values, weights []float32, stride int) {
	n := whole(len(dst), lanes)
	_ = values[:(len(weights)-1)*stride+len(dst)]
	switch {
	case n == 0:
	case level == AVX512:
		sumValuesF32AVX512(&dst[0], &values[0], &weights[0], len(weights), stride, n)
	default:
		sumValuesF32AVX2(&dst[0], &values[0], &weights[0], len(weights), stride, n)
	}
	if n < len(dst) {
		sumValuesGeneric(dst[n:], values[n:], weights, stride)
	}
}

func sumValuesHalf(dst []float32, values []uint16, weights []float32, stride int) {
	n := whole(len(dst), lanes)
	_ = values[:(len(weights)-1)*stride+len(dst)]
	switch {
	case n == 0:
	case level == AVX512:
		sumValuesF16AVX512(&dst[0], &values[0], &weights[0], len(weights), stride, n)
	default:
		sumValuesF16AVX2(&dst[0], &values[0], &weights[0], len(weights), stride, n)
	}
	if n < len(dst) {
		sumValuesGeneric(dst[n:], values[n:], weights, stride)
	}
}
