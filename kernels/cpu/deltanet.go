package cpu

import "math"

// MaxStateDim bounds the sides of a head's state, so that a row fits on the stack.
const MaxStateDim = 256

// DeltaShape is the size of a gated delta net: a layer with a state in place of keys and values.
type DeltaShape struct {
	KeyHeads, Heads  int  // Heads is a multiple of KeyHeads; see KeyHead
	KeyDim, ValueDim int  // the state of a head is (KeyDim, ValueDim)
	Kernel           int  // tokens that the convolution sees, the last one included
	Grouped          bool // the heads of a key head lie side by side
}

// KeyHead returns the key head whose query and key a head reads.
func (s DeltaShape) KeyHead(head int) int {
	if s.Grouped {
		return head * s.KeyHeads / s.Heads
	}
	return head % s.KeyHeads
}

// Width returns the columns of a token's input: queries, keys and values of all heads.
func (s DeltaShape) Width() int { return 2*s.KeyHeads*s.KeyDim + s.Heads*s.ValueDim }

// StateNumbers returns the numbers of the states of all heads.
func (s DeltaShape) StateNumbers() int { return s.Heads * s.KeyDim * s.ValueDim }

// DeltaState is what a layer keeps of a sequence: the states of all heads after At tokens, and the
// inputs of later tokens. A pass adds the kept inputs before its first token to the states, and
// computes its own tokens on a copy of the states. So the tokens of the last pass can be taken back
// by forgetting their inputs.
type DeltaState struct {
	At     int
	shape  DeltaShape
	kept   int       // largest number of inputs that are kept after At
	states []float32 // (Heads, KeyDim, ValueDim)
	// (kept+Kernel−1, Width+2·Heads): inputs, alpha and beta of token t at t mod (kept+Kernel−1)
	inputs []float32
}

// NewDeltaState makes a state that has seen no token. Up to kept tokens can be taken back later.
func NewDeltaState(shape DeltaShape, kept int) *DeltaState {
	s := &DeltaState{shape: shape, kept: kept, states: make([]float32, shape.StateNumbers())}
	s.inputs = make([]float32, s.rows()*s.inputWidth())
	return s
}

// Bytes returns the memory of a state.
func (s DeltaShape) Bytes(kept int) int64 {
	return 4 * (int64(s.StateNumbers()) + int64(kept+s.Kernel-1)*int64(s.Width()+2*s.Heads))
}

func (s *DeltaState) rows() int       { return s.kept + s.shape.Kernel - 1 }
func (s *DeltaState) inputWidth() int { return s.shape.Width() + 2*s.shape.Heads }

// input returns what is kept of token t.
func (s *DeltaState) input(t int) []float32 {
	return s.inputs[t%s.rows()*s.inputWidth():][:s.inputWidth()]
}

// Reset forgets everything.
func (s *DeltaState) Reset() {
	s.At = 0
	clear(s.states)
}

// Snapshot is a copy of a DeltaState.
type Snapshot struct {
	at      int
	numbers []float32
}

// At returns how many tokens the states of the snapshot have seen.
func (s *Snapshot) At() int { return s.at }

// Save copies the state to a snapshot, which allocates memory at the first time.
func (s *DeltaState) Save(to *Snapshot) {
	if to.numbers == nil {
		to.numbers = make([]float32, len(s.states)+len(s.inputs))
	}
	to.at = s.At
	copy(to.numbers[copy(to.numbers, s.states):], s.inputs)
}

// Restore sets the state to a snapshot.
func (s *DeltaState) Restore(from *Snapshot) {
	s.At = from.at
	copy(s.inputs, from.numbers[copy(s.states, from.numbers):])
}

// DeltaNet computes a gated delta net as ref.DeltaNet defines it, over the M tokens after Position.
// An item is a head. The tokens are computed one after the other, so a result does not depend on
// the number of tokens in a pass.
type DeltaNet struct {
	Dst         []float32 // (M, Heads·ValueDim)
	X           []float32 // (M, Width)
	Alpha, Beta []float32 // (M, Heads)
	Conv        []float32 // (Kernel, Width)
	Rate, Shift []float32 // (Heads)
	Eps         float32
	State       *DeltaState
	From        int // tokens that the states have seen
	M, Position int
	Room        []float32  // (Heads, KeyDim, ValueDim): copies of the states
	Store       DeltaStore // the task that must run after this one
}

// Begin sets From to the number of tokens in the states now, and State.At to that after the task.
func (t *DeltaNet) Begin() {
	t.Store = DeltaStore{t}
	t.From = t.State.At
	t.State.At = max(t.Position, t.Position+t.M-t.State.kept)
}

// final returns how many tokens the states contain after the task.
func (t *DeltaNet) final() int { return max(t.Position, t.Position+t.M-t.State.kept) }

// Items returns the number of items.
func (t *DeltaNet) Items() int { return t.State.shape.Heads }

// Work estimates the number of multiplications.
func (t *DeltaNet) Work() int { return 4 * (t.Position + t.M - t.From) * t.State.shape.StateNumbers() }

