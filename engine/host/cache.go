package host

import (
	"errors"
	"fmt"
	"math/bits"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

// cache keeps keys and values in F32, F16 or Q8_0.
type cache struct {
	shape  compute.CacheShape
	length int
	layers []*cpu.KV // nil when closed
}

// Cache allocates room for every token of the shape.
func (b *Backend) Cache(shape compute.CacheShape) (compute.Cache, error) {
	require(shape.Layers > 0 && shape.Tokens > 0 && shape.KVHeads > 0 && shape.HeadDim > 0, "a cache without layers, tokens or heads")
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
	c := &cache{shape: shape}
	for range shape.Layers {
		c.layers = append(c.layers, cpu.NewKV(shape.Tokens, shape.KVHeads, shape.HeadDim, kept[shape.Type]))
	}
	return c, nil
}

// kept maps the supported types of keys and values to those of the kernels.
var kept = map[compute.DType]cpu.KVType{compute.F32: cpu.KVF32, compute.F16: cpu.KVF16, compute.Q8_0: cpu.KVQ8_0}

// CheckCache refuses types that the attention kernels cannot read, and for Q8_0 heads that are not
// a multiple of a block.
func (b *Backend) CheckCache(shape compute.CacheShape) error {
	switch kv, ok := kept[shape.Type]; {
	case !ok:
		return fmt.Errorf("keys and values of the type number %d: the CPU keeps them as f32, f16 or q8_0", shape.Type)
	case kv == cpu.KVQ8_0 && shape.HeadDim%cpu.Block != 0:
		return fmt.Errorf("keys and values in q8_0, whose blocks hold %d numbers, need heads of a multiple of that, and these have %d: choose --cache f16 or f32", cpu.Block, shape.HeadDim)
	}
	return nil
}

// cacheBytes checks for overflow, because the number of tokens comes from the user.
func cacheBytes(shape compute.CacheShape) (int64, error) {
	product := uint64(2)
	blocks := (uint64(max(shape.Tokens, 0)) + cpu.KeysPerBlock - 1) / cpu.KeysPerBlock
	product *= cpu.KeysPerBlock
	for _, factor := range []uint64{uint64(shape.Layers), blocks, uint64(shape.KVHeads), uint64(kept[shape.Type].Bytes(shape.HeadDim))} {
		high, low := bits.Mul64(product, factor)
		if high != 0 || low > 1<<62 {
			return 0, fmt.Errorf("%w: keys and values of %d tokens exceed every memory", compute.ErrOutOfMemory, shape.Tokens)
		}
		product = low
	}
	return int64(product), nil
}

func (c *cache) rowSize() int { return c.shape.KVHeads * c.shape.HeadDim }

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
	size := c.rowSize()
	require(len(key) == size && len(value) == size, "KeyValue needs room for one row")
	c.layers[layer].Load(token, key, value)
	return nil
}

func (c *cache) Bytes() int64 {
	size, _ := cacheBytes(c.shape) // no error: the size was checked when the cache was made
	return size
}

func (c *cache) Close() error {
	c.layers, c.length = nil, 0
	return nil
}
