package gpu

import (
	"errors"
	"fmt"

	"specula/engine/compute"
	"specula/engine/compute/rollback"
	"specula/gpu/driver"
)

// partialCache is a cache of which some layers have a state. rollback.History decides to which lengths it can
// go back, as for the processor's cache. States are copied on the device, in order with the passes.
type partialCache struct {
	*cache
	history     *rollback.History
	states      []*layerState  // nil for layers without a state
	bytes       int64          // of the states of all layers
	copied      driver.Pointer // the states from before the last long pass (see rollback.History); then those of the checkpoints
	before      []mark         // for each layer, the mark of the state in copied
	checkpoints [][]mark       // for each checkpoint and layer, the mark of the state there
	failures    int            // Backend.failures when the cache was last empty
}

var (
	_ compute.Partial = (*partialCache)(nil)
	_ rollback.States = (*partialCache)(nil)
)

// newPartialCache returns c with states, which lie at memory. It clears the states in use: kernels read a
// state before they know whether it has seen a token.
func newPartialCache(c *cache, memory driver.Pointer) (compute.Cache, error) {
	b := c.owner
	p := &partialCache{cache: c, before: make([]mark, c.shape.Layers), failures: b.failures}
	p.states, p.bytes = statesAt(memory, c.shape)
	p.copied = memory + driver.Pointer(p.bytes)
	p.history = rollback.New(p, c.shape.Layers, c.shape.Single, c.shape.Checkpoints)
	for range c.shape.Checkpoints {
		p.checkpoints = append(p.checkpoints, make([]mark, c.shape.Layers))
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

// Reach first limits n to the cache's length. It returns n if all states can go back to n, else the length of
// the last checkpoint up to n, or 0 if there is none.
func (c *partialCache) Reach(n int) int {
	if c.failed() {
		return 0
	}
	return c.history.Reach(min(n, c.length))
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
	c.history.GoBack(n)
	if n == 0 {
		c.failures = c.owner.failures
	}
	return nil
}

// begin must be called before a pass of this number of rows reads the state of a layer. It undoes what a pass that
// was not completed did to the state, and copies the state if the pass is a long one (rollback.History).
func (c *partialCache) begin(layer, rows int) error {
	if c.failed() {
		if c.length > 0 {
			return errors.New("reading on after work of the GPU failed: the states of this text are lost, so it must be read again from its start")
		}
		if err := c.Truncate(0); err != nil {
			return err
		}
	}
	c.history.Begin(layer, rows, c.length)
	return nil
}

// Checkpoint makes it possible to go back to the present length later.
func (c *partialCache) Checkpoint() error {
	if !c.failed() {
		c.history.Checkpoint(c.length)
	}
	return nil
}

// HasRows reports true: the keys and values of all tokens are kept.
func (c *partialCache) HasRows(int) bool { return true }

// Seen returns how many tokens the state of a layer has seen.
func (c *partialCache) Seen(layer int) int {
	if s := c.states[layer]; s != nil {
		return s.at
	}
	return 0
}

// Keep copies the state of a layer.
func (c *partialCache) Keep(layer int) {
	s := c.states[layer]
	c.before[layer] = s.mark
	c.owner.tape.append(move{c.copyOf(layer), s.memory, int(s.bytes())})
}

// Undo puts back what Keep copied.
func (c *partialCache) Undo(layer int) {
	s := c.states[layer]
	s.mark = c.before[layer]
	c.owner.tape.append(move{s.memory, c.copyOf(layer), int(s.bytes())})
}

// Reset needs no copy: a kernel takes a state that has seen no token as 0.
func (c *partialCache) Reset(layer int) { c.states[layer].at = 0 }

// Save copies the states of all layers to checkpoint i.
func (c *partialCache) Save(i int) {
	for l, s := range c.states {
		if s != nil {
			c.checkpoints[i][l] = s.mark
		}
	}
	c.owner.tape.append(move{c.checkpoint(i), c.first(), int(c.bytes)})
}

// Load copies the states of all layers back from checkpoint i.
func (c *partialCache) Load(i, _ int) {
	c.owner.tape.append(move{c.first(), c.checkpoint(i), int(c.bytes)})
	for l, s := range c.states {
		if s != nil {
			s.mark = c.checkpoints[i][l]
		}
	}
}

// first is where the states in use begin.
func (c *partialCache) first() driver.Pointer { return c.copied - driver.Pointer(c.bytes) }

// copyOf is where the copy of a layer's state from before a long pass lies.
func (c *partialCache) copyOf(layer int) driver.Pointer {
	return c.states[layer].memory + driver.Pointer(c.bytes)
}

// checkpoint is where the states of checkpoint i lie.
func (c *partialCache) checkpoint(i int) driver.Pointer {
	return c.copied + driver.Pointer(int64(i+1)*c.bytes)
}
