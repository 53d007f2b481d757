package gpu

import (
	"fmt"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// The operations on heads: all that happens between the products of q, k and v and the output product
// of attention.

// layerCache says where the keys and values of one layer lie, and in which form.
type layerCache struct {
	keys, values     driver.Pointer // half precision, or float32
	half             bool
	capacity         int // in tokens
	kvHeads          int // 0: the layer has no keys and values
	keyDim, valueDim int
	paddedDim        int // the stored length of a key
}

// named adds the number type of the cache to the name of a kernel that exists for both types.
func (c *layerCache) named(kernel string) string {
	if c.half {
		return kernel + "_half"
	}
	return kernel + "_float"
}

// angles says by how much heads are rotated. The rotations of q and k in one layer have the same angles.
type angles struct {
	cos, sin driver.Pointer // (positions, dim/2)
	position driver.Pointer // int32: the position of the first row
	dim      int            // how many numbers of a head are rotated
	neoX     bool           // pairs are dim/2 apart, not neighbours
}

// rotate turns the heads of rows by the angles of their positions.
type rotate struct {
	x              driver.Pointer // (rows, heads·headDim)
	rows           int
	heads, headDim int
	by             angles
}

func (o rotate) launch() launch {
	return launchOf("rope", strided(o.heads*o.by.dim/2, o.rows), address(o.x), address(o.by.cos),
		address(o.by.sin),
		address(o.by.position), whole(0), whole(o.heads), whole(o.headDim), whole(o.by.dim), flag(o.by.neoX))
}

// store appends rows of k and v to the cache.
type store struct {
	cache    layerCache
	k, v     driver.Pointer // (rows, kvHeads·keyDim) and (rows, kvHeads·valueDim)
	position driver.Pointer // int32: the position of the first row
	rows     int
}

func (o store) launch() launch {
	c := &o.cache
	return launchOf(c.named("append"), strided(c.kvHeads*max(c.paddedDim, c.valueDim), o.rows), address(c.keys),
		address(c.values), address(o.k), address(o.v),
		address(o.position), whole(0), whole(c.kvHeads), whole(c.keyDim), whole(c.valueDim), whole(c.capacity))
}

// prepareHeads normalises and rotates q in place. It stores v and the normalised and rotated k in the
// cache, and leaves the buffer of k unchanged.
type prepareHeads struct {
	q            rotate
	qNorm, kNorm driver.Pointer // (headDim); 0: no norm
	eps          float32
	store
}

func (o prepareHeads) launch() launch {
	c, by := &o.cache, &o.q.by
	return launchOf(c.named("prepare_heads"), warpEach(o.q.heads+2*c.kvHeads, o.rows),
		address(o.q.x), address(o.k), address(o.v), address(c.keys), address(c.values),
		address(o.qNorm), address(o.kNorm), address(by.cos), address(by.sin), address(o.position), whole(0),
		whole(o.q.heads), whole(c.kvHeads), whole(c.keyDim), whole(by.dim), flag(by.neoX), whole(c.capacity), real(o.eps))
}

// attend computes the partial results of attention: one for each row, head and split of the keys.
type attend struct {
	part     partial
	q        driver.Pointer // (rows, heads·keyDim)
	cache    layerCache
	position driver.Pointer // int32: the position of the first row that Attend was given
	from     int            // rows that Attend was given before these
	rows     int
	scale    float32
	window   int     // 0: none
	limit    float32 // soft cap of the scores; 0: none
	// fresh is the work on the heads of the row, if attention does it, too; else empty. Only the half-precision
	// kernels for few queries can do it, for one row (joinAttention).
	fresh prepareHeads
	ahead weightsAhead // weights that extra blocks fetch (fetchAhead)
	// narrow means that a block takes at most mostColumns queries, even if there are more. Then keys are read more
	// often, but the work is spread over more blocks.
	narrow bool
}

// mostColumns is how many queries a block of the kernel for few queries takes: rows, times the query heads that read
// one key head.
const mostColumns = 8

// sharing is the number of query heads that read one key head.
func (o attend) sharing() int { return o.part.heads / o.cache.kvHeads }

// columns is the number of queries that read one key head.
func (o attend) columns() int { return o.rows * o.sharing() }

// inverse is 2³¹ / sharing, rounded up: kernels divide by sharing with it.
func inverse(sharing int) int { return (1<<31 + sharing - 1) / sharing }

// partial is the scratch for the partial results of some rows: sums has the weighted sums of values,
// stats the largest scores and the sums of weights.
type partial struct {
	sums, stats            driver.Pointer // (rows, heads, splits, headDim) and (rows, heads, splits, 2)
	heads, splits, headDim int            // headDim is that of a value
}

// columnsOfBlock is how many of the queries of a key head a block takes.
func (o attend) columnsOfBlock() int {
	c := &o.cache
	if !c.half || c.keyDim == c.valueDim && (o.columns() <= mostColumns || o.narrow) {
		return mostColumns
	}
	return mostColumns * tilesOf(c.keyDim, c.valueDim)
}

// narrowed lets blocks take at most mostColumns queries if the device runs all of these blocks at once. A block is a
// chain of steps that wait for each other, and with several tiles the chain is longer: on an H200, three tiles of 8B
// took 14.8 µs, one took 10.1 with its heads and its combination.
func (o attend) narrowed(multiprocessors int) attend {
	// By their registers, a multiprocessor runs two such blocks at once, of wider heads one.
	atOnce := multiprocessors
	if o.cache.keyDim <= 128 {
		atOnce = 2 * multiprocessors
	}
	o.narrow = o.part.splits*o.cache.kvHeads*ceilDivide(o.columns(), mostColumns) <= atOnce
	return o
}

func (o attend) launch() launch { return o.then(combineOperand{}, 0) }

// then returns the launch of attention. If combined is not empty, the block of each key head that finishes
// last also does the work of combined; arrived are counters of finished blocks.
func (o attend) then(combined combineOperand, arrived driver.Pointer) launch {
	c, p, perBlock := &o.cache, &o.part, o.columnsOfBlock()
	arguments := []driver.Argument{
		address(p.sums), address(p.stats), address(o.q), address(c.keys), address(c.values),
		address(o.position),
		whole(o.from), whole(o.rows), whole(c.kvHeads), whole(o.sharing()), whole(inverse(o.sharing())),
	}
	name := "attend_float"
	if c.half { // the name says the width of a key; for values of another width there is only the kernel for many queries
		name = fmt.Sprintf("attend_half_%d", c.keyDim)
		if perBlock > mostColumns {
			name += "_wide"
		}
	} else {
		arguments = append(arguments, whole(c.keyDim), whole(c.valueDim))
	}
	arguments = append(arguments, whole(c.capacity), real(o.scale), whole(o.window), real(o.limit))
	if f := combined.to.format; f != nil {
		arguments = append(arguments, whole(f.OperandForm()), address(arrived), address(combined.to.dst), combined.to.slabs(), address(combined.sinks))
	} else if c.half {
		arguments = append(arguments, whole(cuda.NoOperand), address(0), address(0), whole(0), address(0))
	}
	if c.half && perBlock == mostColumns {
		f := &o.fresh
		by := &f.q.by
		arguments = append(arguments, address(f.k), address(f.v), address(f.qNorm), address(f.kNorm), address(by.cos), address(by.sin),
			whole(by.dim), flag(by.neoX), real(f.eps))
	}
	if c.half {
		for _, r := range o.ahead.ranges {
			arguments = append(arguments, address(r.from), whole(r.bytes))
		}
	}
	return launchOf(name, driver.Shape{Grid: [3]int{p.splits, c.kvHeads + o.ahead.blocks, ceilDivide(o.columns(), perBlock)},
		Block: [3]int{keysPerSplit}}, arguments...)
}

// combine computes the results of attention from the partial results.
type combine struct {
	dst      driver.Pointer // (rows, heads·headDim)
	part     partial
	position driver.Pointer // as in attend
	from     int
	rows     int
	window   int
	sinks    driver.Pointer // (heads): scores of one more key, whose value is 0; 0: none
}

func (o combine) launch() launch {
	p := &o.part
	return launchOf("combine_splits", driver.Shape{Grid: [3]int{p.heads, o.rows},
		Block: [3]int{min(threadsPerBlock, ceilDivide(p.headDim, 32)*32)}},
		address(o.dst), address(p.sums), address(p.stats), address(o.position), whole(o.from), whole(p.heads), whole(p.headDim), whole(p.splits), whole(o.window),
		address(o.sinks))
}

// readBack widens the key and the value of one token to float32.
type readBack struct {
	key, value driver.Pointer // (kvHeads·keyDim) and (kvHeads·valueDim)
	cache      layerCache
	token      int
}

func (o readBack) launch() launch {
	c := &o.cache
	return launchOf(c.named("read"), strided(c.kvHeads*max(c.keyDim, c.valueDim), 0), address(o.key), address(o.value),
		address(c.keys), address(c.values),
		whole(o.token), whole(c.kvHeads), whole(c.keyDim), whole(c.valueDim), whole(c.capacity))
}
