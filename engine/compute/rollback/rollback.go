// Package rollback knows to which lengths a cache with states, rings or both can be cut back, and cuts it back.
// The backend holds the copies that this needs: of states, and in checkpoints also of the rows of rings. This
// package says before which passes states are copied, and which copy is put back. The caller says at which
// lengths checkpoints are made.
package rollback

import "slices"

// States are the states of a cache's layers and the copies of them, in the memory of a backend. A copy comes after
// the passes that were queued before it, and before those that are queued later.
type States interface {
	// Seen returns how many tokens the state of a layer has seen; 0 for a layer without a state.
	Seen(layer int) int
	// Keep copies the state of a layer to where Undo finds it.
	Keep(layer int)
	// Undo puts back what Keep copied.
	Undo(layer int)
	// Reset makes the state of a layer as if it had seen no token.
	Reset(layer int)
	// Save copies all that a row at the present length reads to checkpoint i.
	Save(i int)
	// Load puts back checkpoint i, which was saved at length n.
	Load(i, n int)
	// HasRows reports whether the keys and values that a row at position n reads are still there.
	HasRows(n int) bool
}

// History says what the states of a cache have seen, and what copies of them there are.
//
// The state of a layer has seen the first rows, and the backend keeps the inputs of the rows after them. So a cache
// goes back to each length from Seen on. A pass of more than single rows is a long pass: after it, the state has seen
// some rows of the pass. So the state is copied before a long pass. To go back further takes a checkpoint.
type History struct {
	states      States
	single      int
	before      []earlier    // for each layer: the copy from before the last long pass
	checkpoints []checkpoint // the oldest first
	free        []int        // checkpoints that are not in use
}

// earlier is about the copy of a layer's state from before a long pass. With it, the cache can go back to every
// length from seen to the length at the start of the pass.
type earlier struct {
	seen   int // tokens that the copy has seen
	length int // of the cache at the start of the pass; 0: no copy
}

func (e earlier) reaches(n int) bool { return e.seen <= n && n <= e.length }

// checkpoint says that checkpoint index of the States has what a row at position length reads.
type checkpoint struct{ length, index int }

// New returns the history of an empty cache. A pass of more than single rows is a long one. Checkpoints have the
// indices 0 to checkpoints−1.
func New(s States, layers, single, checkpoints int) *History {
	h := &History{states: s, single: single, before: make([]earlier, layers)}
	for i := range checkpoints {
		h.free = append(h.free, i)
	}
	return h
}

// Reach returns n, which is at most the cache's length, if all layers have what a row at position n reads. Else it
// returns the greatest length of a checkpoint that is at most n, or 0 if there is none.
func (h *History) Reach(n int) int {
	if h.holds(n) {
		return n
	}
	for _, p := range slices.Backward(h.checkpoints) {
		if p.length <= n {
			return p.length
		}
	}
	return 0
}

// holds reports whether the cache has all that a row at position n reads, without a checkpoint.
func (h *History) holds(n int) bool {
	if n <= 0 {
		return true
	}
	for i, b := range h.before {
		if h.states.Seen(i) > n && !b.reaches(n) {
			return false
		}
	}
	return h.states.HasRows(n)
}

// GoBack takes the states back to a length that Reach returned. It drops the checkpoints of greater lengths.
func (h *History) GoBack(n int) {
	if !h.holds(n) {
		i := slices.IndexFunc(h.checkpoints, func(p checkpoint) bool { return p.length == n })
		h.states.Load(h.checkpoints[i].index, n)
	}
	for i := range h.before {
		if h.states.Seen(i) > n {
			h.undo(i, n)
		}
		if b := &h.before[i]; b.seen > n {
			b.length = 0
		} else {
			b.length = min(b.length, n)
		}
	}
	for len(h.checkpoints) > 0 && h.checkpoints[len(h.checkpoints)-1].length > n {
		h.drop(len(h.checkpoints) - 1)
	}
}

// undo takes the state of a layer back to before the last long pass or, if n is 0, to that of an empty cache.
func (h *History) undo(layer, n int) {
	if n == 0 {
		h.states.Reset(layer)
		return
	}
	h.states.Undo(layer)
}

// Begin is called before a pass of this many rows over a cache of this length. It undoes what a pass that was not
// completed did to the layer's state. Before a long pass it also copies the state, unless the cache is empty.
func (h *History) Begin(layer, rows, length int) {
	h.settle(layer, length)
	if rows <= h.single {
		return
	}
	h.before[layer] = earlier{h.states.Seen(layer), length}
	if length > 0 { // from an empty cache, undo goes back by Reset, without a copy
		h.states.Keep(layer)
	}
}

// settle undoes what a pass that ended early did to the state of a layer; length is that of the cache.
func (h *History) settle(layer, length int) {
	if h.states.Seen(layer) > length {
		h.undo(layer, length)
	}
}

// Checkpoint makes it possible to go back later to the cache's present length. If all checkpoints are in use, it
// drops the oldest.
func (h *History) Checkpoint(length int) {
	last := len(h.checkpoints) - 1
	if length == 0 || last < 0 && len(h.free) == 0 || last >= 0 && h.checkpoints[last].length == length {
		return
	}
	for i := range h.before {
		h.settle(i, length)
	}
	if len(h.free) == 0 {
		h.drop(0)
	}
	p := checkpoint{length, h.free[len(h.free)-1]}
	h.free = h.free[:len(h.free)-1]
	h.states.Save(p.index)
	h.checkpoints = append(h.checkpoints, p)
}

// drop makes a checkpoint free for another length.
func (h *History) drop(i int) {
	h.free = append(h.free, h.checkpoints[i].index)
	h.checkpoints = slices.Delete(h.checkpoints, i, i+1)
}
