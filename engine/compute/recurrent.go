package compute

// Recurrent is an optional interface of a Backend: layers that keep a state of fixed size in place
// of keys and values. A model with such layers is refused on other backends.
//
// A state cannot be cut back as keys can. So a cache has the states before the last pass and the
// inputs of its rows, and Truncate can remove rows of that pass. To go back further it needs a
// checkpoint (see Partial).
type Recurrent interface {
	// DeltaNet computes m rows of a gated delta net, starting at d.Row, after the Len tokens of the
	// cache, without changing Len. x (·, Width of the state), alpha and beta (·, Heads) are what the
	// projections give; dst is (·, Heads·ValueDim). See ref.DeltaNet in kernels/ref for what is
	// computed.
	DeltaNet(dst, x, alpha, beta Buffer, m int, c Cache, d DeltaNet) error
}

// DeltaNet describes one call.
type DeltaNet struct {
	Layer       int
	Convolution Vector // (Kernel, Width): weights of each column, for the oldest token first
	Rate, Shift Vector // of each head's decay
	Eps         float32
	Row         int // first row of the buffers that belongs to this cache's sequence
	Position    int // position of that row: the cache's Len
}

// CacheState is the size of a layer's state in a cache; with Heads 0 the layer has none.
type CacheState struct {
	KeyHeads, Heads  int  // head h reads the query and key of key head h mod KeyHeads
	KeyDim, ValueDim int  // the state of a head is (KeyDim, ValueDim)
	Kernel           int  // tokens that the convolution sees, the last one included
	Grouped          bool // head h reads those of ⌊h·KeyHeads/Heads⌋ instead
}

// Width returns the columns of a token's input: queries, keys and values of all heads.
func (s CacheState) Width() int { return 2*s.KeyHeads*s.KeyDim + s.Heads*s.ValueDim }
