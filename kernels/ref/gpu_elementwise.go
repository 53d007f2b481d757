package ref

// AddRows returns x + y.
func AddRows(x, y float32) float32 { return x + y }

// SwiGLURows returns silu(gate)·up with the bits of the GPU kernel: the sigmoid is a division, and
// its exponential is Exp.
func SwiGLURows(gate, up float32) float32 {
	return float32(gate/(1+Exp(-gate))) * up
}
