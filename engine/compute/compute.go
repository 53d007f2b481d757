// Package compute is the only seam between the transformer and the hardware. It has types and
// contracts, and no arithmetic.
//
// Read Backend first: it owns memory and executes the operations of a transformer, each over a
// batch of rows. It returns Matrix, Vector, Buffer and Cache. Weight, CacheShape, Attention and Rope
// describe what a caller wants. Logits are the result of a pass. Optional abilities are separate
// interfaces, found by a type assertion: of a backend (such as Extra, Mixer, Recurrent, Feeder), of its
// logits (Judge, Arithmetic) and of its caches (Partial).
//
// Calls queue work in order. Numbers come to the host only by the methods of Logits and Judge, by
// Get and Kept of Tokens, by Choices and Touched of Routing, and by KeyValue of Cache. Only these calls
// wait for results of a pass. So a GPU backend can run a whole round with one wait. A backend may also run
// each call at once.
//
// One invariant for every backend (bit-equality): the bits of a result row depend on the inputs of
// that row alone, never on how many other rows the same call computed. So a verification pass over
// γ+1 rows gives the same logits, keys and values as γ+1 single decode steps.
package compute

import "context"

// DType is the storage type of a weight matrix. The numbers are GGUF's; package kernels/format lists
// them. For a type that a backend does not support, Backend.Matrix returns an error.
type DType uint32

// The types that code outside of package format refers to.
const (
	F32   DType = 0
	F16   DType = 1
	Q4_0  DType = 2
	Q8_0  DType = 8
	Q4_K  DType = 12
	Q6_K  DType = 14
	BF16  DType = 30
	MXFP4 DType = 39
)

// Weight is a tensor as a file stores it: Rows × Cols, row-major; Cols runs along the axis that a
// product sums over (K). A vector has Rows 1.
type Weight struct {
	Name string
	Type DType
	Rows int // if Experts is not 0: rows of all matrices together
	Cols int
	// Experts is the number of matrices in Data, one after the other: one for each expert of a mixture, or
	// one for each head in attention over compressed keys (latent). For a single matrix it is 0.
	Experts int
	// Data is in the file's block format. The backend may use it without a copy for the life of the
	// model, and never writes to it.
	Data []byte

	// Done may be nil. A backend that makes its own copy calls Done as soon as it no longer needs bytes
	// from … to−1 of Data.
	Done func(from, to int)
}

// Matrix is a weight matrix that the backend has loaded, with Rows rows and Cols columns. If the weight has
// several matrices (Weight.Experts) it means all of them, and Rows is the number of rows of one.
type Matrix interface {
	Rows() int
	Cols() int
}

// Vector is a float32 weight vector in the backend, such as a norm or a bias.
type Vector interface{ Len() int }

// Buffer is a matrix of activations in the backend, in float32. It is allocated once, with room for the
// most rows of a pass, and used by all passes.
type Buffer interface {
	MaxRows() int
	Cols() int
}

// CacheShape is the size of a KV cache.
type CacheShape struct {
	Layers  int
	Tokens  int // capacity
	KVHeads int
	HeadDim int
	// Heads is the largest number of query heads of a layer; 0: not known. A backend plans memory by it.
	Heads int
	// Each gives the size of every layer, if the layers differ; then KVHeads and HeadDim are unused.
	// nil: all layers have KVHeads and HeadDim. A backend may refuse layers of different widths.
	Each []CacheLayer
	// Windows has for each layer the largest Attention.Window; 0: the layer has none. nil: no layer
	// has one. A backend may drop keys and values from before the window; then its caches are Partial.
	Windows []int
	// Spare is how many of the last tokens Truncate must always be able to remove from layers with a
	// window. The model sets it to the rows of its longest pass.
	Spare int
	// Single is the largest number of rows of a pass that verifies a draft. After a pass of up to Single
	// rows, Truncate must be able to remove any number of the tokens of this pass. After a longer pass, a layer
	// with a state must allow only two things: to remove up to Single tokens of the pass, and to remove all of
	// them.
	Single      int
	Checkpoints int // largest number of checkpoints in a Partial cache
	// Sinks: attention over the cache has sinks (see Attention), which a backend may refuse.
	Sinks bool
	// Type is how keys and values are stored, and so the precision of attention: F32, F16 or Q8_0. For
	// F16 a backend may use F32 instead. Q8_0, which a backend may refuse, has one byte per number and
	// one scale per 32 numbers of a head. See CacheChecker.
	Type DType
}

