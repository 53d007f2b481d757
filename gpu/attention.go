package gpu

import (
	"errors"
	"fmt"
	"math/bits"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// keysPerSplit is how many keys one split of attention covers. Splits start at multiples of it, so
// the order of a sum depends only on the row's position. See kernels/cuda/src/attention.h.
const keysPerSplit = 256

// tensorHeads lists the head widths for which there is half-precision attention on tensor cores. The
// value is the number of tiles, of eight queries each, in a block of the kernel for many rows.
var tensorHeads = map[int]int{64: 4, 80: 4, 96: 4, 128: 4, 256: 2}

// mostFloatHeadDim is the widest head that attention over a float32 cache supports.
const mostFloatHeadDim = 256

// cache keeps the keys and values of one sequence on the device.
type cache struct {
	owner    *Backend
	shape    compute.CacheShape
	half     bool
	capacity int // in tokens: shape.Tokens rounded up to whole splits
	length   int
	memory   driver.Pointer // per layer: keys, then values; 0 when closed
}

// Cache reserves memory for all tokens of the shape. The cache has half precision if the shape asks for
// F16 and there is a tensor-core kernel for the head's width, else float32.
func (b *Backend) Cache(shape compute.CacheShape) (compute.Cache, error) {
	require(shape.Layers > 0 && shape.Tokens > 0 && shape.KVHeads > 0 && shape.HeadDim > 0,
		"a cache without layers, tokens or heads")
	if err := b.CheckCache(shape); err != nil {
		return nil, err
	}
	c := &cache{owner: b, shape: shape, half: halfCache(shape),
		capacity: ceilDivide(shape.Tokens, keysPerSplit) * keysPerSplit}
	bytes := b.CacheBytes(shape)
	if bytes < 0 {
		return nil, fmt.Errorf("%w: keys and values of %d tokens exceed every memory",
			compute.ErrOutOfMemory, shape.Tokens)
	}
	if err := b.growScratch(&b.scratch.attended, "attention",
		attentionBytes(shape, max(1, b.scratch.rows))); err != nil {
		return nil, err
	}
	var err error
	c.memory, err = b.alloc(fmt.Sprintf("keys and values of %d tokens", shape.Tokens), bytes)
	if err != nil {
		return nil, err
	}
	return c, nil
}

func halfCache(shape compute.CacheShape) bool {
	return shape.Type == compute.F16 && tensorHeads[shape.HeadDim] > 0
}

// CheckCache refuses a storage type that attention cannot read, layers or keys and values of unlike
// widths, and float32 heads that are too wide.
func (b *Backend) CheckCache(shape compute.CacheShape) error {
	switch {
	case shape.Type != compute.F32 && shape.Type != compute.F16:
		return errors.New("the GPU keeps keys and values as f32 or f16, only the processor as q8_0: choose --cache f16 or --device cpu")
	case shape.Each != nil:
		return fmt.Errorf("keys and values of unlike widths, or layers of unlike heads, which the GPU does not attend to yet: choose --device cpu: %w", compute.ErrLacks)
	case !halfCache(shape) && shape.HeadDim > mostFloatHeadDim:
		return fmt.Errorf("a cache with heads of %d numbers: the GPU attends to heads of up to %d",
			shape.HeadDim, mostFloatHeadDim)
	}
	return nil
}

// CacheBytes returns the size of a cache on the device, or −1 if it is above 2⁶² bytes.
func (b *Backend) CacheBytes(shape compute.CacheShape) int64 {
	perNumber := uint64(4)
	if halfCache(shape) {
		perNumber = 2
	}
	product := 2 * perNumber
	splits := (uint64(max(shape.Tokens, 0)) + keysPerSplit - 1) / keysPerSplit
	for _, factor := range []uint64{keysPerSplit, uint64(shape.Layers), splits, uint64(shape.KVHeads),
		uint64(paddedDim(shape))} {
		high, low := bits.Mul64(product, factor)
		if high != 0 || low > 1<<62 {
			return -1
		}
		product = low
	}
	return int64(product)
}

// paddedDim is the stored length of a key. In half precision it is rounded up to a multiple of 32.
func paddedDim(shape compute.CacheShape) int {
	if halfCache(shape) {
		return ceilDivide(shape.HeadDim, 32) * 32
	}
	return shape.HeadDim
}

// attentionBytes is the size of the scratch for the partial results of attention: one for each row,
// head and split, if 8 query heads read each key head. The scratch holds all rows of a pass if they
// fit into 64 MiB, else as many as fit, at least one.
func attentionBytes(shape compute.CacheShape, rows int) int64 {
	const most, sharing = 64 << 20, 8
	splits := roundUpToPower(ceilDivide(shape.Tokens, keysPerSplit))
	row := int64(sharing*shape.KVHeads) * int64(splits) * int64(shape.HeadDim+2) * 4
	return max(min(int64(rows)*row, most), row)
}

// ScratchBytes is the device memory that passes need besides their buffers: the scratch, and memory
// for choosing tokens, for distributions and for edited scores. buffers has the rows and columns of each.
func (b *Backend) ScratchBytes(buffers [][2]int, shape compute.CacheShape) int64 {
	var rounded, after, choosing int64
	most := 0
	for _, size := range buffers {
		rows, cols := size[0], size[1]
		rounded = max(rounded, roundedBytes(rows, cols))
		after = max(after, roundedBytes(min(rows, cuda.MostBeforeEpilogue), cols))
		sampled := min(rows, compute.MostDrafts+1)
		drawn := weighingBytes(sampled, cols) + cutBytes(sampled) // distributions of sampled rounds
		slices := int64(slicesOf(cols))
		choosing = max(choosing, int64(rows)*(8*slices+4)+16*slices+drawn+editingBytes(rows, cols))
		most = max(most, rows)
	}
	return rounded + after + choosing + attentionBytes(shape, most)
}

func roundUpToPower(n int) int { return 1 << bits.Len(uint(n-1)) }

// layer returns where one layer's keys and values are.
func (c *cache) layer(i int) layerCache {
	numberBytes := 4
	if c.half {
		numberBytes = 2
	}
	padded := paddedDim(c.shape)
	half := driver.Pointer(c.shape.KVHeads * c.capacity * padded * numberBytes)
	keys := c.memory + driver.Pointer(2*i)*half
	return layerCache{keys, keys + half, c.half, c.capacity, c.shape.KVHeads, c.shape.HeadDim, padded}
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
	b, size := c.owner, c.shape.KVHeads*c.shape.HeadDim
	require(len(key) == size && len(value) == size, "KeyValue needs room for one row")
	require(int64(8*size) <= b.scratch.attended.bytes, "KeyValue of a row larger than the scratch")
	to := b.scratch.attended.memory
	read, err := b.lower(nil, readBack{to, to + driver.Pointer(4*size), c.layer(layer), token})
	if err != nil {
		return err
	}
	row := make([]float32, 2*size)
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
	copy(value, row[size:])
	return nil
}

// Attend stores k and v after the tokens in the cache. Then each row attends to all earlier tokens and
// to itself; with a window, to the last a.Window of them.
func (b *Backend) Attend(dst, q, k, v compute.Buffer, m int, cc compute.Cache, a compute.Attention) error {
	c := cc.(*cache)
	size := c.shape.KVHeads * c.shape.HeadDim
	d, qb, kb, vb := rowsOf(dst, a.Row, m), rowsOf(q, a.Row, m), rowsOf(k, a.Row, m), rowsOf(v, a.Row, m)
	require(a.Position == c.length && c.memory != 0, "Attend at another position than the cache's length")
	require(qb.cols == a.Heads*a.HeadDim && d.cols == qb.cols && kb.cols == size && vb.cols == size,
		"Attend of widths that do not fit")
	require(a.HeadDim == c.shape.HeadDim && a.Heads%c.shape.KVHeads == 0, "Attend of heads that do not fit")
	if a.Position+m > c.shape.Tokens {
		return fmt.Errorf("attending to %d tokens: the cache has room for %d", a.Position+m, c.shape.Tokens)
	}
	var sinks driver.Pointer
	if a.Sinks != nil {
		require(a.Sinks.Len() == a.Heads, "Attend with another number of sinks")
		sinks = a.Sinks.(*vector).memory
	}
	position := b.positionOf(a.Row, a.Position)
	layer := c.layer(a.Layer)
	b.tape.append(store{layer, kb.row(a.Row), vb.row(a.Row), position, m})
	b.changed(d)
	// Launch for the next power of two of splits. The grid then seldom changes while the text
	// grows, and a captured graph stays valid.
	splits := roundUpToPower(ceilDivide(a.Position+m, keysPerSplit))
	row := int64(a.Heads*splits*(a.HeadDim+2)) * 4
	at := int(b.scratch.attended.bytes / row)
	require(at > 0, "attention without scratch")
	for from := 0; from < m; from += at {
		rows := min(at, m-from)
		sums := b.scratch.attended.memory
		part := partial{sums, sums + driver.Pointer(4*rows*a.Heads*splits*a.HeadDim), a.Heads, splits,
			a.HeadDim}
		b.tape.append(
			attend{part, qb.row(a.Row + from), layer, position, from, rows, a.Scale, a.Window, a.SoftCap, prepareHeads{}},
			combine{d.row(a.Row + from), part, position, from, rows, a.Window, sinks})
	}
	return nil
}
