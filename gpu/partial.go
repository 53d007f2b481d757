package gpu

import (
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// partialCache is a cache of which some layers have a state. It goes back as the processor's does
// (engine/host/partial.go): to each length after the rows that the states have seen, to lengths before the
// last long pass, of more than CacheShape.Single rows, from a copy, and to checkpoints. The copies are made
// on the device, in order with the passes.
type partialCache struct {
	*cache
	states      []*layerState  // nil for layers without a state
	bytes       int64          // of the states of all layers
	copied      driver.Pointer // the states from before the last long pass
	before      []earlier      // for each layer, what copied has
	checkpoints []checkpoint   // the oldest first
	free        []driver.Pointer
	failures    int // Backend.failures when the cache was last empty
}

// earlier says what the copy of a layer's state from before a long pass has. With it, the cache can go
// back to every length from at to the length at the start of the pass.
type earlier struct {
	mark
	length int // of the cache at the start of the pass; 0: no copy
}

func (e *earlier) reaches(n int) bool { return e.at <= n && n <= e.length }

// checkpoint has what a row at position length reads from states.
type checkpoint struct {
	length int
	memory driver.Pointer
	marks  []mark
}

var _ compute.Partial = (*partialCache)(nil)

// newPartialCache returns c with states, which lie at memory. It clears the first copy of them: kernels read
// states before they know whether these have seen a token.
func newPartialCache(c *cache, memory driver.Pointer) (compute.Cache, error) {
	b := c.owner
	p := &partialCache{cache: c, before: make([]earlier, c.shape.Layers), failures: b.failures}
	p.states, p.bytes = statesAt(memory, c.shape)
	p.copied = memory + driver.Pointer(p.bytes)
	for i := range c.shape.Checkpoints {
		p.free = append(p.free, p.copied+driver.Pointer(int64(i+1)*p.bytes))
	}
	if err := b.note(b.device.Do(func() error { return b.device.Fill(b.stream, memory, 0, p.bytes) })); err != nil {
		return nil, errors.Join(fmt.Errorf("clearing states: %w", err), c.Close())
	}
	return p, nil
}

// inside returns the keys and values of a cache.
func inside(c compute.Cache) *cache {
	if p, ok := c.(*partialCache); ok {
		return p.cache
	}
	return c.(*cache)
}

// Reach returns n, or the cache's length if n is larger, if all states can go back there. Else it returns
// the length of the last checkpoint up to there, or 0 if there is none.
func (c *partialCache) Reach(n int) int {
	n = min(n, c.length)
	if c.holds(n) {
		return n
	}
	best := 0
	for _, p := range c.checkpoints {
		if p.length <= n && !c.failed() {
			best = max(best, p.length)
		}
	}
	return best
}

// holds reports whether the states have all that a row at position n reads.
func (c *partialCache) holds(n int) bool {
	if n == 0 {
		return true
	}
	for i, s := range c.states {
		if s != nil && s.at > n && !c.before[i].reaches(n) {
			return false
		}
	}
	return !c.failed()
}

// failed reports whether work of the device failed since the cache was last empty. The marks may then say
// more than the device has done, so nothing but the empty cache can be trusted.
func (c *partialCache) failed() bool { return c.failures != c.owner.failures }

// Truncate cuts back to a length that Reach returns.
func (c *partialCache) Truncate(n int) error {
	if reach := c.Reach(n); n >= 0 && n <= c.length && reach != n {
		return fmt.Errorf("truncating the cache to %d tokens: what came after them has changed its states; it can go back to %d", n, reach)
	}
	if err := c.cache.Truncate(n); err != nil {
		return err
	}
	if !c.holds(n) {
		c.restore(n)
	}
	c.turnBack(n)
	for len(c.checkpoints) > 0 && c.checkpoints[len(c.checkpoints)-1].length > n {
		c.remove(len(c.checkpoints) - 1)
	}
	if n == 0 {
		c.failures = c.owner.failures
	}
	return nil
}

// turnBack undoes the last long pass in each layer whose state has seen more than n tokens, and forgets
// copies that have seen more than n tokens.
func (c *partialCache) turnBack(n int) {
	for i, s := range c.states {
		if s == nil {
			continue
		}
		if s.at > n {
			c.turnBackLayer(i, n)
		}
		if e := &c.before[i]; e.at > n {
			e.length = 0
		} else {
			e.length = min(e.length, n)
		}
	}
}

// turnBackLayer restores a layer's state from before the last long pass. If n is 0, it needs no copy: a
// kernel takes a state that has seen no token as 0.
func (c *partialCache) turnBackLayer(i, n int) {
	s := c.states[i]
	if n == 0 {
		s.at = 0
		return
	}
	s.mark = c.before[i].mark
	c.owner.tape.append(move{s.memory, c.copyOf(i), int(s.bytes())})
}

// copyOf is where the copy of a layer's state from before a long pass lies.
func (c *partialCache) copyOf(i int) driver.Pointer {
	return c.states[i].memory + c.copied - c.first()
}

// first is where the states lie.
func (c *partialCache) first() driver.Pointer { return c.copied - driver.Pointer(c.bytes) }

// begin prepares the state of a layer for a pass of this number of rows. It undoes what a pass has done
// that ended early. Before a long pass it copies the state.
func (c *partialCache) begin(layer, rows int) error {
	if c.failed() {
		if c.length > 0 {
			return errors.New("reading on after work of the GPU failed: the states of this text are lost, so it must be read again from its start")
		}
		if err := c.Truncate(0); err != nil {
			return err
		}
	}
	s := c.states[layer]
	if s.at > c.length {
		c.turnBackLayer(layer, c.length)
	}
	if rows > c.shape.Single {
		c.before[layer] = earlier{s.mark, c.length}
		if c.length > 0 {
			c.owner.tape.append(move{c.copyOf(layer), s.memory, int(s.bytes())})
		}
	}
	return nil
}

// restore copies the states of the checkpoint of length n back.
func (c *partialCache) restore(n int) {
	for _, p := range c.checkpoints {
		if p.length != n {
			continue
		}
		c.owner.tape.append(move{c.first(), p.memory, int(c.bytes)})
		for i, s := range c.states {
			if s != nil {
				s.mark = p.marks[i]
			}
		}
		return
	}
}

// Checkpoint copies what a row at the present length will read.
func (c *partialCache) Checkpoint() error {
	if c.length == 0 || c.shape.Checkpoints == 0 || c.failed() ||
		len(c.checkpoints) > 0 && c.checkpoints[len(c.checkpoints)-1].length == c.length {
		return nil
	}
	if len(c.free) == 0 {
		c.remove(0)
	}
	p := checkpoint{length: c.length, memory: c.free[len(c.free)-1], marks: make([]mark, len(c.states))}
	c.free = c.free[:len(c.free)-1]
	for i, s := range c.states {
		if s == nil {
			continue
		}
		if s.at > c.length { // a pass that ended early has moved this state
			c.turnBackLayer(i, c.length)
		}
		p.marks[i] = s.mark
	}
	c.owner.tape.append(move{p.memory, c.first(), int(c.bytes)})
	c.checkpoints = append(c.checkpoints, p)
	return nil
}

// remove drops checkpoint i and keeps its memory for another one.
func (c *partialCache) remove(i int) {
	c.free = append(c.free, c.checkpoints[i].memory)
	c.checkpoints = append(c.checkpoints[:i], c.checkpoints[i+1:]...)
}

func (c *partialCache) Close() error {
	c.checkpoints, c.free = nil, nil
	return c.cache.Close()
}
