package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/compute/rollback"
	"specula/kernels/cpu"
)

// partialCache is a cache in which some layers do not keep every row.
//
// Layers with a window keep only their last rows, in rings, unless that saves no memory (ringOf). A ring has
// room for the window and the rows of a pass, rounded up so that attention finds whole splits of keys. So a
// pass gives the same bits as over a cache that keeps every row.
//
// Layers with a state keep the state at the start of the last pass, and the inputs of its rows (cpu.State).
// A pass of more than CacheShape.Single rows is a long pass. Of a long pass they keep the inputs of the last
// Single rows only, and the state at the start of those. If the cache was not empty, they also keep a copy of
// the state at the start of the long pass. rollback.History says to which lengths the cache can then go back.
type partialCache struct {
	*cache
	owner       *Backend
	history     *rollback.History
	lowest      []int          // for each layer: the first token that its ring still has; 0 without a ring
	before      []cpu.Snapshot // for each layer: a copy of the state before the last long pass
	checkpoints []checkpoint
}

// checkpoint has what a row at one position reads from the rings and states.
type checkpoint struct {
	layers []*cpu.KV // nil for layers without a ring
	states []cpu.Snapshot
}

var (
	_ compute.Partial = (*partialCache)(nil)
	_ rollback.States = (*partialCache)(nil)
)

// ringOf returns the number of rows in the ring of a layer. It returns 0 if the layer keeps all rows: if
// it has no window, or if a ring with its checkpoints would not be smaller.
func ringOf(s *compute.CacheShape, layer int) int {
	if s.Windows == nil || s.Windows[layer] == 0 {
		return 0
	}
	if rows := cpu.RingTokens(s.Windows[layer], s.Spare); rows+s.Checkpoints*checkpointRows(s, layer) < s.Tokens {
		return rows
	}
	return 0
}

// checkpointRows is the number of rows in a checkpoint of a layer with a ring, in whole blocks: room for
// all rows that the next row reads, from cpu.FirstRead to the checkpoint's length.
func checkpointRows(s *compute.CacheShape, layer int) int {
	return wholeBlocks(s.Windows[layer] + cpu.KeysPerSplit)
}

// newPartialCache returns a cache with memory for its checkpoints.
func newPartialCache(b *Backend, c *cache) *partialCache {
	r := &partialCache{cache: c, owner: b, lowest: make([]int, c.shape.Layers), before: make([]cpu.Snapshot, c.shape.Layers)}
	r.history = rollback.New(r, c.shape.Layers, c.shape.Single, c.shape.Checkpoints)
	for range c.shape.Checkpoints {
		point := checkpoint{layers: make([]*cpu.KV, c.shape.Layers), states: make([]cpu.Snapshot, c.shape.Layers)}
		for i := range point.layers {
			if ringOf(&c.shape, i) > 0 {
				point.layers[i] = c.newLayer(i, cpu.KVShape{Tokens: checkpointRows(&c.shape, i)})
			}
		}
		r.checkpoints = append(r.checkpoints, point)
	}
	return r
}

// inside returns the cache in c, and c itself if it is partial.
func inside(c compute.Cache) (*cache, *partialCache) {
	if r, ok := c.(*partialCache); ok {
		return r.cache, r
	}
	return c.(*cache), nil
}

// Reach returns n, or the cache's length if n is larger, if all layers have what a row at that position
// reads. Else it returns the greatest smaller length that has a checkpoint, or 0 if there is none.
func (c *partialCache) Reach(n int) int { return c.history.Reach(min(n, c.length)) }

// HasRows reports whether the rings have what a row at position n reads.
func (c *partialCache) HasRows(n int) bool {
	for i, lowest := range c.lowest {
		if lowest > 0 && cpu.FirstRead(n, c.shape.Windows[i]) < lowest {
			return false
		}
	}
	return true
}

// Truncate cuts back to n tokens; it refuses an n that Reach does not return.
func (c *partialCache) Truncate(n int) error {
	if reach := c.Reach(n); n >= 0 && n <= c.length && reach != n {
		return fmt.Errorf("truncating the cache to %d tokens: what came after them has taken their place; it can go back to %d", n, reach)
	}
	if err := c.cache.Truncate(n); err != nil {
		return err
	}
	c.history.GoBack(n)
	if n == 0 {
		clear(c.lowest)
	}
	return nil
}

// Seen returns how many tokens the state of a layer has seen.
func (c *partialCache) Seen(layer int) int {
	if s := c.states[layer]; s != nil {
		return s.At
	}
	return 0
}

// Keep copies the state of a layer.
func (c *partialCache) Keep(layer int) {
	c.owner.flush()
	c.states[layer].Save(&c.before[layer])
}

// Undo puts back what Keep copied.
func (c *partialCache) Undo(layer int) {
	c.owner.flush()
	c.states[layer].Restore(&c.before[layer])
}

// Reset clears the state of a layer.
func (c *partialCache) Reset(layer int) {
	c.owner.flush()
	c.states[layer].Reset()
}

// Load copies checkpoint i, which was saved at length n, into rings and states. In rings it may also overwrite
// rows of the tokens from n on.
func (c *partialCache) Load(i, n int) {
	c.owner.flush()
	p := &c.checkpoints[i]
	for i, kept := range p.layers {
		if kept != nil {
			c.lowest[i] = cpu.FirstRead(n, c.shape.Windows[i])
			c.layers[i].Copy(c.lowest[i], kept, 0, wholeBlocks(n-c.lowest[i]))
		}
		if c.states[i] != nil {
			c.states[i].Restore(&p.states[i])
		}
	}
}

func wholeBlocks(tokens int) int {
	return (tokens + cpu.KeysPerBlock - 1) / cpu.KeysPerBlock * cpu.KeysPerBlock
}

// Checkpoint makes it possible to go back to the present length later.
func (c *partialCache) Checkpoint() error {
	c.history.Checkpoint(c.length)
	return nil
}

// Save copies what a row at the present length will read to checkpoint i.
func (c *partialCache) Save(i int) {
	c.owner.flush()
	p := &c.checkpoints[i]
	for i, kept := range p.layers {
		if kept != nil {
			from := cpu.FirstRead(c.length, c.shape.Windows[i])
			kept.Copy(0, c.layers[i], from, wholeBlocks(c.length-from))
		}
		if s := c.states[i]; s != nil {
			s.Save(&p.states[i])
		}
	}
}

// stored notes that a layer has stored all tokens before the one with index to: its ring still has the last
// of them.
func (c *partialCache) stored(layer, to int) {
	if rows := ringOf(&c.shape, layer); rows > 0 {
		c.lowest[layer] = max(c.lowest[layer], to-rows)
	}
}

// KeyValue refuses tokens whose rows were overwritten.
func (c *partialCache) KeyValue(layer, token int, key, value []float32) error {
	if layer >= 0 && layer < c.shape.Layers && token < c.lowest[layer] {
		return fmt.Errorf("reading the cache at layer %d, token %d: its place was taken; the first that is there is %d", layer, token, c.lowest[layer])
	}
	return c.cache.KeyValue(layer, token, key, value)
}

func (c *partialCache) Close() error {
	c.before, c.checkpoints = nil, nil
	return c.cache.Close()
}