// CacheLayer is the size of one layer's keys and values.
type CacheLayer struct {
	KVHeads          int // number of heads of keys and values; 0: the layer keeps no keys and values
	KeyDim, ValueDim int // how many numbers the key and the value of a head have
	// State is the size of the state that the layer keeps instead of keys and values, or beside them. See
	// Recurrent.
	State CacheState
}

// Layer returns the size of layer i.
func (s CacheShape) Layer(i int) CacheLayer {
	if s.Each != nil {
		return s.Each[i]
	}
	return CacheLayer{KVHeads: s.KVHeads, KeyDim: s.HeadDim, ValueDim: s.HeadDim}
}

// KeyNumbers and ValueNumbers return how many numbers the key and the value of one token have.
func (l CacheLayer) KeyNumbers() int   { return l.KVHeads * l.KeyDim }
func (l CacheLayer) ValueNumbers() int { return l.KVHeads * l.ValueDim }

// CacheChecker is an optional interface of a Backend. It lets a caller refuse a cache before it
// loads the weights.
type CacheChecker interface {
	// CheckCache returns why Cache would refuse the shape even with enough memory, or nil.
	CheckCache(shape CacheShape) error
}

// Cache has the keys and values of one sequence. In each layer, a token has a row of KVHeads·KeyDim numbers
// for its keys and a row of KVHeads·ValueDim for its values. Rows from Len on have no meaning; the next pass
// overwrites them.
type Cache interface {
	Len() int
	Cap() int
	// Truncate removes every token from n on; n must not exceed Len. Some caches cannot be cut to every
	// length: see Partial.
	Truncate(n int) error
	// Advance makes the n rows that Attend has just written a part of the cache: Len grows by n. Call it
	// after the last layer.
	Advance(n int) error
	// KeyValue copies the key and value of one token in one layer to the host: KeyNumbers and
	// ValueNumbers of the layer. Only tests and the command doctor use it.
	KeyValue(layer, token int, key, value []float32) error
	Bytes() int64
	Close() error
}

// Logits are the raw scores of one pass: for each row a score for each token of the vocabulary. They stay on
// the device until asked for, and are valid until the next pass of the same model.
type Logits interface {
	Rows() int
	Vocab() int
	// Argmax writes the best token of every row to dst; among equal scores, the lowest id. It moves
	// 4 bytes per row to the host. A row with NaN or +Inf, or without a finite score, gives
	// ErrNotFinite.
	Argmax(dst []int32) error
	// Row copies row i to dst (vocab numbers) and moves 4·vocab bytes to the host. It does not
	// check the numbers: the sampler does.
	Row(i int, dst []float32) error
	// Moved returns how many bytes went to the host since the pass, and how often the host waited for
	// the device. The code that makes a copy counts its bytes and waits.
	Moved() (bytes int64, syncs int)
}

// Arithmetic is an optional interface of Logits: operations over rows in the host's memory that are
// faster than plain Go. A sampler uses it if it exists. Its results are the same on all machines.
type Arithmetic interface {
	// Best returns the index of the largest score; among equal scores, the lowest index. ok is
	// false if a score is NaN or +Inf, or if no score is finite.
	Best(scores []float32) (best int, ok bool)
	// Weights writes exp((scores[i] − peak)·factor) to dst and returns the sum. No score may be
	// above peak.
	Weights(dst []float64, scores []float32, peak float32, factor float64) (sum float64)
	// Multiply multiplies every number of x by factor.
	Multiply(x []float64, factor float64)
}

// Attention describes one attention call.
type Attention struct {
	Layer   int
	Heads   int     // query heads; a multiple of the layer's KVHeads in the cache
	HeadDim int     // numbers of a query and of a key; the cache knows how many a value has
	Scale   float32 // factor of q·k, usually 1/√HeadDim
	Window  int     // number of keys that a row sees, its own included; 0: all. See Extra.
	SoftCap float32 // a score s becomes SoftCap·tanh(s/SoftCap); 0: no change. See Extra.
	// Sinks has for each query head the score of one more key, whose value is 0. nil: no such key.
	// See CacheShape.
	Sinks    Vector
	Row      int // first row of the buffers that belongs to this cache's sequence
	Position int // position of that row: the cache's Len
}

