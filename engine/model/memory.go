package model

import (
	"fmt"
	"slices"
	"sort"

	"specula/engine/compute"
	"specula/engine/weights"
)

// weigher is a backend that knows how much memory a weight needs in addition to its bytes in the file,
// which are in memory already.
type weigher interface{ MatrixBytes(compute.Weight) int64 }

// cacheSizer is a backend that knows the memory of a cache. A negative number means that the size
// overflowed.
type cacheSizer interface {
	CacheBytes(shape compute.CacheShape) int64
}

// planner is a backend with its own memory that knows how much of it an allocation needs.
type planner interface {
	weigher
	cacheSizer
	// ScratchBytes is the temporary memory for operations over buffers of these rows and columns, with a
	// cache of this shape.
	ScratchBytes(buffers [][2]int, shape compute.CacheShape) int64
	// RoutingBytes is the memory of a Routing.
	RoutingBytes(maxRows int, r compute.Router) int64
}

// size is an activation buffer with its number of rows and columns.
type size struct {
	buffer     *compute.Buffer
	rows, cols int
}

// sizes lists the activations of a pass. The logits are by far the widest, so they have room only for
// the rows of a Forward. Layers of the same size share their buffers.
func (m *Model) sizes() []size {
	c, a := &m.config, &m.activations
	n := c.PrefillRows
	all := []size{
		{&a.residual, n, c.Dim}, {&a.normed, n, c.Dim}, {&a.output, n, c.Dim}, {&a.scores, c.MaxRows, c.Vocab},
	}
	all = append(all, m.mixtureSizes()...)
	all = append(all, m.perLayerSizes()...)
	all = append(all, m.jointSizes()...)
	all = append(all, m.latentSizes()...)
	listed := map[*layerBuffers]bool{}
	for i := range m.layers {
		s, b := &m.layers[i].shape, m.layers[i].buffers
		if listed[b] {
			continue
		}
		listed[b] = true
		if s.ffn > 0 {
			all = append(all, size{&b.gate, n, s.ffn}, size{&b.up, n, s.ffn})
		}
		if s.state.Heads > 0 {
			all = append(all, b.stateSizes(n, s.state)...)
		}
		if s.heads == 0 {
			continue
		}
		all = append(all, size{&b.query, n, s.queries()}, size{&b.attended, n, s.attended()})
		if !s.borrows {
			all = append(all, size{&b.key, n, s.keys()}, size{&b.value, n, s.values()})
		}
		if m.arch.needs()["attention_gate"] == required {
			all = append(all, size{&b.attentionGate, n, s.attended()})
		}
	}
	return all
}

// allocate makes the activation buffers of the model.
func (m *Model) allocate() error { return allocateAll(m.backend, m.sizes()) }

// allocateAll makes the buffers in a list.
func allocateAll(backend compute.Backend, sizes []size) error {
	for _, w := range sizes {
		var err error
		if *w.buffer, err = backend.Buffer(w.rows, w.cols); err != nil {
			return fmt.Errorf("allocating activations of %d × %d numbers: %w", w.rows, w.cols, err)
		}
	}
	return nil
}

// checkMemory refuses a model whose weights, activations and one cache need more than the backend's
// memory minus reserved. It runs before anything is allocated, and also sets CacheBytes. If the backend
// does not know its memory, checkMemory accepts every model. It computes in float64, which does not
// overflow.
func (m *Model) checkMemory(b *binder, reserved int64) error {
	c := &m.config
	cache, activations := m.cacheBytes(c.MaxTokens), m.activationBytes(c.MaxTokens)+m.headBytes(c.MaxTokens)
	c.CacheBytes = int64(cache)
	var taken float64
	bindings := slices.Concat(b.bindings, m.mtp.bindings())
	for _, binding := range bindings {
		taken += float64(m.bytesTaken(binding))
	}
	taken += m.mostAtOnce(b.file, bindings)
	known := m.backend.Info().MemoryBytes
	available := float64(known - reserved)
	if known == 0 || taken+activations+cache <= available {
		return nil
	}
	fits := sort.Search(c.MaxTokens, func(tokens int) bool {
		return taken+m.activationBytes(tokens+1)+m.headBytes(tokens+1)+m.cacheBytes(tokens+1) > available
	})
	advice := "choose a smaller file"
	if fits > 0 {
		advice = fmt.Sprintf("choose a shorter context, of which %d tokens would fit, or a smaller file", fits)
	}
	const mib = 1 << 20
	return fmt.Errorf("%w: weights need %.0f MiB, a context of %d tokens %.0f MiB and activations %.0f MiB, together %.0f MiB; %.0f MiB are available: %s",
		compute.ErrOutOfMemory, taken/mib, c.MaxTokens, cache/mib, activations/mib, (taken+activations+cache)/mib, max(0, available)/mib, advice)
}

