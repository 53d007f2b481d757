package cpu

// Recurrence computes a gated delta net, as ref.DeltaNet defines it, or a Mamba-2 layer, as
// ref.Mamba2 does, over the M tokens after Position. An item is a head. The tokens are computed one
// after the other, so a result does not depend on the number of tokens in a pass.
type Recurrence struct {
	Dst         []float32 // (M, Heads·ValueDim)
	X           []float32 // (M, Width)
	Alpha, Beta []float32 // (M, Heads); Mamba-2 has its steps in Alpha, and no Beta
	Conv        []float32 // (Kernel, Width)
	Bias        []float32 // (Width), of the convolution; nil: none
	Rate, Shift []float32 // (Heads)
	Skip        []float32 // (Heads): Mamba-2 adds Skip·value to what a token reads from the state
	Eps         float32   // of a delta net
	State       *State
	From        int // tokens that the states have seen before the task
	M, Position int
	Room        []float32      // (Heads, KeyDim, ValueDim): copies of the states
	Store       RecurrentStore // the task that must run after this one
}

// Begin sets From to the tokens that the states have seen now, and State.At to those after the task.
func (t *Recurrence) Begin() {
	t.Store = RecurrentStore{t}
	t.From = t.State.At
	t.State.At = t.State.after(t.Position, t.M)
}

// Items returns the number of items.
func (t *Recurrence) Items() int { return t.State.shape.Heads }

// Work estimates the number of multiplications.
func (t *Recurrence) Work() int {
	return 4 * (t.Position + t.M - t.From) * t.State.shape.StateNumbers()
}

// Do computes the heads from … to−1.
func (t *Recurrence) Do(from, to int) {
	s := t.State.shape
	var buffer [6 * MaxStateDim]float32
	row := recurrentRow{buffer: buffer[:]}
	size := s.KeyDim * s.ValueDim
	final := t.State.after(t.Position, t.M)
	for head := from; head < to; head++ {
		state, room := t.State.states[head*size:][:size], t.Room[head*size:][:size]
		for token := t.From; token < t.Position+t.M; token++ {
			t.prepare(&row, head, token)
			t.change(&row, head, state)
			var out []float32
			if token >= t.Position {
				out = t.Dst[((token-t.Position)*s.Heads+head)*s.ValueDim:][:s.ValueDim]
			}
			switch {
			case token < final:
				deltaStep(state, out, state, row.k, row.change, row.q, row.decay)
			case token == t.Position+t.M-1:
				deltaStep(nil, out, state, row.k, row.change, row.q, row.decay)
			default:
				deltaStep(room, out, state, row.k, row.change, row.q, row.decay)
				state = room
			}
			if s.Kind == Mamba2State && out != nil {
				mix(out, row.v, 1, t.Skip[head])
			}
		}
	}
}

// recurrentRow is what a head needs of one token: the state shrinks by decay, and grows by k ⊗
// change; q reads the state.
type recurrentRow struct {
	buffer           []float32
	q, k             []float32
	v                []float32
	recalled, change []float32
	decay, strength  float32
}

// prepare fills row for a token, except the field change.
func (t *Recurrence) prepare(row *recurrentRow, head, token int) {
	s := t.State.shape
	rest := row.buffer
	take := func(n int) (x []float32) { x, rest = rest[:n], rest[n:]; return x }
	row.q, row.k, row.v = take(s.KeyDim), take(s.KeyDim), take(s.ValueDim)
	row.recalled, row.change = take(s.ValueDim), take(s.ValueDim)
	query, key, value := s.columns(head)
	t.convolve(row.q, rest, query, token)
	t.convolve(row.k, rest, key, token)
	t.convolve(row.v, rest, value, token)
	alpha, beta := t.gates(head, token)
	if s.Kind == Mamba2State {
		t.prepareMamba2(row, head, alpha)
	} else {
		t.prepareDeltaNet(row, head, alpha, beta)
	}
}

// change computes what a token adds to the state along its key.
func (t *Recurrence) change(row *recurrentRow, head int, state []float32) {
	if t.State.shape.Kind == Mamba2State {
		for i, v := range row.v {
			row.change[i] = row.strength * v
		}
		return
	}
	deltaRecall(row.recalled, state, row.k, row.decay)
	for i, v := range row.v {
		row.change[i] = row.strength * (v - row.recalled[i])
	}
}

// gates returns alpha and beta of a token, of this pass or an earlier one.
func (t *Recurrence) gates(head, token int) (alpha, beta float32) {
	heads := t.State.shape.Heads
	if i := token - t.Position; i < 0 {
		kept := t.State.input(token)[t.State.shape.Width():]
		if alpha = kept[head]; len(kept) > heads {
			beta = kept[heads+head]
		}
		return alpha, beta
	} else if alpha = t.Alpha[i*heads+head]; t.Beta != nil {
		beta = t.Beta[i*heads+head]
	}
	return alpha, beta
}

// convolve writes the columns from column on after convolution and SiLU. room has len(dst) numbers.
func (t *Recurrence) convolve(dst, room []float32, column, token int) {
	width, kernel := t.State.shape.Width(), t.State.shape.Kernel
	clear(dst)
	if t.Bias != nil {
		copy(dst, t.Bias[column:])
	}
	room = room[:len(dst)]
	for j := max(0, kernel-1-token); j < kernel; j++ {
		scale(room, t.input(token - kernel + 1 + j)[column:][:len(dst)], t.Conv[j*width+column:][:len(dst)], 1)
		add(dst, room)
	}
	silu(dst)
}

// input returns the input of a token, of this pass or an earlier one.
func (t *Recurrence) input(token int) []float32 {
	width := t.State.shape.Width()
	if i := token - t.Position; i >= 0 {
		return t.X[i*width:][:width]
	}
	return t.State.input(token)[:width]
}

// RecurrentStore stores the inputs that the next pass may need. An item is a token.
type RecurrentStore struct{ of *Recurrence }

// Items returns the number of items.
func (t *RecurrentStore) Items() int { return min(t.of.M, t.of.State.rows()) }

// Do stores the tokens from … to−1 of the last Items tokens.
func (t *RecurrentStore) Do(from, to int) {
	n, shape := t.of, t.of.State.shape
	first := n.M - t.Items()
	for i := first + from; i < first+to; i++ {
		kept := n.State.input(n.Position + i)
		done := copy(kept, n.X[i*shape.Width():][:shape.Width()])
		done += copy(kept[done:], n.Alpha[i*shape.Heads:][:shape.Heads])
		if n.Beta != nil {
			copy(kept[done:], n.Beta[i*shape.Heads:][:shape.Heads])
		}
	}
}
