package model

import (
	"fmt"

	"specula/engine/compute"
)

// weigher is a backend that knows what a weight costs it beside the file's bytes, which are in memory already.
type weigher interface{ MatrixBytes(compute.Weight) int64 }

// size is one activation buffer: which, and how many rows of how many numbers.
type size struct {
	buffer     *compute.Buffer
	rows, cols int
}

// sizes lists the activations of a pass. Only the rows of Forward have scores, which are the widest by far.
func (m *Model) sizes() []size {
	c, a := &m.config, &m.activations
	queries, keys := c.Heads*c.HeadDim, c.KVHeads*c.HeadDim
	n := c.PrefillRows
	return []size{
		{&a.residual, n, c.Dim}, {&a.normed, n, c.Dim}, {&a.output, n, c.Dim},
		{&a.query, n, queries}, {&a.attended, n, queries}, {&a.key, n, keys}, {&a.value, n, keys},
		{&a.gate, n, c.FFN}, {&a.up, n, c.FFN}, {&a.scores, c.MaxRows, c.Vocab},
	}
}

// allocate makes the activation buffers.
func (m *Model) allocate() error { return allocateAll(m.backend, m.sizes()) }

// allocateAll makes the buffers of a list.
func allocateAll(backend compute.Backend, sizes []size) error {
	for _, w := range sizes {
		var err error
		if *w.buffer, err = backend.Buffer(w.rows, w.cols); err != nil {
			return fmt.Errorf("allocating activations of %d × %d numbers: %w", w.rows, w.cols, err)
		}
	}
	return nil
}

// checkMemory refuses a model that cannot fit, before anything is allocated for it. Figures are in float64, which does not overflow.
func (m *Model) checkMemory(b *binder) error {
	const float32Bytes = 4
	c := &m.config
	cache := 2 * float32Bytes * float64(c.Layers) * float64(c.MaxTokens) * float64(c.KVHeads) * float64(c.HeadDim)
	if c.HalfCache {
		cache /= 2
	}
	c.CacheBytes = int64(cache)
	activations := float32Bytes * float64(c.MaxTokens) * float64(c.RopeDim) // both tables of angles
	for _, w := range m.sizes() {
		activations += float32Bytes * float64(w.rows) * float64(w.cols)
	}
	var taken float64
	for _, binding := range b.bindings {
		taken += float64(m.bytesTaken(binding.weight))
	}
	taken += m.mostAtOnce(b)
	available := m.backend.Info().MemoryBytes
	if available == 0 || taken+activations+cache <= float64(available) {
		return nil
	}
	const mib = 1 << 20
	return fmt.Errorf("%w: weights need %.0f MiB, a context of %d tokens %.0f MiB and activations %.0f MiB, together %.0f MiB; %.0f MiB are available: choose a shorter context or a smaller file",
		compute.ErrOutOfMemory, taken/mib, c.MaxTokens, cache/mib, activations/mib, (taken+activations+cache)/mib, float64(available)/mib)
}

func (m *Model) bytesTaken(w compute.Weight) int64 {
	if known, ok := m.backend.(weigher); ok {
		return known.MatrixBytes(w)
	}
	return int64(len(w.Data))
}

// mostAtOnce corrects the sum of what the backend takes for weights whose file bytes are released after each: it takes the place
// of theirs, but for part of a weight that is there in both forms for a while, and is no more than the largest.
func (m *Model) mostAtOnce(b *binder) float64 {
	known, ok := m.backend.(weigher)
	if !ok || !b.file.Owned() {
		return 0
	}
	var released, largest float64
	for _, binding := range b.bindings {
		if known.MatrixBytes(binding.weight) > 0 {
			bytes := float64(len(binding.weight.Data))
			released += bytes
			largest = max(largest, bytes)
		}
	}
	return largest - released
}
