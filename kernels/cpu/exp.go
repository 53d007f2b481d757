package cpu

import "math"

// exp is eˣ with a relative error below 2⁻²² where the result is a normal float32. Smaller results
// become 0. With x = n·ln2 + r and |r| ≤ ln2/2, it computes eʳ by a Taylor polynomial of degree 7
// and multiplies it by 2ⁿ.
func exp(x float32) float32 {
	const (
		largest  = 88.72283  // e^x overflows above
		smallest = -87.33654 // e^x is subnormal below
		log2e    = 1 / math.Ln2
		ln2High  = 0x1.62e4p-1 // few enough bits that n·ln2High is exact
		ln2Low   = math.Ln2 - ln2High
	)
	switch {
	case x != x:
		return x
	case x > largest:
		return float32(math.Inf(1))
	case x < smallest:
		return 0
	}
	shifted := float32(x*log2e) + roundingBias
	n := shifted - roundingBias
	r := float32(x-float32(n*ln2High)) - float32(n*ln2Low)
	p := float32(1.0/5040*r) + 1.0/720
	p = float32(p*r) + 1.0/120
	p = float32(p*r) + 1.0/24
	p = float32(p*r) + 1.0/6
	p = float32(p*r) + 0.5
	p = float32(p*r) + 1
	p = float32(p*r) + 1
	// n can be 128, and 2¹²⁸ is not a float32. So apply 2ⁿ in two steps.
	exponent := int32(n)
	first := exponent / 2
	return p * powerOfTwo(first) * powerOfTwo(exponent-first)
}

func powerOfTwo(n int32) float32 { return math.Float32frombits(uint32(n+127) << 23) }
