package ref

import "math"

// RoPE rotates the first dim numbers of one head in place, by the angles position/base^(2i/dim), i
// = 0 … dim/2−1. Pair i is (i, i+dim/2) with neox, otherwise (2i, 2i+1). factors, (dim/2) or nil,
// divide the angles. Source: Su et al., RoFormer, 2021; the neox pairing from GPT-NeoX; factors as
// in Llama 3.1.
func RoPE(head []float64, dim, position int, base float64, neox bool, factors []float64) {
	for i := range dim / 2 {
		angle := float64(position) / math.Pow(base, 2*float64(i)/float64(dim))
		if factors != nil {
			angle /= factors[i]
		}
		a, b := 2*i, 2*i+1
		if neox {
			a, b = i, i+dim/2
		}
		sin, cos := math.Sincos(angle)
		head[a], head[b] = head[a]*cos-head[b]*sin, head[a]*sin+head[b]*cos
	}
}
