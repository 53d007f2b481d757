package ref

import "math"

// Exp is e^x with the bits of the GPU kernels: 2^n·e^r, with n the integer nearest to x/ln 2 and
// r = x − n·ln 2. e^r is a polynomial in Horner's form. The relative error is below 1e-6 for normal results.
func Exp(x float32) float32 {
	switch {
	case x != x:
		return x
	case x >= 88.72284:
		return float32(math.Inf(1))
	case x < -103.97208:
		return 0
	}
	n := float32(math.RoundToEven(float64(float32(x * 1.44269504))))
	r := FMA(n, -0.693145752, x)
	r = FMA(n, -1.42860677e-06, r)
	p := float32(1.3981999e-3)
	for _, coefficient := range []float32{8.3333752e-3, 4.1666687e-2, 1.6666664e-1, 0.5, 1, 1} {
		p = FMA(p, r, coefficient)
	}
	// Multiply in two steps, so that a subnormal result is rounded only once.
	half := int(n) / 2
	return float32(float32(p*power(half)) * power(int(n)-half))
}

// power returns 2^n; the result must be a normal number.
func power(n int) float32 { return math.Float32frombits(uint32(n+127) << 23) }
