package cpu

// MaxStateDim bounds the sides of a head's state, so that a row fits on the stack.
const MaxStateDim = 256

// StateKind says what a layer with a state computes. The state stands in place of keys and values, or
// beside them.
type StateKind int

// The kinds of layers with a state.
const (
	DeltaNetState    StateKind = iota // a gated delta net
	Mamba2State                       // a Mamba-2 layer
	ConvolutionState                  // a short convolution: it keeps inputs, and has no state besides
)

// StateShape is the size of what a layer keeps of a sequence besides keys and values.
type StateShape struct {
	Kind             StateKind
	KeyHeads, Heads  int  // Heads is a multiple of KeyHeads; see KeyHead. Mamba-2 calls key heads groups.
	KeyDim, ValueDim int  // the state of a head is (KeyDim, ValueDim)
	Kernel           int  // tokens that the convolution sees, the last one included
	Grouped          bool // the heads of a key head lie side by side
}

// KeyHead returns the key head whose query and key a head reads.
func (s StateShape) KeyHead(head int) int {
	if s.Grouped {
		return head * s.KeyHeads / s.Heads
	}
	return head % s.KeyHeads
}

// columns returns where in a token's input the query, key and value of a head begin. A delta net has
// the queries first, Mamba-2 the values: x, B and C, which are values, keys and queries.
func (s StateShape) columns(head int) (query, key, value int) {
	keys, at := s.KeyHeads*s.KeyDim, s.KeyHead(head)*s.KeyDim
	if s.Kind == Mamba2State {
		values := s.Heads * s.ValueDim
		return values + keys + at, values + at, head * s.ValueDim
	}
	return at, keys + at, 2*keys + head*s.ValueDim
}

// Width returns the number of columns of a token's input that pass the convolution: queries, keys
// and values of all heads.
func (s StateShape) Width() int { return 2*s.KeyHeads*s.KeyDim + s.Heads*s.ValueDim }

// gates returns how many numbers are kept of a token besides its input: alpha and beta, or the steps.
func (s StateShape) gates() int {
	switch s.Kind {
	case DeltaNetState:
		return 2 * s.Heads
	case Mamba2State:
		return s.Heads
	}
	return 0
}

// StateNumbers returns how many numbers the states of all heads have together.
func (s StateShape) StateNumbers() int { return s.Heads * s.KeyDim * s.ValueDim }

// State is what a layer keeps of a sequence: the states of all heads after At tokens, and the inputs
// of later tokens. A pass first adds the kept inputs of earlier tokens to the states. The inputs of its own
// last tokens are kept (see after), so it computes these tokens on a copy of the states. So they can be taken
// back by forgetting their inputs.
type State struct {
	At     int
	shape  StateShape
	kept   int       // largest number of inputs that are kept after At
	states []float32 // (Heads, KeyDim, ValueDim)
	// (kept+Kernel−1, Width+gates): what is kept of token t, at t mod (kept+Kernel−1)
	inputs []float32
}

// NewState makes a state that has seen no token. Up to kept tokens can be taken back later.
func NewState(shape StateShape, kept int) *State {
	s := &State{shape: shape, kept: kept}
	states := shape.StateNumbers()
	all := make([]float32, states+s.rows()*s.inputWidth())
	inLargePages(all) // a pass reads a state from start to end, as it reads weights
	s.states, s.inputs = all[:states:states], all[states:]
	return s
}

// Bytes returns the memory of a state.
func (s StateShape) Bytes(kept int) int64 {
	return 4 * (int64(s.StateNumbers()) + int64(kept+s.Kernel-1)*int64(s.Width()+s.gates()))
}

func (s *State) rows() int       { return s.kept + s.shape.Kernel - 1 }
func (s *State) inputWidth() int { return s.shape.Width() + s.shape.gates() }

// input returns what is kept of token t.
func (s *State) input(t int) []float32 {
	return s.inputs[t%s.rows()*s.inputWidth():][:s.inputWidth()]
}

// after returns how many tokens the states contain after a pass of m tokens that begins at position: all
// tokens before the pass, and the pass's tokens except the last s.kept. Of these last ones only the inputs
// are kept, so that they can be taken back.
func (s *State) after(position, m int) int { return max(position, position+m-s.kept) }

// Reset forgets everything.
func (s *State) Reset() {
	s.At = 0
	clear(s.states)
}

// Snapshot is a copy of a State.
type Snapshot struct {
	at      int
	numbers []float32
}

// Save copies the state to a snapshot. The first time, it allocates memory for the snapshot.
func (s *State) Save(to *Snapshot) {
	if to.numbers == nil {
		to.numbers = make([]float32, len(s.states)+len(s.inputs))
	}
	to.at = s.At
	copy(to.numbers[copy(to.numbers, s.states):], s.inputs)
}

// Restore sets the state to a snapshot.
func (s *State) Restore(from *Snapshot) {
	s.At = from.at
	copy(s.inputs, from.numbers[copy(s.states, from.numbers):])
}
