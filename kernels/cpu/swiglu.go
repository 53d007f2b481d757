package cpu

// SwiGLU writes silu(gate)·up to gate, silu(g) = g/(1+exp(−g)).
func SwiGLU(gate, up []float32) {
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = g / (1 + exp(-g)) * up[i]
	}
}
