package gpu

import "specula/engine/compute"

var _ compute.Extra = (*Backend)(nil)

// Scale multiplies each number by factor.
func (b *Backend) Scale(x compute.Buffer, m int, factor float32) error {
	xb := rowsOf(x, 0, m)
	b.changed(xb)
	b.tape.append(scaleRows{xb.memory, factor, m * xb.cols})
	return nil
}

// LayerNorm normalises each group of numbers around its mean. The order of the sums follows from the
// number of threads. So that number depends on the group's length alone, and not on m.
func (b *Backend) LayerNorm(dst, x compute.Buffer, m int, w compute.Vector, group int, eps float32) error {
	xb, d, v := rowsOf(x, 0, m), rowsOf(dst, 0, m), w.(*vector)
	require(group > 0 && xb.cols == d.cols && v.length%group == 0 && xb.cols%v.length == 0,
		"LayerNorm of widths that do not fit")
	b.changed(d)
	b.tape.append(layerNorm{norm{d.memory, xb.memory, v.memory, m * (xb.cols / group), group, eps},
		v.length / group})
	return nil
}

// Activate applies an activation to x, and multiplies the result by y unless y is nil. ClampedSwiGLU
// needs y and combines the two in another way: see kernels/cuda/src/elementwise.cu.
func (b *Backend) Activate(x, y compute.Buffer, m int, f compute.Activation) error {
	xb := rowsOf(x, 0, m)
	o := activate{x: xb.memory, n: m * xb.cols, by: f}
	if y != nil {
		yb := rowsOf(y, 0, m)
		require(xb.cols == yb.cols, "Activate of different widths")
		o.y = yb.memory
	}
	b.changed(xb)
	b.tape.append(o)
	return nil
}

// SoftCap replaces each number v by limit·tanh(v/limit).
func (b *Backend) SoftCap(x compute.Buffer, m int, limit float32) error {
	xb := rowsOf(x, 0, m)
	b.changed(xb)
	b.tape.append(capRows{xb.memory, limit, m * xb.cols})
	return nil
}
