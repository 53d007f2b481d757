package sample

import "math"

// exp32 is eˣ for x ≤ 0 to within 1 part in 100,000, at a fraction of math.Exp's time; below -87 it is 0.
//
// x·log₂e = k + f with |f| ≤ 1/2; 2ᵏ goes into the exponent's bits, 2^f is its Taylor polynomial of degree 6, whose error is below 2⁻²².
func exp32(x float32) float32 {
	if x < -87 {
		return 0
	}
	t := x * math.Log2E
	k := int32(t+128.5) - 128 // the conversion cuts towards 0; what it cuts is positive
	f := t - float32(k)
	p := 1 + f*(0.6931472+f*(0.2402265+f*(0.05550411+f*(0.009618129+f*(0.001333356+f*0.0001540353)))))
	return p * math.Float32frombits(uint32(k+127)<<23)
}
