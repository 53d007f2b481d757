package gpu

import (
	"errors"
	"fmt"
	"math/bits"

	"specula/engine/compute"
	"specula/gpu/driver"
)

// cache keeps the keys and values of one sequence on the device.
type cache struct {
	owner  *Backend
	shape  compute.CacheShape
	layers []layerCache
	length int
	memory driver.Pointer // of all layers, one after the other; 0 when closed
}

// Cache reserves memory for all tokens of the shape. A layer has half precision if the shape asks for
// F16 and there is a tensor-core kernel for the layer's heads, else float32.
func (b *Backend) Cache(shape compute.CacheShape) (compute.Cache, error) {
	require(shape.Layers > 0 && shape.Tokens > 0 && (shape.Each == nil || len(shape.Each) == shape.Layers), "a cache without layers or tokens")
	if err := b.CheckCache(shape); err != nil {
		return nil, err
	}
	bytes := b.CacheBytes(shape)
	if bytes < 0 {
		return nil, fmt.Errorf("%w: keys and values of %d tokens exceed every memory",
			compute.ErrOutOfMemory, shape.Tokens)
	}
	if err := b.growScratch(&b.scratch.attended, "attention",
		attentionBytes(shape, max(1, b.scratch.rows))); err != nil {
		return nil, err
	}
	memory, err := b.alloc(fmt.Sprintf("keys and values of %d tokens", shape.Tokens), bytes)
	if err != nil {
		return nil, err
	}
	c := &cache{owner: b, shape: shape, layers: layersAt(memory, shape), memory: memory}
	if hasStates(shape) {
		last := &c.layers[len(c.layers)-1]
		return newPartialCache(c, last.values+driver.Pointer(last.valueBytes()))
	}
	return c, nil
}

// layersAt returns where the keys and values of each layer lie: keys before values, layer after layer.
func layersAt(memory driver.Pointer, shape compute.CacheShape) []layerCache {
	layers := make([]layerCache, shape.Layers)
	for i := range layers {
		l := newLayerCache(shape.Layer(i), shape)
		l.keys = memory
		l.values = l.keys + driver.Pointer(l.keyBytes())
		memory = l.values + driver.Pointer(l.valueBytes())
		layers[i] = l
	}
	return layers
}

// newLayerCache returns how a cache of this shape stores the keys and values of layer l. They have no memory yet.
func newLayerCache(l compute.CacheLayer, shape compute.CacheShape) layerCache {
	c := layerCache{half: halfLayer(l, shape.Type), kvHeads: l.KVHeads, keyDim: l.KeyDim, valueDim: l.ValueDim, paddedDim: l.KeyDim}
	c.capacity = ceilDivide(shape.Tokens, keysPerSplit) * keysPerSplit
	if c.half {
		c.paddedDim = ceilDivide(l.KeyDim, 32) * 32
	}
	return c
}

// halfLayer reports whether a layer's keys and values are kept in half precision.
func halfLayer(l compute.CacheLayer, kept compute.DType) bool {
	return kept == compute.F16 && tilesOf(l.KeyDim, l.ValueDim) > 0
}

func (c *layerCache) numberBytes() int {
	if c.half {
		return 2
	}
	return 4
}

func (c *layerCache) keyBytes() int64 {
	return int64(c.kvHeads*c.paddedDim*c.numberBytes()) * int64(c.capacity)
}

func (c *layerCache) valueBytes() int64 {
	return int64(c.kvHeads*c.valueDim*c.numberBytes()) * int64(c.capacity)
}

// CheckCache refuses a storage type that attention cannot read, and states and float32 heads that are too
// wide.
func (b *Backend) CheckCache(shape compute.CacheShape) error {
	if shape.Type != compute.F32 && shape.Type != compute.F16 {
		return errors.New("the GPU keeps keys and values as f32 or f16, only the processor as q8_0: choose --cache f16 or --device cpu")
	}
	for i := range shape.Layers {
		switch l := shape.Layer(i); {
		case l.State.Heads > 0 && l.State.KeyDim > mostStateDim:
			return fmt.Errorf("layer %d has states with keys of %d numbers: the GPU computes at most %d: choose --device cpu: %w", i, l.State.KeyDim, mostStateDim, compute.ErrLacks)
		case l.KVHeads > 0 && !halfLayer(l, shape.Type) && l.KeyDim > mostFloatKeyDim:
			return fmt.Errorf("layer %d has keys of %d numbers for a head: the GPU attends to at most %d: choose --device cpu: %w", i, l.KeyDim, mostFloatKeyDim, compute.ErrLacks)
		}
	}
	return nil
}

// CacheBytes returns the size of a cache on the device, or −1 if it is above 2⁶² bytes.
func (b *Backend) CacheBytes(shape compute.CacheShape) int64 {
	const most = 1 << 62
	splits := shape.Tokens / keysPerSplit
	if shape.Tokens%keysPerSplit > 0 {
		splits++
	}
	one := shape // the same cache with one split, whose size cannot overflow
	one.Tokens = keysPerSplit
	_, states := statesAt(0, shape)
	sum := uint64(states) * uint64(stateCopies(shape))
	for i := range shape.Layers {
		l := newLayerCache(shape.Layer(i), one)
		high, low := bits.Mul64(uint64(l.keyBytes()+l.valueBytes()), uint64(splits))
		if high != 0 || low > most-sum {
			return -1
		}
		sum += low
	}
	return int64(sum)
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

func (c *cache) Bytes() int64 { return c.owner.CacheBytes(c.shape) }

func (c *cache) Close() error {
	if c.memory == 0 {
		return nil
	}
	c.owner.flush() // the tape may have steps that write to this memory
	memory := c.memory
	c.memory, c.length = 0, 0
	return c.owner.release(memory)
}

// KeyValue reads one token's key and value back to the host, widened to float32.
func (c *cache) KeyValue(layer, token int, key, value []float32) error {
	switch {
	case c.memory == 0:
		return fmt.Errorf("reading a closed cache")
	case layer < 0 || layer >= c.shape.Layers || token < 0 || token >= c.shape.Tokens:
		return fmt.Errorf("reading the cache at layer %d of %d, token %d of %d", layer, c.shape.Layers,
			token, c.shape.Tokens)
	}
	b, l := c.owner, c.shape.Layer(layer)
	keys, values := l.KeyNumbers(), l.ValueNumbers()
	require(len(key) == keys && len(value) == values, "KeyValue needs room for one row")
	if keys == 0 {
		return nil // the layer has no keys and values
	}
	require(int64(4*(keys+values)) <= b.scratch.attended.bytes, "KeyValue of a row larger than the scratch")
	to := b.scratch.attended.memory
	read, err := b.lower(nil, readBack{to, to + driver.Pointer(4*keys), c.layers[layer], token})
	if err != nil {
		return err
	}
	row := make([]float32, keys+values)
	err = b.onDevice(func() error {
		if err := b.runAll(read); err != nil {
			return err
		}
		return b.fetch(4*len(row), to, func(memory []byte) { toFloats(row, memory) })
	})
	if err != nil {
		return fmt.Errorf("reading the cache: %w", err)
	}
	copy(key, row)
	copy(value, row[keys:])
	return nil
}
