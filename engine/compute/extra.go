package compute

import "errors"

// ErrLacks means that a backend has no operation that a model needs.
var ErrLacks = errors.New("the device lacks an operation of this model")

// Extra is an optional interface of a Backend: operations that only some architectures need. A
// backend that has them also obeys Window and SoftCap of Attention. A model that needs one of them
// is refused on other backends.
type Extra interface {
	// Scale multiplies each number of x, which has m rows, by factor.
	Scale(x Buffer, m int, factor float32) error
	// LayerNorm writes (x−mean)·w/√(variance+eps) to dst. Mean and variance are taken over each group
	// of consecutive numbers of a row; a group has as many numbers as the parameter group says. w has
	// the weights of one or more groups; the groups after these use w from its beginning again. dst
	// may be x.
	LayerNorm(dst, x Buffer, m int, w Vector, group int, eps float32) error
	// Activate replaces each number of x by its activation, times the number of y in the same row and
	// column. If y is nil, it only applies the activation. ClampedSwiGLU is a function of two numbers:
	// that of x and that of y.
	Activate(x, y Buffer, m int, f Activation) error
	// SoftCap replaces each number of x, which has m rows, by limit·tanh(x/limit).
	SoftCap(x Buffer, m int, limit float32) error
}

// Activation is a function that a network applies to each number.
type Activation int

// The activations that models use.
const (
	SiLU        Activation = iota // x·σ(x), σ(x) = 1/(1+exp(−x))
	GELU                          // x/2·(1+tanh(√(2/π)·(x + 0.044715·x³)))
	ReLUSquared                   // max(0, x)²
	Sigmoid                       // σ(x)
	// ClampedSwiGLU is g·σ(1.702·g)·(u+1), where g is min(x, 7) and u is y clamped to −7 … 7. It needs y.
	ClampedSwiGLU
)
