package gpu

import (
	"fmt"
	"math/bits"

	"specula/engine/compute"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// keysPerSplit is how many keys one split of attention covers. Splits start at multiples of it, so the order
// in which a row's keys and values are summed depends only on the row's position. See
// kernels/cuda/src/attention.h.
const keysPerSplit = 256

// tensorHeads lists the head widths for which there is half-precision attention on tensor cores. For each width
// it has the number of tiles, of eight queries each, that a block of the kernel for many rows takes.
var tensorHeads = map[int]int{64: 4, 80: 4, 96: 4, 128: 4, 256: 2, 512: 2}

// tilesOf returns the number of tiles (see tensorHeads) for heads with these lengths of keys and values. With
// compressed keys the two lengths differ. 0: there is no attention on tensor cores for such heads.
func tilesOf(keyDim, valueDim int) int {
	switch {
	case keyDim == valueDim:
		return tensorHeads[keyDim]
	case keyDim == 576 && valueDim == 512:
		return 2
	}
	return 0
}

// mostFloatKeyDim is the widest key that attention over a float32 cache supports.
const mostFloatKeyDim = 576

// attentionBytes is the size of the scratch for the partial results of attention: one for each row,
// head and split. It is planned for the layer that needs the most, and for 8 query heads to each key
// head. The scratch holds all rows of a pass if they fit into 64 MiB, else as many as fit. It always
// holds at least one row with all its query heads.
func attentionBytes(shape compute.CacheShape, rows int) int64 {
	const most, sharing = 64 << 20, 8
	splits := roundUpToPower(ceilDivide(shape.Tokens, keysPerSplit))
	row, least := int64(0), int64(0)
	for i := range shape.Layers {
		l := shape.Layer(i)
		head := int64(splits) * int64(l.ValueDim+2) * floatBytes
		row = max(row, int64(sharing*l.KVHeads)*head)
		least = max(least, int64(shape.Heads)*head)
	}
	return max(min(int64(rows)*row, most), row, least)
}

// ScratchBytes is the device memory that passes need besides their buffers: the scratch, and memory
// for choosing tokens, for distributions, for edited scores and for masks. buffers has the rows and columns of
// each buffer.
func (b *Backend) ScratchBytes(buffers [][2]int, shape compute.CacheShape) int64 {
	var rounded, after, squares, choosing int64
	most := 0
	for _, size := range buffers {
		rows, cols := size[0], size[1]
		rounded = max(rounded, roundedBytes(rows, cols))
		after = max(after, roundedBytes(min(rows, cuda.MostGated), cols))
		squares = max(squares, squaresBytes(rows, cols))
		sampled := min(rows, compute.MostDrafts+1)
		// Distributions of the rows and of a draft, and the draft's scores for the screen.
		drawn := 2*weighingBytes(sampled, cols) + cutBytes(sampled) + floatBytes*int64(sampled)*int64(cols)
		slices := int64(slicesOf(cols))
		chosen := int64(rows)*(8*slices+4) + 16*int64(restRows(rows))*slices + rankingBytes(rows, cols)
		choosing = max(choosing, chosen+drawn+editingBytes(rows, cols)+maskBytes(sampled, cols))
		most = max(most, rows)
	}
	return rounded + after + squares + choosing + attentionBytes(shape, most)
}

func roundUpToPower(n int) int { return 1 << bits.Len(uint(n-1)) }

// Attend stores k and v, unless they are nil, after the tokens in the cache. Then each row attends to all
// earlier tokens and to itself; with a window, to the last a.Window of them.
func (b *Backend) Attend(dst, q, k, v compute.Buffer, m int, cc compute.Cache, a compute.Attention) error {
	c := inside(cc)
	require(a.Position == c.length && c.memory != 0, "Attend at another position than the cache's length")
	if a.Position+m > c.shape.Tokens {
		return fmt.Errorf("attending to %d tokens: the cache has room for %d", a.Position+m, c.shape.Tokens)
	}
	if k != nil {
		layer := c.layers[a.Layer]
		kb, vb := rowsOf(k, a.Row, m), rowsOf(v, a.Row, m)
		require(kb.cols == layer.kvHeads*layer.keyDim && vb.cols == layer.kvHeads*layer.valueDim, "Attend of keys or values that do not fit")
		b.tape.append(store{layer, kb.row(a.Row), vb.row(a.Row), b.positionOf(a.Row, a.Position), m})
	}
	b.attend(dst, q, m, c.layers[a.Layer], a)
	return nil
}

// attend lets m rows, of which the first stands at a.Position, attend to the stored keys and values of a layer.
// Each row attends to those up to its own position.
func (b *Backend) attend(dst, q compute.Buffer, m int, layer layerCache, a compute.Attention) {
	d, qb := rowsOf(dst, a.Row, m), rowsOf(q, a.Row, m)
	require(layer.kvHeads > 0 && a.HeadDim == layer.keyDim && a.Heads%layer.kvHeads == 0, "Attend of heads that do not fit")
	require(qb.cols == a.Heads*a.HeadDim && d.cols == a.Heads*layer.valueDim, "Attend of widths that do not fit")
	var sinks driver.Pointer
	if a.Sinks != nil {
		require(a.Sinks.Len() == a.Heads, "Attend with another number of sinks")
		sinks = a.Sinks.(*vector).memory
	}
	position := b.positionOf(a.Row, a.Position)
	b.changed(d)
	// Launch with the number of splits rounded up to a power of two. The grid then seldom changes while
	// the text grows, and a captured graph stays valid.
	splits := roundUpToPower(ceilDivide(a.Position+m, keysPerSplit))
	row := int64(a.Heads*splits*(layer.valueDim+2)) * 4
	at := int(b.scratch.attended.bytes / row)
	require(at > 0, "attention without scratch")
	for from := 0; from < m; from += at {
		rows := min(at, m-from)
		sums := b.scratch.attended.memory
		part := partial{sums, sums + driver.Pointer(4*rows*a.Heads*splits*layer.valueDim), a.Heads, splits,
			layer.valueDim}
		b.tape.append(
			attend{part: part, q: qb.row(a.Row + from), cache: layer, position: position, from: from, rows: rows, scale: a.Scale,
				window: a.Window, limit: a.SoftCap}.narrowed(b.info.Multiprocessors),
			combine{d.row(a.Row + from), part, position, from, rows, a.Window, sinks})
	}
}
