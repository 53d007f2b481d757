package ref

import "math"

// SwiGLU returns silu(gate)·up with silu(g) = g/(1+exp(−g)).
// Source: Shazeer, GLU Variants Improve Transformer, 2020.
func SwiGLU(gate, up float64) float64 {
	return gate / (1 + math.Exp(-gate)) * up
}
