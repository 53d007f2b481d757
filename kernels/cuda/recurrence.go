package cuda

// Recurrence is the size of a layer with a state, for the kernels of src/recurrence.cu. src/recurrence.h says what
// a cache keeps, and which numbers of a pass the kernels read.
type Recurrence struct {
	KeyHeads, Heads  int // a short convolution has one head, and no keys
	KeyDim, ValueDim int
	Kernel           int // tokens that the convolution sees, the last one included
	Gates            int // numbers of a head that the ring keeps: alpha and beta of a delta net, the step of Mamba-2
	Kept             int // tokens that can be taken back after a pass; at least 1
}

// Width is the number of columns of a token's input that are convolved.
func (r Recurrence) Width() int { return 2*r.KeyHeads*r.KeyDim + r.Heads*r.ValueDim }

// StateNumbers is how many float32 numbers all states of the layer have.
func (r Recurrence) StateNumbers() int { return r.Heads * r.ValueDim * (ceil(r.KeyDim, 4) * 4) }

// MostStored is how many inputs a pass stores in the ring at most. After a pass of m rows, the next token's row
// of the ring is min(m, MostStored) after that of the pass's first token.
func (r Recurrence) MostStored() int { return r.Kept + r.Kernel - 1 }

// RingRows is the number of rows of the ring.
func (r Recurrence) RingRows() int { return 2 * r.MostStored() }

// RingNumbers is how many float32 numbers the ring has.
func (r Recurrence) RingNumbers() int { return r.RingRows() * (r.Width() + r.Gates*r.Heads) }

// PassNumbers is how many int32 the kernels read of a pass: the tokens in the cache, the tokens that the state has
// seen, and the row of the ring for the first token of the pass. With 0 tokens seen the state counts as empty,
// whatever its memory holds. But the memory must have been written once, because kernels read it even then.
const PassNumbers = 3

// DeltaNet is the launch of a gated delta net. Its arguments are
//
//	dst, x, alpha, beta, convolution, bias or 0, rate, shift, state, ring, numbers pointers, m, key heads, heads,
//	key dim, value dim, kernel, grouped, kept int32, eps float32
func (r Recurrence) DeltaNet() Launch { return r.launch("delta_net") }

// Mamba2 is the launch of a Mamba-2 layer. Its arguments are
//
//	dst, x, steps, convolution, bias or 0, rate, shift, skip, state, ring, numbers pointers, m, key heads, heads,
//	key dim, value dim, kernel, grouped, kept int32
func (r Recurrence) Mamba2() Launch { return r.launch("mamba2") }

// launch has a block for 16 columns of a head's state.
func (r Recurrence) launch(kernel string) Launch {
	const columns, threads = 16, 256
	return Launch{kernel, ceil(r.ValueDim, columns), r.Heads, threads, 0}
}

// ShortConvolution is the launch of a gated short convolution of m rows. Its arguments are
//
//	dst, x, convolution, bias or 0, ring, numbers pointers, m, width, kernel, kept int32
func (r Recurrence) ShortConvolution(m int) Launch {
	const threads = 256
	return Launch{"short_convolution", ceil(r.Width(), threads), m, threads, 0}
}
