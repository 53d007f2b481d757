// Package compute is the one seam between the transformer and the hardware: types and contracts, no arithmetic.
//
// A Backend owns memory and executes the dozen operations a transformer is made of, each over a whole batch of rows.
// Calls queue work in order; only the methods of Logits give numbers to the host, and only they may wait for the device.
// That lets a GPU backend run a whole round behind one synchronisation, and the CPU backend simply run at once.
//
// The law that every backend keeps (bit-equality): the bits of a result row depend on that row's own inputs alone,
// never on how many other rows were computed in the same call. So a verification of γ+1 rows writes the same logits,
// keys and values as γ+1 single decoding steps would have.
package compute

import "context"

// DType is the storage type of a weight matrix, numbered as GGUF numbers them.
type DType uint32

// The types of GGUF that a backend may know. A backend that lacks one says so in Matrix.
const (
	F32  DType = 0
	F16  DType = 1
	Q4_0 DType = 2
	Q4_1 DType = 3
	Q5_0 DType = 6
	Q5_1 DType = 7
	Q8_0 DType = 8
	Q4_K DType = 12
	Q5_K DType = 13
	Q6_K DType = 14
	BF16 DType = 30
)

// Weight is a tensor as a file stores it: Rows × Cols, row-major, Cols along the accumulation axis (K).
// A vector has Rows 1.
type Weight struct {
	Name string
	Type DType
	Rows int
	Cols int
	Data []byte // in the file's block format; borrowed by the backend for the life of the model, never written

	// Done, which may be nil, takes from a backend that keeps a copy that it will not read bytes from … to−1 of Data again.
	Done func(from, to int)
}

// Matrix is a weight the backend has taken in: (Rows, Cols).
type Matrix interface {
	Rows() int
	Cols() int
}

// Vector is a float32 weight of the backend's: norms and biases.
type Vector interface{ Len() int }

// Buffer is a float32 activation matrix of the backend's, (rows, cols), allocated once for the largest batch and reused.
type Buffer interface {
	MaxRows() int
	Cols() int
}

// CacheShape sizes a KV cache.
type CacheShape struct {
	Layers  int
	Tokens  int // capacity
	KVHeads int
	HeadDim int
	// Type is how numbers are kept, and so what is computed with: F32; F16, in whose place a backend may keep F32; or Q8_0, a byte
	// each and a scale for 32 of a head's, which a backend may refuse. See CacheChecker.
	Type DType
}

// CacheChecker is what a Backend may offer besides, so that a cache is refused before weights are taken in for it.
type CacheChecker interface {
	// CheckCache says why Cache would refuse the shape whatever the memory; nil if it would not.
	CheckCache(shape CacheShape) error
}

// Cache holds keys and values of one sequence, per layer (tokens, KVHeads·HeadDim).
// The rows beyond Len are garbage that Forward overwrites.
type Cache interface {
	Len() int
	Cap() int
	// Truncate forgets every token from n on; n must not exceed Len.
	Truncate(n int) error
	// Advance makes the n rows that Attend just wrote part of the cache, after every layer has run.
	Advance(n int) error
	// KeyValue copies layer's key and value row of one token, each KVHeads·HeadDim numbers, to the host. It serves tests and doctor.
	KeyValue(layer, token int, key, value []float32) error
	Bytes() int64
	Close() error
}

// Logits are the raw scores of one forward pass, (rows, vocab). They stay on the device until asked for
// and are valid until the next pass of the same model.
type Logits interface {
	Rows() int
	Vocab() int
	// Argmax writes the best token of every row, the lowest id winning ties; 4 bytes a row cross the seam.
	// A row without a finite maximum, or with any NaN or +Inf, gives ErrNotFinite.
	Argmax(dst []int32) error
	// Row copies row i to dst (vocab numbers); 4·vocab bytes cross the seam.
	// It does not judge the numbers: the sampler does.
	Row(i int, dst []float32) error
	// Moved returns the bytes that crossed the seam and the waits for the device since the pass, by the copies' own count.
	Moved() (bytes int64, syncs int)
}