// Rope describes a rotary embedding over heads of HeadDim numbers, of which the first Dim rotate.
type Rope struct {
	Heads    int
	HeadDim  int
	Dim      int
	NeoX     bool      // rotate pairs (i, i+Dim/2); otherwise (2i, 2i+1)
	Cos, Sin []float32 // for each position Dim/2 numbers, computed by the host in float64
	Row      int       // first row of the buffer to rotate
	Position int       // position of that row
}

// Block says where a copy reads rows and where it writes them.
type Block struct {
	From int // first row of the source
	Row  int // first row of the destination
	Col  int // first column of the destination
}

// Tap tells the passes of a model where to copy hidden states, for heads that draft from them.
type Tap struct {
	// Layers lists the hidden states to copy; each has its own block of columns in Rows. An entry i
	// means the residual stream before layer i, or after the last layer if i is the number of layers.
	// Normed means the stream after the last layer and the output norm.
	Layers []int
	Rows   Buffer // as many columns as all blocks together, and a row for each row of a pass; valid until the next pass
}

// Normed is an entry of Tap.Layers: the hidden state that the logits are computed from.
const Normed = -1

// Info describes a device to the user.
type Info struct {
	Kind        string // "cpu" or "cuda"
	Name        string // such as "AMD EPYC, AVX-512, 2 threads"
	MemoryBytes int64  // 0 when unknown
	Detail      string // what else is known about the device, in one sentence; may be empty
	PromptRows  int    // rows of a pass over a prompt that keep the device busy; 0: the caller chooses
}

// Backend executes the operations. In all of them m is the number of rows to use, 1 ≤ m ≤ MaxRows,
// and each row is computed independently of the others. Shapes that do not fit are programmer
// errors and panic. Failures of devices and faults of files are returned as errors.
type Backend interface {
	Info() Info

	// Matrix loads a weight matrix. If the backend cannot multiply its type, the error gives the
	// tensor's name and type.
	Matrix(ctx context.Context, w Weight) (Matrix, error)
	Vector(name string, data []float32) (Vector, error)
	Buffer(maxRows, cols int) (Buffer, error)
	Cache(shape CacheShape) (Cache, error)

	// Embed writes row ids[i] of table to row i of dst.
	Embed(dst Buffer, table Matrix, ids []int32) error
	// RMSNorm writes x·w/√(mean(x²)+eps) to dst, for each group of w.Len() numbers. So it serves whole
	// rows and also, with a w of HeadDim numbers, each head of q and k. dst may be x.
	RMSNorm(dst, x Buffer, m int, w Vector, eps float32) error
	// MatMul writes x·wᵀ to dst, for m rows. x has w.Cols() columns, and dst has w.Rows().
	MatMul(dst, x Buffer, m int, w Matrix) error
	// AddBias adds b to each row of x.
	AddBias(x Buffer, m int, b Vector) error
	// RoPE rotates m rows of x in place, starting at r.Row. x has Heads·HeadDim columns.
	RoPE(x Buffer, m int, r Rope) error
	// Attend takes m rows of q, k and v, starting at a.Row. It stores the rows of k and v in the cache after
	// its Len tokens, without changing Len. It writes causal attention of the rows of q to the same rows of
	// dst. The columns are Heads·HeadDim in q, KVHeads·KeyDim in k, KVHeads·ValueDim in v and Heads·ValueDim
	// in dst. If k and v are nil, Attend stores nothing and reads what an earlier call of this pass stored in
	// the layer. Only a backend that supports CacheShape.Each accepts nil.
	Attend(dst, q, k, v Buffer, m int, c Cache, a Attention) error
	// SwiGLU writes silu(gate)·up to gate. If a MatMul of this pass made up, nothing may read up afterwards: a
	// backend need not have written it.
	SwiGLU(gate, up Buffer, m int) error
	// Add adds y to x.
	Add(x, y Buffer, m int) error
	// Logits returns the first m rows of x as logits. It ends a pass, as Choose and Draw of Feeder do. Rows
	// that RMSNorm, SwiGLU or Attend wrote for a MatMul have no meaning after the pass, unless they are x.
	// Copy keeps rows for later.
	Logits(x Buffer, m int) (Logits, error)
	// Copy writes m rows of x to a block of dst. dst may be x if the rows do not overlap. It is
	// used to compute the LM head for only one row of a prefill, to put rows side by side, and to
	// keep rows for later.
	Copy(dst, x Buffer, m int, b Block) error

	Close() error
}
