//go:build !noasm

package cpu

import "math"

func add(x, y []float32) {
	y = y[:len(x)]
	n := whole(len(x), 8)
	if n > 0 {
		addAVX2(&x[0], &y[0], n)
	}
	addGeneric(x[n:], y[n:])
}

func times(x []float32, factor float32) {
	n := whole(len(x), 8)
	if n > 0 {
		timesAVX2(&x[0], n, factor)
	}
	timesGeneric(x[n:], factor)
}

func mix(x, y []float32, a, b float32) {
	y = y[:len(x)]
	n := whole(len(x), 8)
	if n > 0 {
		mixAVX2(&x[0], &y[0], n, a, b)
	}
	mixGeneric(x[n:], y[n:], a, b)
}

func scale(dst, x, w []float32, factor float32) {
	dst, w = dst[:len(x)], w[:len(x)]
	n := whole(len(x), 8)
	if n > 0 {
		scaleAVX2(&dst[0], &x[0], &w[0], n, factor)
	}
	scaleGeneric(dst[n:], x[n:], w[n:], factor)
}

func squares(x []float32) float32 {
	n := whole(len(x), lanes)
	if n == 0 {
		return squaresGeneric(x)
	}
	var sums [lanes]float32
	squaresAVX2(&sums, &x[0], n)
	for i, v := range x[n:] {
		sums[i] += float32(v * v)
	}
	return fold(&sums)
}

// normGroups normalises the groups and returns how many it has normalised: all, or none.
func normGroups(dst, x, w []float32, groups int, eps float64) int {
	n := len(w)
	if level < AVX512 || n%lanes != 0 || groups == 0 {
		return 0
	}
	_, _ = dst[:groups*n], x[:groups*n]
	rmsNormAVX512(&dst[0], &x[0], &w[0], n, groups, eps)
	return groups
}

func largest(x []float32) float32 {
	n := whole(len(x), 8)
	if n == 0 {
		return largestGeneric(x)
	}
	var found [8]float32
	if largestAVX2(&found, &x[0], n) != 0 {
		return float32(math.NaN())
	}
	return max(largestGeneric(found[:]), largestGeneric(x[n:]))
}

func rotate(low, high, cos, sin []float32) {
	high, cos, sin = high[:len(low)], cos[:len(low)], sin[:len(low)]
	n := whole(len(low), 8)
	if n > 0 {
		rotateAVX2(&low[0], &high[0], &cos[0], &sin[0], n)
	}
	rotateGeneric(low[n:], high[n:], cos[n:], sin[n:])
}

func rotatePairs(x, cos, sin []float32) {
	x, sin = x[:2*len(cos)], sin[:len(cos)]
	n := whole(len(cos), 4)
	if n > 0 {
		rotatePairsAVX2(&x[0], &cos[0], &sin[0], n)
	}
	rotatePairsGeneric(x[2*n:], cos[n:], sin[n:])
}

func swiGLU(gate, up []float32) {
	up = up[:len(gate)]
	n := 0
	if level >= AVX512 {
		if n = whole(len(gate), 16); n > 0 {
			swiGLUAVX512(&gate[0], &up[0], n)
		}
	} else if n = whole(len(gate), 8); n > 0 {
		swiGLUAVX2(&gate[0], &up[0], n)
	}
	swiGLUGeneric(gate[n:], up[n:])
}

func gelu(x []float32) {
	n := whole(len(x), 8)
	if n > 0 {
		geluAVX2(&x[0], n)
	}
	geluGeneric(x[n:])
}

func expSum(x []float32, shift float32) float32 {
	n := whole(len(x), lanes)
	var sums [lanes]float32
	if n > 0 {
		expSumAVX2(&sums, &x[0], n, shift)
	}
	for i, v := range expSumGeneric(x[n:], shift) {
		sums[i] += v
	}
	return fold(&sums)
}

func narrow(dst []uint16, x []float32) {
	dst = dst[:len(x)]
	n := whole(len(x), 8)
	if n > 0 {
		narrowAVX2(&dst[0], &x[0], n)
	}
	narrowGeneric(dst[n:], x[n:])
}

func widenHalf(dst []float32, x []uint16) {
	x = x[:len(dst)]
	n := 0
	if level >= AVX512 {
		if n = whole(len(x), 16); n > 0 {
			widenHalfAVX512(&dst[0], &x[0], n)
		}
	} else if n = whole(len(x), 8); n > 0 {
		widenHalfAVX2(&dst[0], &x[0], n)
	}
	widenHalfGeneric(dst[n:], x[n:])
}
