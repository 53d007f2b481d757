package gpu

import (
	"slices"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// layerState is what a cache keeps of a layer with a state: the states of all heads, and a ring of the
// inputs of later tokens. See kernels/cuda/src/recurrence.h.
type layerState struct {
	cuda.Recurrence
	kind    compute.StateKind
	grouped bool           // see compute.CacheState
	memory  driver.Pointer // the states, then the ring
	mark
}

// mark says which tokens a state and its ring have. The host moves it when it queues a pass.
type mark struct {
	at    int // tokens that the state has seen
	shift int // token t lies in row t+shift of the ring, modulo the ring's rows
}

// gates is how many numbers the ring keeps for each token and head, besides the input: alpha and beta of a
// delta net, the step of Mamba-2.
var gates = map[compute.StateKind]int{compute.DeltaNetState: 2, compute.Mamba2State: 1}

// newLayerState returns a state that has no memory yet. kept is how many tokens at the end of a pass can be
// taken back.
func newLayerState(s compute.CacheState, kept int) *layerState {
	return &layerState{kind: s.Kind, grouped: s.Grouped, Recurrence: cuda.Recurrence{
		KeyHeads: s.KeyHeads, Heads: s.Heads, KeyDim: s.KeyDim, ValueDim: s.ValueDim, Kernel: s.Kernel, Gates: gates[s.Kind], Kept: kept,
	}}
}

// bytes is the size of states and ring, in whole lines of 16 bytes, in which kernels read the states.
func (s *layerState) bytes() int64 {
	const line = 4
	return floatBytes * int64(ceilDivide(s.StateNumbers()+s.RingNumbers(), line)*line)
}

func (s *layerState) ring() driver.Pointer {
	return s.memory + driver.Pointer(floatBytes*s.StateNumbers())
}

// slot is the row of the ring for a token.
func (s *layerState) slot(token int) int { return (token + s.shift) % s.RingRows() }

// pass moves the mark over a pass of m rows that begins at position. Then the state has seen all rows of the pass
// but the last s.Kept ones, which can be taken back.
func (s *layerState) pass(position, m int) {
	s.at = max(position, position+m-s.Kept)
	if left := m - s.MostStored(); left > 0 { // the ring leaves out the first rows of the pass
		s.shift = (s.shift + s.RingRows() - left%s.RingRows()) % s.RingRows()
	}
}

// hasStates reports whether some layer of a cache has a state.
func hasStates(shape compute.CacheShape) bool {
	return slices.ContainsFunc(shape.Each, func(l compute.CacheLayer) bool { return l.State.Heads > 0 })
}

// statesAt returns the states of a cache's layers, one after the other from memory on, and the bytes of all
// together. Layers without a state have nil.
func statesAt(memory driver.Pointer, shape compute.CacheShape) (states []*layerState, bytes int64) {
	states = make([]*layerState, shape.Layers)
	for i := range states {
		if l := shape.Layer(i).State; l.Heads > 0 {
			states[i] = newLayerState(l, shape.Single)
			states[i].memory = memory + driver.Pointer(bytes)
			bytes += states[i].bytes()
		}
	}
	return states, bytes
}

// stateCopies is how often a cache has the states of its layers: those in use, those from before the last
// long pass (see rollback.History), and those of each checkpoint.
func stateCopies(shape compute.CacheShape) int { return 2 + shape.Checkpoints }
