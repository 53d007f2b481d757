package host

import (
	"specula/engine/compute"
	"specula/kernels/cpu"
)

var _ compute.Extra = (*Backend)(nil)

// activations maps activations of package compute to those of the kernels.
var activations = map[compute.Activation]cpu.Activation{
	compute.SiLU: cpu.SiLU, compute.GELU: cpu.GELU, compute.ReLUSquared: cpu.ReLUSquared, compute.Sigmoid: cpu.Sigmoid,
	compute.ClampedSwiGLU: cpu.ClampedSwiGLU,
}

// Scale multiplies each number by factor.
func (b *Backend) Scale(x compute.Buffer, m int, factor float32) error {
	data, xb := queuedRows(x, 0, m)
	b.perRow(rowOperation{run: scaleRow, parts: xb.cols, count: m, x: data, cols: xb.cols, factor: factor}, len(data))
	return nil
}

// LayerNorm normalises each group of numbers around its mean.
func (b *Backend) LayerNorm(dst, x compute.Buffer, m int, w compute.Vector, group int, eps float32) error {
	in, xb := queuedRows(x, 0, m)
	out, db := queuedRows(dst, 0, m)
	require(group > 0 && xb.cols == db.cols && w.Len()%group == 0 && xb.cols%w.Len() == 0, "LayerNorm of widths that do not fit")
	b.perRow(rowOperation{
		run: layerNormRow, parts: db.cols / w.Len(), count: m, x: out, cols: db.cols, y: in, yCols: xb.cols, w: w.(vector), group: group, eps: eps,
	}, 8*len(in))
	return nil
}

// Activate applies an activation to x, and multiplies with y unless it is nil. ClampedSwiGLU needs y.
func (b *Backend) Activate(x, y compute.Buffer, m int, f compute.Activation) error {
	data, xb := queuedRows(x, 0, m)
	require(y != nil || f != compute.ClampedSwiGLU, "Activate without the numbers that the activation gates")
	op := rowOperation{run: activateRow, parts: xb.cols, count: m, x: data, cols: xb.cols, activation: activations[f]}
	if y != nil {
		factors, yb := queuedRows(y, 0, m)
		require(xb.cols == yb.cols, "Activate of different widths")
		op.y, op.yCols = factors, yb.cols
	}
	b.perRow(op, 40*len(data))
	return nil
}

// SoftCap replaces each number x by limit·tanh(x/limit), which lies between −limit and limit.
func (b *Backend) SoftCap(x compute.Buffer, m int, limit float32) error {
	data, xb := queuedRows(x, 0, m)
	b.perRow(rowOperation{run: capRow, parts: xb.cols, count: m, x: data, cols: xb.cols, factor: limit}, 40*len(data))
	return nil
}

func scaleRow(op *rowOperation, i int, c columns) { cpu.TimesFactor(op.rowX(i, c), op.factor) }

func layerNormRow(op *rowOperation, i int, c columns) {
	cpu.LayerNorm(op.rowX(i, c), op.rowY(i, c), op.w, op.group, op.eps)
}

func activateRow(op *rowOperation, i int, c columns) {
	x := op.rowX(i, c)
	if op.activation == cpu.ClampedSwiGLU {
		cpu.GateClamped(x, op.rowY(i, c))
		return
	}
	cpu.Activate(x, op.activation)
	if op.y != nil {
		cpu.Times(x, op.rowY(i, c))
	}
}

func capRow(op *rowOperation, i int, c columns) { cpu.SoftCap(op.rowX(i, c), op.factor) }
