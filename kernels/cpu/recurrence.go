package cpu

// Recurrence computes a gated delta net, as ref.DeltaNet defines it, or a Mamba-2 layer, as ref.Mamba2
// defines it, over M tokens, the first of which is token Position. An item is a head. The tokens are
// computed one after the other, so a result does not depend on the number of tokens in a pass.
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

// Begin sets From to the number of tokens that the states have seen now, and State.At to the number
// that they have seen after the task.
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
	var memory [2][5 * MaxStateDim]float32
	rows := [2]recurrentRow{t.row(memory[0][:]), t.row(memory[1][:])}
	for head := from; head < to; head++ {
		t.head(head, &rows[0], &rows[1])
	}
}

// head computes the tokens from t.From on for one head. The tokens before t.Position are tokens of the last
// pass that were not taken back. The state does not contain them yet, so they are computed again. Tokens that
// were taken back are not computed again; nothing else is needed to remove them. Before a token is computed,
// the row of the next token is prepared: so a delta net reads the state once, to change it and to recall
// what it holds for the next key.
func (t *Recurrence) head(head int, row, next *recurrentRow) {
	s := t.State.shape
	size := s.KeyDim * s.ValueDim
	state, room := t.State.states[head*size:][:size], t.Room[head*size:][:size]
	end, final := t.Position+t.M, t.State.after(t.Position, t.M)
	t.prepare(row, head, t.From)
	if s.Kind == DeltaNetState {
		deltaRecall(row.recalled, state, row.k, row.decay)
	}
	for token := t.From; token < end; token++ {
		t.change(row)
		var out []float32
		if token >= t.Position {
			out = t.Dst[((token-t.Position)*s.Heads+head)*s.ValueDim:][:s.ValueDim]
		}
		to := room
		switch {
		case token < final:
			to = state
		case token == end-1:
			to = nil
		}
		if token < end-1 {
			t.prepare(next, head, token+1)
		}
		if token < end-1 && s.Kind == DeltaNetState {
			deltaStepRecall(to, out, next.recalled, state, row.k, row.change, row.q, next.k, row.decay, next.decay)
		} else {
			deltaStep(to, out, state, row.k, row.change, row.q, row.decay)
		}
		if s.Kind == Mamba2State && out != nil {
			mix(out, row.v, 1, t.Skip[head])
		}
		state, row, next = to, next, row
	}
}

// recurrentRow is what a head needs of one token: the state shrinks by decay, and grows by k ⊗
// change; q reads the state. recalled is what the state before the token holds for k.
type recurrentRow struct {
	q, k, v          []float32
	qkv              []float32 // q, k and v together
	recalled, change []float32
	decay, strength  float32
}

// row returns a row in this memory. The memory is divided here and not in prepare: if prepare stored it in
// its parameter row, the compiler would move the memory to the heap.
func (t *Recurrence) row(memory []float32) recurrentRow {
	keys, values := t.State.shape.KeyDim, t.State.shape.ValueDim
	qkv, rest := memory[:2*keys+values], memory[2*keys+values:]
	return recurrentRow{q: qkv[:keys], k: qkv[keys : 2*keys], v: qkv[2*keys:], qkv: qkv, recalled: rest[:values], change: rest[values : 2*values]}
}

// prepare fills row for a token, except the fields recalled and change.
func (t *Recurrence) prepare(row *recurrentRow, head, token int) {
	s := t.State.shape
	query, key, value := s.columns(head)
	t.convolve(row, token, query, key, value)
	silu(row.qkv)
	alpha, beta := t.gates(head, token)
	if s.Kind == Mamba2State {
		t.prepareMamba2(row, head, alpha)
	} else {
		t.prepareDeltaNet(row, head, alpha, beta)
	}
}

// change computes what a token adds to the state along its key.
func (t *Recurrence) change(row *recurrentRow) {
	if t.State.shape.Kind == Mamba2State {
		for i, v := range row.v {
			row.change[i] = row.strength * v
		}
		return
	}
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

// convolve writes the query, key and value of a token to row, after the convolution. The arguments query, key
// and value are the columns of the input in which these begin.
func (t *Recurrence) convolve(row *recurrentRow, token, query, key, value int) {
	width, kernel := t.State.shape.Width(), t.State.shape.Kernel
	first := max(0, kernel-1-token)
	var room [MostKernel][]float32
	inputs := room[:kernel-first]
	for i := range inputs {
		inputs[i] = t.input(token - kernel + 1 + first + i)
	}
	for _, part := range []struct {
		dst    []float32
		column int
	}{{row.q, query}, {row.k, key}, {row.v, value}} {
		clear(part.dst)
		if t.Bias != nil {
			copy(part.dst, t.Bias[part.column:])
		}
		convolve(part.dst, inputs, t.Conv[first*width:], part.column, width)
	}
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

// Items returns how many tokens are stored: all tokens of the pass, or its last ones if the state has no
// room for all.
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