// Arithmetic is what Logits may offer besides: sums over rows that lie in the host's memory, faster than a loop in plain Go. A sampler
// uses it where it is there. Its results do not depend on the machine.
type Arithmetic interface {
	// Best returns the index of the largest score, the lowest among equals; ok is false when a score is NaN or +Inf or none is finite.
	Best(scores []float32) (best int, ok bool)
	// Weights writes exp((scores[i] − peak)·factor) to dst and returns their sum; no score is above peak.
	Weights(dst []float64, scores []float32, peak float32, factor float64) (sum float64)
	// Multiply scales a row.
	Multiply(x []float64, factor float64)
}

// Attention describes one attention call.
type Attention struct {
	Layer    int
	Heads    int // query heads; a multiple of the cache's KV heads
	HeadDim  int
	Scale    float32 // of q·k, usually 1/√HeadDim
	Row      int     // the first row of the buffers that belongs to this cache's sequence
	Position int     // of that row: equals the cache's Len
}

// Rope describes a rotary embedding over heads of HeadDim, of which the first Dim numbers rotate.
type Rope struct {
	Heads    int
	HeadDim  int
	Dim      int
	NeoX     bool      // pairs (i, i+Dim/2); otherwise (2i, 2i+1)
	Cos, Sin []float32 // (positions, Dim/2), made by the host in float64
	Row      int       // the first row of the buffer to rotate
	Position int       // of that row
}

// Block is where a copy takes rows from and where it puts them.
type Block struct {
	From int // the first row of the source
	Row  int // the row and
	Col  int // column of the destination where its first number goes
}

// Tap is where the passes of a model leave hidden states for a head that guesses from them.
type Tap struct {
	// Layers says which, a block of columns for each: i for the residual stream in front of layer i, the number of layers for
	// that behind the last one, Normed for that behind the last one after the output norm, from which scores are made.
	Layers []int
	Rows   Buffer // (rows of a pass, len(Layers)·width of the stream), valid until the next pass
}

// Normed is the hidden state that scores are made of.
const Normed = -1

// Info describes a device to the user.
type Info struct {
	Kind        string // "cpu" or "cuda"
	Name        string // "AMD EPYC, 2 threads"
	MemoryBytes int64  // 0 when unknown
	Detail      string // what was found out about it, in a sentence; may be empty
}

// Backend executes the operations. In all of them m is the number of rows used, 1 ≤ m ≤ MaxRows, and rows are independent.
// Shapes that do not fit are programmer errors and panic; everything that a device or a file can cause is an error.
type Backend interface {
	Info() Info

	// Matrix takes a weight in. It fails with the tensor's name and type when the type has no product here.
	Matrix(ctx context.Context, w Weight) (Matrix, error)
	Vector(name string, data []float32) (Vector, error)
	Buffer(maxRows, cols int) (Buffer, error)
	Cache(shape CacheShape) (Cache, error)

	// Embed writes row ids[i] of table to row i of dst.
	Embed(dst Buffer, table Matrix, ids []int32) error
	// RMSNorm writes x·w/√(mean(x²)+eps) per group of w.Len() numbers, so that it serves whole rows and, with w of
	// HeadDim numbers, each head of q and k. dst may be x.
	RMSNorm(dst, x Buffer, m int, w Vector, eps float32) error
	// MatMul writes dst (m, w.Rows) = x (m, w.Cols) · wᵀ.
	MatMul(dst, x Buffer, m int, w Matrix) error
	// AddBias adds b to each row of x.
	AddBias(x Buffer, m int, b Vector) error
	// RoPE rotates m rows of x (·, Heads·HeadDim) in place, r.Row and those behind it.
	RoPE(x Buffer, m int, r Rope) error
	// Attend stores m rows of k and v (·, KVHeads·HeadDim), a.Row and those behind it, behind the cache's Len, without
	// advancing it, and writes causal attention of the same rows of q (·, Heads·HeadDim) to those of dst.
	Attend(dst, q, k, v Buffer, m int, c Cache, a Attention) error
	// SwiGLU writes silu(gate)·up to gate.
	SwiGLU(gate, up Buffer, m int) error
	// Add adds y to x.
	Add(x, y Buffer, m int) error
	// Logits hands out the first m rows of x as scores.
	Logits(x Buffer, m int) (Logits, error)
	// Copy writes m rows of x to a block of dst, which may be x if the rows do not overlap. It lets a prefill pay for one LM-head
	// row only, sets rows side by side, and keeps them for later.
	Copy(dst, x Buffer, m int, b Block) error

	Close() error
}
