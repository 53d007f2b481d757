package ref

import "math"

// SiLU is x·σ(x).
func SiLU(x float64) float64 { return x * Sigmoid(x) }

// Sigmoid is 1/(1+exp(−x)).
func Sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// GELU is x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))).
// Source: Hendrycks and Gimpel, Gaussian Error Linear Units, 2016.
func GELU(x float64) float64 {
	return x / 2 * (1 + math.Tanh(math.Sqrt(2/math.Pi)*(x+0.044715*x*x*x)))
}

// ReLUSquared is max(0, x)². Source: So et al., Primer, 2021.
func ReLUSquared(x float64) float64 { return max(0, x) * max(0, x) }
