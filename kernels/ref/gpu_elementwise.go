package ref

// AddRows is x + y.
func AddRows(x, y float32) float32 { return x + y }

// SwiGLURows is silu(gate)·up to the bit of the GPU kernel: the sigmoid is a division, its exponential is Exp.
func SwiGLURows(gate, up float32) float32 {
	return float32(gate/(1+Exp(-gate))) * up
}
