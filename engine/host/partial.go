package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// partialCache is a cache in which some layers do not keep every row.
//
// Layers with a window keep only their last rows, in rings. All rings have room for the window, for the
// rows of a pass and for whole splits of attention. So a pass gives the same bits as over a cache that
// keeps every row.
//
// Layers with a state keep the state from before the last pass, and the inputs of its rows
// (cpu.State). If a pass has more than CacheShape.Single rows, it is a long pass. Of its rows they
// keep the inputs of the last Single ones, and the state from before these. They also keep a copy of
// the state from before the pass.
type partialCache struct {
	*cache
	owner       *Backend
	lowest      []int        // for each layer: the first token that its ring still has; 0 without a ring
	before      []earlier    // for each layer: the state before the last long pass
	checkpoints []checkpoint // the oldest first
	free        []checkpoint // memory for further checkpoints
}

// earlier is a copy of a layer's state from before a long pass. The copy has seen At tokens. With it,
// the cache can go back to every length from At to the length at the start of the pass.
type earlier struct {
	cpu.Snapshot
	length int // length of the cache at the start of the pass; 0: no copy
}

func (e *earlier) reaches(n int) bool { return e.At() <= n && n <= e.length }

// checkpoint has what a row at position length reads from the rings and states.
type checkpoint struct {
	length int
	layers []*cpu.KV // nil for layers without a ring
	states []cpu.Snapshot
}

var _ compute.Partial = (*partialCache)(nil)

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

// checkpointRows is the number of rows in a checkpoint of a layer with a ring, in whole blocks. At most
// so many rows lie between cpu.FirstRead, where the next row begins to read, and the checkpoint.
func checkpointRows(s *compute.CacheShape, layer int) int {
	return wholeBlocks(s.Windows[layer] + cpu.KeysPerSplit)
}

// newPartialCache returns a cache with memory for its checkpoints.
func newPartialCache(b *Backend, c *cache) *partialCache {
	r := &partialCache{cache: c, owner: b, lowest: make([]int, c.shape.Layers), before: make([]earlier, c.shape.Layers)}
	for range c.shape.Checkpoints {
		point := checkpoint{layers: make([]*cpu.KV, c.shape.Layers), states: make([]cpu.Snapshot, c.shape.Layers)}
		for i := range point.layers {
			if ringOf(&c.shape, i) > 0 {
				point.layers[i] = c.newLayer(i, cpu.KVShape{Tokens: checkpointRows(&c.shape, i)})
			}
		}
		r.free = append(r.free, point)
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

// Reach returns n, or the cache's length if n is larger, if all layers have what a row there reads.
// Else it returns the length of the last checkpoint up to there, or 0 if there is none.
func (c *partialCache) Reach(n int) int {
	n = min(n, c.length)
	if c.holds(n) {
		return n
	}
	best := 0
	for _, p := range c.checkpoints {
		if p.length <= n {
			best = max(best, p.length)
		}
	}
	return best
}

// holds reports whether rings and states have all that a row at position n reads.
func (c *partialCache) holds(n int) bool {
	for i, lowest := range c.lowest {
		if n > 0 && lowest > 0 && cpu.FirstRead(n, c.shape.Windows[i]) < lowest {
			return false
		}
		if s := c.states[i]; s != nil && n > 0 && s.At > n && !c.before[i].reaches(n) {
			return false
		}
	}
	return true
}

// Truncate cuts back to a length that Reach returns.
func (c *partialCache) Truncate(n int) error {
	if reach := c.Reach(n); n >= 0 && n <= c.length && reach != n {
		return fmt.Errorf("truncating the cache to %d tokens: what came after them has taken their place; it can go back to %d", n, reach)
	}
	if err := c.cache.Truncate(n); err != nil {
		return err
	}
	if !c.holds(n) {
		c.restore(n)
	}
	c.turnBack(n)
	if n == 0 {
		clear(c.lowest)
	}
	for i := 0; i < len(c.checkpoints); {
		if c.checkpoints[i].length > n {
			c.remove(i)
			continue
		}
		i++
	}
	return nil
}

// turnBack undoes the last long pass in each layer whose state has seen more than n tokens: it
// restores the state from before that pass. If n is 0, it clears these states. It drops copies that
// have seen more than n tokens.
func (c *partialCache) turnBack(n int) {
	for i, s := range c.states {
		if s != nil && s.At > n {
			c.turnBackLayer(i, n)
		}
		if e := &c.before[i]; e.At() > n {
			e.length = 0
		} else {
			e.length = min(e.length, n)
		}
	}
}

func (c *partialCache) turnBackLayer(i, n int) {
	c.owner.flush()
	if n == 0 {
		c.states[i].Reset()
	} else {
		c.states[i].Restore(&c.before[i].Snapshot)
	}
}

// begin prepares the state of a layer for a pass with this number of rows. It undoes what a failed pass
// has done. Before a long pass, of more rows than Single, it copies the state.
func (c *partialCache) begin(layer, rows int) {
	s := c.states[layer]
	if s.At > c.length {
		c.turnBackLayer(layer, c.length)
	}
	if rows > c.shape.Single {
		c.owner.flush()
		s.Save(&c.before[layer].Snapshot)
		c.before[layer].length = c.length
	}
}

// restore copies the checkpoint of length n into rings and states. It overwrites later tokens.
func (c *partialCache) restore(n int) {
	c.owner.flush()
	for _, p := range c.checkpoints {
		if p.length != n {
			continue
		}
		for i, kept := range p.layers {
			if kept != nil {
				c.lowest[i] = cpu.FirstRead(n, c.shape.Windows[i])
				c.layers[i].Copy(c.lowest[i], kept, 0, wholeBlocks(n-c.lowest[i]))
			}
			if c.states[i] != nil {
				c.states[i].Restore(&p.states[i])
			}
		}
		return
	}
}

func wholeBlocks(tokens int) int {
	return (tokens + cpu.KeysPerBlock - 1) / cpu.KeysPerBlock * cpu.KeysPerBlock
}

// Checkpoint copies what a row at the present length will read.
func (c *partialCache) Checkpoint() error {
	if c.length == 0 || c.shape.Checkpoints == 0 || len(c.checkpoints) > 0 && c.checkpoints[len(c.checkpoints)-1].length == c.length {
		return nil
	}
	c.owner.flush()
	if len(c.free) == 0 {
		c.remove(0)
	}
	p := c.free[len(c.free)-1]
	c.free = c.free[:len(c.free)-1]
	p.length = c.length
	for i, kept := range p.layers {
		if kept != nil {
			from := cpu.FirstRead(c.length, c.shape.Windows[i])
			kept.Copy(0, c.layers[i], from, wholeBlocks(c.length-from))
		}
		if s := c.states[i]; s != nil {
			if s.At > c.length { // a failed pass has advanced this state
				c.turnBackLayer(i, c.length)
			}
			s.Save(&p.states[i])
		}
	}
	c.checkpoints = append(c.checkpoints, p)
	return nil
}

// remove drops checkpoint i and keeps its memory for another one.
func (c *partialCache) remove(i int) {
	c.free = append(c.free, c.checkpoints[i])
	c.checkpoints = append(c.checkpoints[:i], c.checkpoints[i+1:]...)
}

// stored notes that a layer has stored the tokens up to the one with index to−1.
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
	c.checkpoints, c.free = nil, nil
	return c.cache.Close()
}
