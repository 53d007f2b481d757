package cpu

// convolvedColumns is how many columns of a short convolution are an item.
const convolvedColumns = 128

// ShortConvolution computes a gated short convolution, as ref.ShortConvolution defines it, over M tokens,
// the first of which is token Position. An item is some columns of all tokens. The tokens are computed one
// after the other, so a result does not depend on the number of tokens in a pass.
type ShortConvolution struct {
	Dst         []float32 // (M, dim)
	X           []float32 // (M, 3·dim): the gate of the input, the gate of the output, the input
	Conv        []float32 // (Kernel, dim)
	State       *State
	M, Position int
}

// Begin sets State.At to the number of tokens that a roll-back after the task cannot drop.
func (t *ShortConvolution) Begin() { t.State.At = t.State.after(t.Position, t.M) }

// Items returns the number of items.
func (t *ShortConvolution) Items() int {
	return (t.State.shape.Width() + convolvedColumns - 1) / convolvedColumns
}

// Work estimates the number of multiplications.
func (t *ShortConvolution) Work() int {
	return t.M * t.State.shape.Width() * (t.State.shape.Kernel + 2)
}

// Do computes the items from … to−1. It writes each token's input to the state and reads it there:
// the state keeps more inputs than a convolution reads.
func (t *ShortConvolution) Do(from, to int) {
	dim, kernel := t.State.shape.Width(), t.State.shape.Kernel
	var room [MostKernel][]float32
	for item := from; item < to; item++ {
		first := item * convolvedColumns
		n := min(convolvedColumns, dim-first)
		for i := range t.M {
			token := t.Position + i
			inGate, outGate, in := t.X[i*3*dim+first:][:n], t.X[i*3*dim+dim+first:][:n], t.X[i*3*dim+2*dim+first:][:n]
			scale(t.State.input(token)[first:][:n], in, inGate, 1)
			out := t.Dst[i*dim+first:][:n]
			clear(out)
			oldest := max(0, kernel-1-token)
			inputs := room[:kernel-oldest]
			for j := range inputs {
				inputs[j] = t.State.input(token - kernel + 1 + oldest + j)
			}
			convolve(out, inputs, t.Conv[oldest*dim:], first, dim)
			scale(out, out, outGate, 1)
		}
	}
}
