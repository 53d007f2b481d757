package gpu

import (
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

var _ compute.Recurrent = (*Backend)(nil)

// DeltaNet computes rows of a gated delta net, and updates the state of the layer.
func (b *Backend) DeltaNet(dst, x, alpha, beta compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	return b.recur(dst, x, alpha, beta, m, c, d)
}

// Mamba2 computes rows of a Mamba-2 layer, and updates the state of the layer.
func (b *Backend) Mamba2(dst, x, steps compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	return b.recur(dst, x, steps, nil, m, c, d)
}

// recur computes rows of a delta net or, if beta is nil, of a Mamba-2 layer.
func (b *Backend) recur(dst, x, alpha, beta compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	out, in, alphas := rowsOf(dst, d.Row, m), rowsOf(x, d.Row, m), rowsOf(alpha, d.Row, m)
	s, err := b.beginState(m, c, d)
	if err != nil {
		return err
	}
	require(out.cols == s.Heads*s.ValueDim && in.cols == s.Width() && alphas.cols == s.Heads, "a layer with a state of widths that do not fit")
	require(d.Rate.Len() == s.Heads && d.Shift.Len() == s.Heads && (d.Skip == nil) == (beta != nil), "a layer with a state with weights that do not fit")
	o := recur{
		convolved: b.convolved(out, in, s, m, d), alpha: alphas.row(d.Row), rate: at(d.Rate), shift: at(d.Shift), skip: at(d.Skip),
		state: s.memory, grouped: s.grouped, eps: d.Eps,
	}
	if beta != nil {
		betas := rowsOf(beta, d.Row, m)
		require(betas.cols == s.Heads, "a layer with a state of widths that do not fit")
		o.beta = betas.row(d.Row)
	}
	b.tape.append(o)
	s.pass(d.Position, m)
	return nil
}

// ShortConvolution computes rows of a gated short convolution, and stores their inputs in the ring.
func (b *Backend) ShortConvolution(dst, x compute.Buffer, m int, c compute.Cache, d compute.Recurrence) error {
	out, in := rowsOf(dst, d.Row, m), rowsOf(x, d.Row, m)
	s, err := b.beginState(m, c, d)
	if err != nil {
		return err
	}
	require(out.cols == s.Width() && in.cols == 3*s.Width(), "a short convolution of widths that do not fit")
	b.tape.append(shortConvolution{b.convolved(out, in, s, m, d)})
	s.pass(d.Position, m)
	return nil
}

// beginState checks a pass of m rows over a layer with a state, calls begin, and returns the state.
func (b *Backend) beginState(m int, c compute.Cache, d compute.Recurrence) (*layerState, error) {
	p := c.(*partialCache)
	require(d.Position == p.length && p.memory != 0, "a layer with a state at another position than the cache's length")
	if d.Position+m > p.shape.Tokens {
		return nil, fmt.Errorf("computing %d tokens: the cache has room for %d", d.Position+m, p.shape.Tokens)
	}
	s := p.states[d.Layer]
	require(d.Convolution.Len() == s.Kernel*s.Width() && (d.Bias == nil || d.Bias.Len() == s.Width()), "a convolution with weights that do not fit")
	return s, p.begin(d.Layer, m)
}

// convolved returns the part of an operation that all kinds of layers with a state have. dst and x are its
// output and input.
func (b *Backend) convolved(dst, x *buffer, s *layerState, m int, d compute.Recurrence) convolved {
	numbers := [cuda.PassNumbers]int32{int32(d.Position), int32(s.at), int32(s.slot(d.Position))}
	b.changed(dst)
	return convolved{dst.row(d.Row), x.row(d.Row), at(d.Convolution), at(d.Bias), s.ring(), b.word(b.tape.numbersWord(d.Row, numbers)), m, dst.cols, s.Recurrence}
}

// at returns where a vector lies, or 0 for nil.
func at(v compute.Vector) driver.Pointer {
	if v == nil {
		return 0
	}
	return v.(*vector).memory
}

// NormGroups normalises each group of columns of each row. w has a weight for each column.
func (b *Backend) NormGroups(dst, x compute.Buffer, m int, w compute.Vector, group int, eps float32) error {
	xb, d, v := rowsOf(x, 0, m), rowsOf(dst, 0, m), w.(*vector)
	require(group > 0 && xb.cols == d.cols && xb.cols == v.length && xb.cols%group == 0, "NormGroups of widths that do not fit")
	groups := xb.cols / group
	if groups == 1 {
		return b.RMSNorm(dst, x, m, w, eps)
	}
	b.changed(d)
	b.tape.append(normGroups{norm{d.memory, xb.memory, v.memory, m * groups, group, eps}, groups})
	return nil
}
