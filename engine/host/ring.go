package host

import (
	"fmt"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// ringCache is a cache whose layers with a window keep only their last rows, in rings. All rings
// have room for the window, for the rows of a pass and for whole splits of attention, so a pass has
// the bits of one over a whole cache.
type ringCache struct {
	*cache
	owner       *Backend
	lowest      []int        // the first token whose rows each layer still holds
	checkpoints []checkpoint // the oldest first
	free        []checkpoint
}

// checkpoint holds what attention reads for the rows from a length on.
type checkpoint struct {
	length int
	layers []*cpu.KV // nil for layers without a ring
}

var _ compute.Partial = (*ringCache)(nil)

// ringOf returns the rows of the ring of a layer, or 0 if all its rows are kept: a ring and its
// checkpoints would be no smaller.
func ringOf(s *compute.CacheShape, layer int) int {
	if s.Windows == nil || s.Windows[layer] == 0 {
		return 0
	}
	if rows := cpu.RingTokens(s.Windows[layer], s.Spare); rows+s.Checkpoints*checkpointRows(s, layer) < s.Tokens {
		return rows
	}
	return 0
}

// checkpointRows is the size of a checkpoint of a layer: the rows that FirstRead can ask for, in
// whole blocks.
func checkpointRows(s *compute.CacheShape, layer int) int {
	const block = cpu.KeysPerBlock
	return (s.Windows[layer] + cpu.KeysPerSplit + block - 1) / block * block
}

// newRingCache adds rings' checkpoints to a cache.
func newRingCache(b *Backend, c *cache) *ringCache {
	r := &ringCache{cache: c, owner: b, lowest: make([]int, c.shape.Layers)}
	for range c.shape.Checkpoints {
		point := checkpoint{layers: make([]*cpu.KV, c.shape.Layers)}
		for i := range point.layers {
			if ringOf(&c.shape, i) > 0 {
				point.layers[i] = c.newLayer(i, cpu.KVShape{Tokens: checkpointRows(&c.shape, i)})
			}
		}
		r.free = append(r.free, point)
	}
	return r
}

// inside returns the cache in a Cache, and what it is in if it has rings.
func inside(c compute.Cache) (*cache, *ringCache) {
	if r, ok := c.(*ringCache); ok {
		return r.cache, r
	}
	return c.(*cache), nil
}

// Reach returns n if all rings still hold what a row at n reads, else the last checkpoint before n.
func (c *ringCache) Reach(n int) int {
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

// holds reports whether the rings hold all that a row at position n reads.
func (c *ringCache) holds(n int) bool {
	for i, lowest := range c.lowest {
		if n > 0 && lowest > 0 && cpu.FirstRead(n, c.shape.Windows[i]) < lowest {
			return false
		}
	}
	return true
}

// Truncate cuts back to a length that Reach returns.
func (c *ringCache) Truncate(n int) error {
	if reach := c.Reach(n); n >= 0 && n <= c.length && reach != n {
		return fmt.Errorf("truncating the cache to %d tokens: what came after them has taken their place; it can go back to %d", n, reach)
	}
	if err := c.cache.Truncate(n); err != nil {
		return err
	}
	if !c.holds(n) {
		c.restore(n)
	}
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

// restore copies the checkpoint of this length into the rings. What they held after it is lost.
func (c *ringCache) restore(n int) {
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
		}
		return
	}
}

func wholeBlocks(tokens int) int {
	return (tokens + cpu.KeysPerBlock - 1) / cpu.KeysPerBlock * cpu.KeysPerBlock
}

// Keep copies what a row at the present length reads.
func (c *ringCache) Keep() error {
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
	}
	c.checkpoints = append(c.checkpoints, p)
	return nil
}

// remove makes room for another checkpoint.
func (c *ringCache) remove(i int) {
	c.free = append(c.free, c.checkpoints[i])
	c.checkpoints = append(c.checkpoints[:i], c.checkpoints[i+1:]...)
}

// stored notes that a layer has stored the tokens up to one.
func (c *ringCache) stored(layer, to int) {
	if rows := ringOf(&c.shape, layer); rows > 0 {
		c.lowest[layer] = max(c.lowest[layer], to-rows)
	}
}

// KeyValue refuses tokens whose place was taken.
func (c *ringCache) KeyValue(layer, token int, key, value []float32) error {
	if layer >= 0 && layer < c.shape.Layers && token < c.lowest[layer] {
		return fmt.Errorf("reading the cache at layer %d, token %d: its place was taken; the first that is there is %d", layer, token, c.lowest[layer])
	}
	return c.cache.KeyValue(layer, token, key, value)
}

func (c *ringCache) Close() error {
	c.checkpoints, c.free = nil, nil
	return c.cache.Close()
}