const float32Bytes = 4

// cacheBytes returns the memory of a cache for this many tokens.
func (m *Model) cacheBytes(tokens int) float64 {
	c := &m.config
	if m.arch.borrowsAll {
		return 0
	}
	if known, ok := m.backend.(cacheSizer); ok {
		if bytes := known.CacheBytes(m.cacheShape(tokens)); bytes >= 0 {
			return float64(bytes)
		}
	}
	numbers := 0.0 // how many a cache has for one token, in all layers
	for i := range m.layers {
		numbers += m.layers[i].shape.cacheNumbers()
	}
	return numbers * float64(tokens) * cacheNumberBytes[c.CacheType]
}

// cacheNumberBytes is how many bytes a number takes in a cache of each type.
var cacheNumberBytes = map[compute.DType]float64{compute.F32: 4, compute.F16: 2, compute.Q8_0: 34.0 / 32}

// If the keys and values of one token have more than muchKept bytes in F32, cacheTypeBySize chooses
// F16. Then a conversation of a few hundred tokens does not fit into the processor's caches, and
// reading F16 is faster.
const muchKept = 32 << 10

// cacheTypeBySize chooses the type of a cache if the user did not.
func cacheTypeBySize(shapes []layerShape) compute.DType {
	numbers := 0.0
	for _, s := range shapes {
		numbers += s.cacheNumbers()
	}
	if float32Bytes*numbers > muchKept {
		return compute.F16
	}
	return compute.F32
}

// checkCache asks the backend whether it supports such a cache.
func (m *Model) checkCache() error {
	if checker, ok := m.backend.(compute.CacheChecker); ok && !m.arch.borrowsAll {
		return checker.CheckCache(m.cacheShape(m.config.MaxTokens))
	}
	return nil
}

// activationBytes returns the memory of a pass: its buffers, the RoPE tables, and the backend's
// temporary memory.
func (m *Model) activationBytes(tokens int) float64 {
	activations := m.ropeBytes(tokens)
	var buffers [][2]int
	for _, w := range m.sizes() {
		activations += float32Bytes * float64(w.rows) * float64(w.cols)
		buffers = append(buffers, [2]int{w.rows, w.cols})
	}
	if known, ok := m.backend.(planner); ok {
		activations += float64(known.ScratchBytes(buffers, m.cacheShape(tokens)))
		if m.config.Experts.Experts > 0 {
			activations += float64(known.RoutingBytes(m.config.PrefillRows, m.config.Experts))
		}
		activations += m.choiceBytes(known)
	}
	return activations
}

// ropeBytes returns the memory of the tables of cosine and sine. If the family has windows, it counts
// separate tables for layers with a window, though placeLayers may not need them.
func (m *Model) ropeBytes(tokens int) float64 {
	if m.config.Unrotated {
		return 0
	}
	tables := 1
	if m.arch.windows.some {
		tables++
	}
	if m.config.TemperatureScale > 0 {
		tables *= 2
	}
	return float32Bytes * float64(tables*tokens) * float64(m.config.RopeDim)
}

func (m *Model) bytesTaken(b binding) int64 {
	known, ok := m.backend.(weigher)
	if !ok {
		return int64(len(b.weight.Data))
	}
	if bytes := known.MatrixBytes(b.weight); bytes > 0 || b.group == 0 {
		return bytes
	}
	return int64(len(b.weight.Data)) // gather copies the rows, and the backend borrows the copy
}

// mostAtOnce returns a correction of the memory for weights, in bytes: 0 or negative. After the backend has
// copied a weight, the bytes of this weight in the file are released. So at most one weight is in memory
// twice, in the worst case the largest. The correction is 0 if the bytes of the file cannot be released, or
// if the backend has its own memory.
func (m *Model) mostAtOnce(file *weights.File, bindings []binding) float64 {
	known, ok := m.backend.(weigher)
	if _, elsewhere := m.backend.(planner); elsewhere || !ok || !file.Owned() {
		return 0
	}
	var released, largest float64
	for _, binding := range bindings {
		if known.MatrixBytes(binding.weight) > 0 {
			bytes := float64(len(binding.weight.Data))
			released += bytes
			largest = max(largest, bytes)
		}
	}
	return largest - released
}
