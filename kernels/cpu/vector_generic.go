package cpu

import "math"

// Portable code, which every processor can run. It defines to the bit what the assembly computes.

func addGeneric(x, y []float32) {
	y = y[:len(x)]
	for i := range x {
		x[i] += y[i]
	}
}

func timesGeneric(x []float32, factor float32) {
	for i := range x {
		x[i] *= factor
	}
}

func mixGeneric(x, y []float32, a, b float32) {
	y = y[:len(x)]
	for i, v := range y {
		x[i] = float32(x[i]*a) + float32(v*b)
	}
}

func scaleGeneric(dst, x, w []float32, factor float32) {
	dst, w = dst[:len(x)], w[:len(x)]
	for i, v := range x {
		dst[i] = float32(v*factor) * w[i]
	}
}

// largestGeneric returns the largest number of x, −Inf if x is empty, or NaN if x has a NaN.
func largestGeneric(x []float32) float32 {
	largest := float32(math.Inf(-1))
	for _, v := range x {
		largest = max(largest, v)
	}
	return largest
}

func rotateGeneric(low, high, cos, sin []float32) {
	high, cos, sin = high[:len(low)], cos[:len(low)], sin[:len(low)]
	for i := range low {
		low[i], high[i] = rotatePair(low[i], high[i], cos[i], sin[i])
	}
}

func rotatePairsGeneric(x, cos, sin []float32) {
	sin = sin[:len(cos)]
	for i, c := range cos {
		x[2*i], x[2*i+1] = rotatePair(x[2*i], x[2*i+1], c, sin[i])
	}
}

func rotatePair(a, b, cos, sin float32) (float32, float32) {
	return float32(a*cos) - float32(b*sin), float32(a*sin) + float32(b*cos)
}

func swiGLUGeneric(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + exp(-g)) * up[i]
	}
}

// expSumGeneric replaces x by exp(x − shift) and returns the sum in lanes: number i belongs to lane
// i mod 16.
func expSumGeneric(x []float32, shift float32) (sums [lanes]float32) {
	for i, v := range x {
		x[i] = exp(v - shift)
		sums[i%lanes] += x[i]
	}
	return sums
}

// fold adds the lanes by halves, as ref.Dot does.
func fold(lane *[lanes]float32) float32 {
	var sums [lanes / 2]float32
	for i := range sums {
		sums[i] = lane[i] + lane[i+lanes/2]
	}
	return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

func narrowGeneric(dst []uint16, x []float32) {
	dst = dst[:len(x)]
	for i, v := range x {
		dst[i] = toHalf(v)
	}
}

func widenHalfGeneric(dst []float32, x []uint16) {
	x = x[:len(dst)]
	for i, h := range x {
		dst[i] = half(h)
	}
}

// toHalf rounds to half precision, ties to even.
func toHalf(v float32) uint16 {
	b := math.Float32bits(v)
	sign := uint16(b >> 16 & 0x8000)
	magnitude := b & 0x7fffffff
	switch {
	case magnitude > 0x7f800000: // NaN
		return sign | 0x7e00
	case magnitude >= 0x477ff000: // rounds to more than 65504, the largest number
		return sign | 0x7c00
	case magnitude < 0x38800000: // subnormal: count units of 2⁻²⁴
		return sign | uint16(math.RoundToEven(float64(math.Float32frombits(magnitude))*(1<<24)))
	}
	rounded := magnitude + 0xfff + magnitude>>13&1
	return sign | uint16((rounded-(127-15)<<23)>>13)
}
