package ref

// Activations returns the activation functions with the bits of the GPU kernels, by the names of the
// kernels. Their exponential is Exp.
func Activations() map[string]func(x float32) float32 {
	return map[string]func(x float32) float32{
		"silu": func(x float32) float32 { return x / (1 + Exp(-x)) },
		"gelu": func(x float32) float32 { // x·sigmoid(2·√(2/π)·(x + 0.044715·x³)), which is GELU by tanh
			return x / (1 + Exp(-(x * FMA(0.07135481, x*x,
				1.5957691))))
		},
		"relu_squared": func(x float32) float32 { return float32(max(x, 0) * max(x, 0)) },
		"sigmoid":      func(x float32) float32 { return 1 / (1 + Exp(-x)) },
	}
}

// CapRows returns limit·tanh(x/limit), where tanh(x) is 1 − 2/(e²ˣ+1).
func CapRows(x, limit float32) float32 {
	return limit * (1 - 2/(Exp(2*(x/limit))+1))
}

// AddRows returns x + y.
func AddRows(x, y float32) float32 { return x + y }

// SwiGLURows returns silu(gate)·up with the bits of the GPU kernel: silu is one division, and its
// exponential is Exp.
func SwiGLURows(gate, up float32) float32 {
	return float32(gate/(1+Exp(-gate))) * up
}
