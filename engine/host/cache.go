package host

import (
	"errors"
	"fmt"
	"math/bits"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// cache keeps keys and values in F32, F16 or Q8_0, and the states of layers that have one.
type cache struct {
	shape  compute.CacheShape
	length int
	layers []*cpu.KV    // keys and values of each layer; nil when closed
	states []*cpu.State // of layers with a recurrent state; nil for the others
}

// Cache makes a cache and allocates all its memory. Layers with a window may get room for their last rows only
// (partialCache).
func (b *Backend) Cache(shape compute.CacheShape) (compute.Cache, error) {
	require(shape.Layers > 0 && shape.Tokens > 0 && (shape.Each == nil || len(shape.Each) == shape.Layers), "a cache without layers or tokens")
	if err := b.CheckCache(shape); err != nil {
		return nil, err
	}
	size, err := cacheBytes(shape)
	if err != nil {
		return nil, err
	}
	if err := refuseBeyondMemory(fmt.Sprintf("keys and values of %d tokens", shape.Tokens), size); err != nil {
		return nil, err
	}
	c, partial := &cache{shape: shape, states: make([]*cpu.State, shape.Layers), layers: make([]*cpu.KV, shape.Layers)}, false
	var whole []int // layers that keep the rows of all tokens
	var shapes []cpu.KVShape
	for i := range shape.Layers {
		l := shape.Layer(i)
		require(shape.Each != nil || l.KVHeads > 0 && l.KeyDim > 0, "a cache without heads")
		if ring := ringOf(&shape, i); ring > 0 {
			c.layers[i], partial = c.newLayer(i, cpu.KVShape{Tokens: ring, Ring: true}), true
		} else {
			whole, shapes = append(whole, i), append(shapes, c.rows(i, cpu.KVShape{Tokens: shape.Tokens}))
		}
		if l.State.Heads > 0 {
			c.states[i], partial = cpu.NewState(stateShape(l.State), shape.Single), true
		}
	}
	for i, kv := range cpu.NewKVs(shapes, kvTypes[shape.Type]) {
		c.layers[whole[i]] = kv
	}
	if partial {
		return newPartialCache(b, c), nil
	}
	return c, nil
}

// newLayer allocates the rows of a layer.
func (c *cache) newLayer(i int, rows cpu.KVShape) *cpu.KV {
	return cpu.NewKV(c.rows(i, rows), kvTypes[c.shape.Type])
}

// rows completes a shape that says how many tokens a layer keeps: it adds the layer's heads and widths.
func (c *cache) rows(i int, rows cpu.KVShape) cpu.KVShape {
	l := c.shape.Layer(i)
	rows.Heads, rows.KeyDim, rows.ValueDim = l.KVHeads, l.KeyDim, l.ValueDim
	return rows
}

// kvTypes maps the supported types of keys and values to those of the kernels.
var kvTypes = map[compute.DType]cpu.KVType{compute.F32: cpu.KVF32, compute.F16: cpu.KVF16, compute.Q8_0: cpu.KVQ8_0}

// CheckCache returns an error for a shape that the kernels cannot compute with: a type of keys and values
// that is not in kvTypes, heads or states that are too wide, or for Q8_0 heads that are not whole blocks.
func (b *Backend) CheckCache(shape compute.CacheShape) error {
	kv, ok := kvTypes[shape.Type]
	if !ok {
		return fmt.Errorf("keys and values of the type number %d: the CPU keeps them as f32, f16 or q8_0", shape.Type)
	}
	for i := range shape.Layers {
		l := shape.Layer(i)
		for _, dim := range []int{l.KeyDim, l.ValueDim} {
			if kv == cpu.KVQ8_0 && dim%cpu.Block != 0 {
				return fmt.Errorf("keys and values in q8_0, whose blocks hold %d numbers, need heads of a multiple of that, and these have %d: choose --cache f16 or f32", cpu.Block, dim)
			}
		}
		if s := l.State; s.Kind != compute.ConvolutionState && max(s.KeyDim, s.ValueDim) > cpu.MaxStateDim {
			return fmt.Errorf("layer %d has states of %d × %d numbers: the CPU computes at most %d × %d", i, s.KeyDim, s.ValueDim, cpu.MaxStateDim, cpu.MaxStateDim)
		}
		if l.KeyDim > cpu.MaxKeyDim || l.ValueDim > cpu.MaxValueDim {
			return fmt.Errorf("layer %d has keys of %d and values of %d numbers: the CPU attends to at most %d and %d",
				i, l.KeyDim, l.ValueDim, cpu.MaxKeyDim, cpu.MaxValueDim)
		}
	}
	return nil
}

// cacheBytes returns the size of a cache in bytes. It checks for overflow, because the user chooses
// the number of tokens.
func cacheBytes(shape compute.CacheShape) (int64, error) {
	token := uint64(0)  // bytes of one token in all layers that keep every row
	others := uint64(0) // bytes of rings and states, with their checkpoints
	for i := range shape.Layers {
		l := shape.Layer(i)
		row := uint64(l.KVHeads) * uint64(kvTypes[shape.Type].Bytes(l.KeyDim)+kvTypes[shape.Type].Bytes(l.ValueDim))
		if ring := ringOf(&shape, i); ring > 0 {
			others += row * uint64(ring+shape.Checkpoints*checkpointRows(&shape, i)) // these are fewer rows than Tokens (ringOf)
			continue
		}
		if l.State.Heads > 0 {
			others += uint64(stateShape(l.State).Bytes(shape.Single)) * uint64(shape.Checkpoints+2)
		}
		token += row
	}
	blocks := (uint64(max(shape.Tokens, 0)) + cpu.KeysPerBlock - 1) / cpu.KeysPerBlock
	high, low := bits.Mul64(token, blocks*cpu.KeysPerBlock)
	if high != 0 || low > 1<<62 || others > 1<<62 {
		return 0, fmt.Errorf("%w: keys and values of %d tokens exceed every memory", compute.ErrOutOfMemory, shape.Tokens)
	}
	return int64(low + others), nil
}

// CacheBytes returns the size of a cache in bytes, or −1 if that number overflows.
func (b *Backend) CacheBytes(shape compute.CacheShape) int64 {
	bytes, err := cacheBytes(shape)
	if err != nil {
		return -1
	}
	return bytes
}

func (c *cache) Len() int { return c.length }
func (c *cache) Cap() int { return c.shape.Tokens }

func (c *cache) Truncate(n int) error {
	if n < 0 || n > c.length {
		return fmt.Errorf("truncating the cache to %d tokens: it holds %d", n, c.length)
	}
	c.length = n
	return nil
}

func (c *cache) Advance(n int) error {
	if n < 0 || c.length+n > c.shape.Tokens {
		return fmt.Errorf("advancing the cache by %d tokens: it holds %d of %d", n, c.length, c.shape.Tokens)
	}
	c.length += n
	return nil
}

func (c *cache) KeyValue(layer, token int, key, value []float32) error {
	if c.layers == nil {
		return errors.New("reading a closed cache")
	}
	if layer < 0 || layer >= c.shape.Layers || token < 0 || token >= c.shape.Tokens {
		return fmt.Errorf("reading the cache at layer %d of %d, token %d of %d", layer, c.shape.Layers, token, c.shape.Tokens)
	}
	l := c.shape.Layer(layer)
	require(len(key) == l.KeyNumbers() && len(value) == l.ValueNumbers(), "KeyValue needs room for one row")
	if l.KVHeads == 0 {
		return nil
	}
	c.layers[layer].Load(token, key, value)
	return nil
}

func (c *cache) Bytes() int64 {
	size, _ := cacheBytes(c.shape) // cannot fail: the size was checked when the cache was made
	return size
}

func (c *cache) Close() error {
	c.layers, c.length = nil, 0
	return nil
}
