package compute

// Recurrent is an optional interface of a Backend: layers that keep a state of fixed size, instead of
// keys and values or beside them. A model with such layers is refused on other backends.
//
// A state cannot be cut back as keys can. So a cache keeps the states before the last pass and the
// inputs of its rows, and Truncate can remove rows of this pass. To go back further, the cache needs a
// checkpoint (see Partial).
type Recurrent interface {
	// DeltaNet computes m rows of a gated delta net, starting at d.Row, after the Len tokens of the
	// cache, without changing Len. x, alpha and beta are what the projections give: x has as many columns as
	// CacheState.Width says, alpha and beta have Heads. dst has Heads·ValueDim columns. See ref.DeltaNet in
	// kernels/ref for what is computed.
	DeltaNet(dst, x, alpha, beta Buffer, m int, c Cache, d Recurrence) error
	// Mamba2 computes m rows of a Mamba-2 layer in the same way; steps has Heads columns. See ref.Mamba2.
	Mamba2(dst, x, steps Buffer, m int, c Cache, d Recurrence) error
	// ShortConvolution computes m rows of a gated short convolution in the same way. x has three times as many
	// columns as CacheState.Width says, and dst as many. See ref.ShortConvolution.
	ShortConvolution(dst, x Buffer, m int, c Cache, d Recurrence) error
	// NormGroups is RMSNorm of each group of consecutive columns; a group has as many columns as the
	// parameter group says. w has a weight for each column of x.
	NormGroups(dst, x Buffer, m int, w Vector, group int, eps float32) error
}

// Recurrence describes one call of DeltaNet, Mamba2 or ShortConvolution.
type Recurrence struct {
	Layer       int
	Convolution Vector  // Kernel rows of Width weights, one for each column; the first row is for the oldest token
	Bias        Vector  // bias of the convolution; nil: none
	Rate, Shift Vector  // parameters of the decay, one of each for every head
	Skip        Vector  // only for Mamba-2: how much of a head's value is added to what is read from its state
	Eps         float32 // for a delta net: added to the squared lengths of queries and keys when they are normalised
	Row         int     // first row of the buffers that belongs to this cache's sequence
	Position    int     // position of that row: the cache's Len
}

// StateKind says what a layer with a state computes.
type StateKind int

// The kinds of layers with a state.
const (
	DeltaNetState StateKind = iota
	Mamba2State
	ConvolutionState
)

// CacheState is the size of a layer's state in a cache; with Heads 0 the layer has none.
type CacheState struct {
	Kind             StateKind
	KeyHeads, Heads  int  // head h reads the query and key of key head h mod KeyHeads
	KeyDim, ValueDim int  // the state of a head has KeyDim·ValueDim numbers; a short convolution has one head, and no keys
	Kernel           int  // tokens that the convolution sees, the last one included
	Grouped          bool // head h reads the query and key of key head ⌊h·KeyHeads/Heads⌋ instead
}

// Width returns the columns of a token's input that are convolved: queries, keys and values of all
// heads.
func (s CacheState) Width() int { return 2*s.KeyHeads*s.KeyDim + s.Heads*s.ValueDim }
