package cpu

// SwiGLU writes silu(gate)·up to gate, silu(g) = g/(1+exp(−g)).
func SwiGLU(gate, up []float32) { swiGLU(gate, up) }