// Do computes the heads from … to−1.
func (t *DeltaNet) Do(from, to int) {
	s := t.State.shape
	var buffer [6 * MaxStateDim]float32
	row := deltaRow{buffer: buffer[:]}
	size := s.KeyDim * s.ValueDim
	for head := from; head < to; head++ {
		state, room := t.State.states[head*size:][:size], t.Room[head*size:][:size]
		for token := t.From; token < t.Position+t.M; token++ {
			t.prepare(&row, head, token)
			deltaRecall(row.recalled, state, row.k, row.decay)
			for i, v := range row.v {
				row.change[i] = row.strength * (v - row.recalled[i])
			}
			var out []float32
			if token >= t.Position {
				out = t.Dst[((token-t.Position)*s.Heads+head)*s.ValueDim:][:s.ValueDim]
			}
			switch {
			case token < t.final():
				deltaStep(state, out, state, row.k, row.change, row.q, row.decay)
			case token == t.Position+t.M-1:
				deltaStep(nil, out, state, row.k, row.change, row.q, row.decay)
			default:
				deltaStep(room, out, state, row.k, row.change, row.q, row.decay)
				state = room
			}
		}
	}
}

// deltaRow is what a head needs of one token.
type deltaRow struct {
	buffer           []float32
	q, k             []float32 // of length 1; q divided by √KeyDim
	v                []float32
	recalled, change []float32
	decay, strength  float32
}

// prepare fills row for a token.
func (t *DeltaNet) prepare(row *deltaRow, head, token int) {
	s := t.State.shape
	rest := row.buffer
	take := func(n int) (x []float32) { x, rest = rest[:n], rest[n:]; return x }
	row.q, row.k, row.v = take(s.KeyDim), take(s.KeyDim), take(s.ValueDim)
	row.recalled, row.change = take(s.ValueDim), take(s.ValueDim)
	keyHead := s.KeyHead(head)
	t.convolve(row.q, rest, keyHead*s.KeyDim, token)
	t.convolve(row.k, rest, (s.KeyHeads+keyHead)*s.KeyDim, token)
	t.convolve(row.v, rest, 2*s.KeyHeads*s.KeyDim+head*s.ValueDim, token)
	times(row.q, float32(1/math.Sqrt((float64(squares(row.q))+float64(t.Eps))*float64(s.KeyDim))))
	times(row.k, float32(1/math.Sqrt(float64(squares(row.k))+float64(t.Eps))))
	var alpha, beta float32
	if i := token - t.Position; i >= 0 {
		alpha, beta = t.Alpha[i*s.Heads+head], t.Beta[i*s.Heads+head]
	} else {
		gates := t.State.input(token)[s.Width():]
		alpha, beta = gates[head], gates[s.Heads+head]
	}
	row.decay = exp(t.Rate[head] * softplus(alpha+t.Shift[head]))
	row.strength = 1 / (1 + exp(-beta))
}

// convolve writes the columns from column on after convolution and SiLU. room has len(dst) numbers.
func (t *DeltaNet) convolve(dst, room []float32, column, token int) {
	width, kernel := t.State.shape.Width(), t.State.shape.Kernel
	clear(dst)
	room = room[:len(dst)]
	for j := max(0, kernel-1-token); j < kernel; j++ {
		scale(room, t.input(token - kernel + 1 + j)[column:][:len(dst)], t.Conv[j*width+column:][:len(dst)], 1)
		add(dst, room)
	}
	silu(dst)
}

// input returns the input of a token, of this pass or an earlier one.
func (t *DeltaNet) input(token int) []float32 {
	if i := token - t.Position; i >= 0 {
		width := t.State.shape.Width()
		return t.X[i*width:][:width]
	}
	return t.State.input(token)[:t.State.shape.Width()]
}

// softplus is ln(1+eˣ). With u = e^−|x| it is max(x, 0) + ln(1+u), and ln(1+u) = 2·artanh(u/(2+u)).
func softplus(x float32) float32 {
	u := float64(exp(-max(x, -x)))
	z := u / (2 + u) // at most 1/3, so the series below ends at a relative error of 2⁻³⁰
	square := float64(z * z)
	series := 1.0 / 17
	for n := 15; n > 0; n -= 2 {
		series = float64(series*square) + 1/float64(n)
	}
	return float32(float64(max(x, 0)) + float64(2*z)*series)
}

// DeltaStore stores the inputs that the next pass may need. An item is a token.
type DeltaStore struct{ of *DeltaNet }

// Items returns the number of items.
func (t *DeltaStore) Items() int { return min(t.of.M, t.of.State.rows()) }

// Do stores the tokens from … to−1 of the last Items tokens.
func (t *DeltaStore) Do(from, to int) {
	n, shape := t.of, t.of.State.shape
	first := n.M - t.Items()
	for i := first + from; i < first+to; i++ {
		kept := n.State.input(n.Position + i)
		done := copy(kept, n.X[i*shape.Width():][:shape.Width()])
		done += copy(kept[done:], n.Alpha[i*shape.Heads:][:shape.Heads])
		copy(kept[done:], n.Beta[i*shape.Heads:][:shape.Heads])
	}
}
