package cpu

// SwiGLU writes silu(gate)·up to gate, silu(g) = g/(1+exp(−g)).
func SwiGLU(gate, up []float32) { swiGLU(gate, up) }

// GateClamped is ref.ClampedSwiGLU: with g = min(gate, 7) and u = up clamped to −7 … 7 it writes
// g·σ(1.702·g)·(u+1) to gate. That is silu(1.702·g)·(u+1)/1.702. up is overwritten.
func GateClamped(gate, up []float32) {
	const limit, slope = 7, 1.702
	up = up[:len(gate)]
	for i, g := range gate {
		gate[i] = slope * min(g, limit)
		up[i] = (max(-limit, min(up[i], limit)) + 1) * (1 / slope)
	}
	swiGLU(gate, up)
}
