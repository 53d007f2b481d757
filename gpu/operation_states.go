package gpu

import (
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// The operations of layers with a state. See kernels/cuda/src/recurrence.h.

// mostStateDim is the most numbers that a column of a head's state has.
const mostStateDim = 256

// convolved is what the operations of all kinds of layers with a state have in common.
type convolved struct {
	dst, x     driver.Pointer // (rows, cols) and (rows, columns of the input)
	conv, bias driver.Pointer // (Kernel, columns that are convolved) and (such columns); bias is 0 if there is none
	ring       driver.Pointer // see layerState
	numbers    driver.Pointer // int32: position of the first row, layerState.at, row of the ring for the position
	rows, cols int
	size       cuda.Recurrence
}

// recur computes rows of a gated delta net or, if beta is 0, of Mamba-2, and updates the state.
type recur struct {
	convolved
	alpha, beta       driver.Pointer // (rows, heads)
	rate, shift, skip driver.Pointer // (heads); a delta net has no skip
	state             driver.Pointer
	grouped           bool
	eps               float32
}

func (o recur) launch() launch {
	s := &o.size
	sizes := []driver.Argument{whole(o.rows), whole(s.KeyHeads), whole(s.Heads), whole(s.KeyDim), whole(s.ValueDim), whole(s.Kernel), flag(o.grouped), whole(s.Kept)}
	if o.beta == 0 {
		l := s.Mamba2()
		return launchOf(l.Kernel, shapeOf(l), append([]driver.Argument{address(o.dst), address(o.x), address(o.alpha), address(o.conv), address(o.bias),
			address(o.rate), address(o.shift), address(o.skip), address(o.state), address(o.ring), address(o.numbers)}, sizes...)...)
	}
	l := s.DeltaNet()
	return launchOf(l.Kernel, shapeOf(l), append(append([]driver.Argument{address(o.dst), address(o.x), address(o.alpha), address(o.beta), address(o.conv), address(o.bias),
		address(o.rate), address(o.shift), address(o.state), address(o.ring), address(o.numbers)}, sizes...), real(o.eps))...)
}

// shortConvolution computes rows of a gated short convolution.
type shortConvolution struct{ convolved }

func (o shortConvolution) launch() launch {
	l := o.size.ShortConvolution(o.rows)
	return launchOf(l.Kernel, shapeOf(l), address(o.dst), address(o.x), address(o.conv), address(o.bias), address(o.ring), address(o.numbers),
		whole(o.rows), whole(o.size.Width()), whole(o.size.Kernel), whole(o.size.Kept))
}

// normGroups is a norm with weights of its own for each of the groups of a row.
type normGroups struct {
	norm
	perRow int // groups of a row
}

func (o normGroups) launch() launch {
	return launchOf("norm_groups", o.shape(), address(o.dst), address(o.x), address(o.w), whole(o.length), whole(o.perRow), real(o.eps))
}

func (o convolved) access() access {
	return access{reads: [3]driver.Pointer{o.x}, writes: o.dst, bytes: floatBytes * o.rows * o.cols}
}

func (o recur) access() access {
	a := o.convolved.access()
	a.reads[1], a.reads[2] = o.alpha, o.beta
	return a
}
