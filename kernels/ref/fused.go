package ref

import "math"

// FMA is a·b + c rounded once to float32, as fma.rn.f32 is.
func FMA(a, b, c float32) float32 {
	product := float64(a) * float64(b) // exact: 48 bits
	sum := product + float64(c)
	// What the sum lost (Knuth's two-sum, exact). Rounding the sum to float64 and then to float32 is wrong only where the first
	// rounding made a tie; an odd last bit that stands for the lost part prevents it (rounding to odd, Boldo and Melquiond, 2008).
	part := sum - product
	lost := (product - (sum - part)) + (float64(c) - part)
	bits := math.Float64bits(sum)
	if lost != 0 && bits&1 == 0 && !math.IsInf(sum, 0) {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
	}
	return float32(math.Float64frombits(bits))
}

// Exp is eˣ as the GPU's kernels compute it, to the bit: 2ⁿ·eʳ with r within ±ln2/2, the latter by a polynomial in fused steps.
func Exp(x float32) float32 {
	switch {
	case x != x:
		return x
	case x >= 88.72284:
		return float32(math.Inf(1))
	case x < -103.97208:
		return 0
	}
	n := float32(math.RoundToEven(float64(x * 1.44269504)))
	r := FMA(n, -0.693145752, x)
	r = FMA(n, -1.42860677e-06, r)
	p := float32(1.3981999e-3)
	for _, c := range []float32{8.3333752e-3, 4.1666687e-2, 1.6666664e-1, 0.5, 1, 1} {
		p = FMA(p, r, c)
	}
	whole := int32(n)
	first := whole / 2 // in two steps, so that a subnormal result rounds once
	return p * powerOfTwo(first) * powerOfTwo(whole-first)
}

func powerOfTwo(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }

// Warp is the number of lanes of a warp.
const Warp = 32

// WarpSum adds the values of a warp's lanes as butterflies do: lane i and lane i xor 16, then xor 8, 4, 2 and 1.
func WarpSum(lanes [Warp]float32) float32 {
	for half := Warp / 2; half > 0; half /= 2 {
		for i := range half {
			lanes[i] += lanes[i+half]
		}
	}
	return lanes[0]
}

// BlockSum adds the values of a block's threads: each warp by butterflies, then the warps in ascending order.
func BlockSum(values []float32) float32 {
	sum := float32(0)
	for w := 0; w < len(values); w += Warp {
		if s := WarpSum([Warp]float32(values[w:])); w == 0 {
			sum = s
		} else {
			sum += s
		}
	}
	return sum
}
