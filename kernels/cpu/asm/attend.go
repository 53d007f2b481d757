package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

const (
	keysPerBlock = 16  // keys in a block of the cache; see kernels/cpu
	keysPerSplit = 256 // the distance, in numbers, between the scores of two queries
	// keysAhead is how many tokens ahead values are prefetched. Keys are prefetched as many blocks
	// ahead as are computed together. The processor's own prefetching stops at the end of a page,
	// which holds just one block of 16 keys in F16 with a head size of 128.
	keysAhead = 32

	blockQ8_0      = 32 // numbers that share a scale
	scaleBytes     = 2  // for the half-precision scale of a block of Q8_0
	blockBytesQ8_0 = scaleBytes + blockQ8_0
)

// attend generates the two products of attention, of queries with keys and of weights with values, for AVX2
// and AVX-512, over a cache in float32, half precision or Q8_0. There are kernels for one, two or four
// queries that see the same keys; with AVX-512 also for eight. A kernel reads a number of the cache once for
// all queries. The order of a query's additions does not depend on the number of queries.
func attend(c *build.Context) {
	for _, level := range []struct {
		name      string
		lanes     int
		registers int
		queries   []int
	}{{"AVX2", 8, 8, []int{1, 2, 4}}, {"AVX512", 16, 16, []int{1, 2, 4, 8}}} {
		for _, number := range []struct {
			name  string
			typ   string
			bytes int
		}{{"F32", "float32", 4}, {"F16", "uint16", 2}, {"Q8_0", "byte", 1}} {
			for _, queries := range level.queries {
				a := &attention{
					Context: c, lanes: level.lanes, bytes: number.bytes, queries: queries, registers: level.registers,
					suffix: fmt.Sprint(number.name, "x", queries, level.name), typ: number.typ, quantized: number.bytes == 1,
				}
				a.scores()
				if a.quantized {
					a.quantizedValues()
				} else {
					a.values()
				}
			}
		}
	}
}

// attention is a combination of level, number type of the cache, and number of queries.
type attention struct {
	*build.Context
	lanes     int // numbers per register
	bytes     int // per number in the cache
	queries   int
	registers int // how many registers may hold sums
	suffix    string
	typ       string
	quantized bool // the cache has blocks of 32 numbers, each with a scale before it
}

func (a *attention) vec() reg.VecVirtual {
	if a.lanes == 16 {
		return a.ZMM()
	}
	return a.YMM()
}

func (a *attention) vecs(n int) []reg.VecVirtual {
	v := make([]reg.VecVirtual, n)
	for i := range v {
		v[i] = a.vec()
	}
	return v
}

// function starts a function, without code that loads its arguments.
func (a *attention) function(name, signature, doc string) {
	a.Function(name + a.suffix)
	a.Attributes(build.NOSPLIT)
	a.SignatureExpr(fmt.Sprintf(signature, a.queries, a.typ))
	a.Pragma("noescape")
	a.Doc(name + a.suffix + doc)
}

func (a *attention) argument(name string) reg.Register { return a.Load(a.Param(name), a.GP64()) }

// memory returns where a scalar argument is in memory.
func (a *attention) memory(name string) Mem {
	b, err := a.Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// read loads numbers of the cache to a register; scale is the scale of quantized numbers. A quant has
// 7 bits and a scale has 11, so their product is exact.
func (a *attention) read(m Mem, scale, to reg.VecVirtual) {
	switch {
	case a.quantized:
		a.VPMOVSXBD(m, to)
		a.VCVTDQ2PS(to, to)
		a.VMULPS(scale, to, to)
	case a.bytes == 2:
		a.VCVTPH2PS(m, to)
	default:
		a.VMOVUPS(m, to)
	}
}

// addProduct adds x·y to sum, and rounds both the product and the sum.
func (a *attention) addProduct(x, y, sum reg.VecVirtual) {
	t := a.vec()
	a.VMULPS(x, y, t)
	a.VADDPS(t, sum, sum)
}

// repeat generates a loop that runs body while count is at least step, and subtracts step each time.
func (a *attention) repeat(name string, count Op, step int, body func()) {
	a.JMP(LabelRef(name + "Check"))
	a.Label(name)
	body()
	a.SUBQ(U32(step), count)
	a.Label(name + "Check")
	a.CMPQ(count, U32(step))
	a.JGE(LabelRef(name))
}

// pointers loads the pointers of an array.
func (a *attention) pointers(array reg.Register) []reg.Register {
	p := make([]reg.Register, a.queries)
	for i := range p {
		p[i] = a.GP64()
		a.MOVQ(Mem{Base: array, Disp: 8 * i}, p[i])
	}
	return p
}

func (a *attention) scores() {
	doc := " is for i := range 16*blocks { dst[256*j+i] = scale * Σ q[j][d]·keys[i/16*16*headDim + 16*d + i%16] }, summed over ascending d."
	if a.quantized {
		doc += " In front of 32·16 quants there are the scales of 16 keys."
	}
	a.function("scoreKeys", "func(dst *float32, q *[%d]*float32, keys *%s, headDim, blocks int, scale float32)", doc)
	s := scoring{queries: a.pointers(a.argument("q")), keys: a.argument("keys"), scale: a.vec(), blockBytes: a.argument("headDim")}
	a.VBROADCASTSS(a.memory("scale"), s.scale)
	if a.quantized {
		a.IMUL3Q(U32(keysPerBlock*blockBytesQ8_0/blockQ8_0), s.blockBytes, s.blockBytes)
	} else {
		a.IMUL3Q(U32(keysPerBlock*a.bytes), s.blockBytes, s.blockBytes)
	}
	parts := keysPerBlock / a.lanes // registers per block
	together := min(4, max(1, a.registers/2/parts/a.queries))
	if a.queries == 8 {
		together = 2 // so that each number of a query, once loaded, serves two blocks
	}
	s.sums = a.vecs(a.queries * together * parts)
	a.scoreBlocks("blocks", together, s)
	if together > 1 {
		a.scoreBlocks("block", 1, s)
	}
	a.VZEROUPPER()
	a.RET()
}

// scoring holds the registers of scoreKeys. The arguments dst, headDim and blocks stay in memory,
// because eight queries leave no registers for them.
type scoring struct {
	keys, blockBytes reg.Register
	queries          []reg.Register
	scale            reg.VecVirtual
	sums             []reg.VecVirtual // of all queries
}

// scoreBlocks computes n blocks at a time.
func (a *attention) scoreBlocks(name string, n int, r scoring) {
	parts := keysPerBlock / a.lanes
	a.repeat(name, a.memory("blocks"), n, func() {
		at := make([]reg.Register, n) // addresses of the next number in each of the n blocks
		sums := make([][]reg.VecVirtual, a.queries)
		for i := range at {
			at[i] = a.GP64()
			if i == 0 {
				a.MOVQ(r.keys, at[i])
			} else {
				a.LEAQ(Mem{Base: at[i-1], Index: r.blockBytes, Scale: 1}, at[i])
			}
		}
		for j := range sums {
			sums[j] = r.sums[n*parts*j : n*parts*(j+1)]
			for _, s := range sums[j] {
				a.VXORPS(s.AsY(), s.AsY(), s.AsY())
			}
		}
		d, ahead := a.GP64(), r.blockBytes
		if n > 1 {
			ahead = a.GP64()
			a.IMUL3Q(U32(uint32(n)), r.blockBytes, ahead)
		}
		a.XORQ(d, d)
		a.JMP(LabelRef(name + "NumberCheck"))
		a.Label(name + "Number")
		scales := make([]reg.VecVirtual, n*parts)
		if a.quantized {
			a.keyScales(name, d, at, scales)
		}
		factors := a.vecs(a.queries)
		for j, q := range r.queries {
			a.VBROADCASTSS(Mem{Base: q, Index: d, Scale: 4}, factors[j])
		}
		for i := range n * parts {
			key := a.vec()
			a.read(Mem{Base: at[i/parts], Disp: i % parts * a.lanes * a.bytes}, scales[i], key)
			for j := range sums {
				a.addProduct(key, factors[j], sums[j][i])
			}
		}
		for _, p := range at {
			a.PREFETCHT0(Mem{Base: p, Index: ahead, Scale: 1})
			a.ADDQ(U32(keysPerBlock*a.bytes), p)
		}
		a.INCQ(d)
		a.Label(name + "NumberCheck")
		a.CMPQ(d, a.memory("headDim"))
		a.JL(LabelRef(name + "Number"))
		a.MOVQ(at[n-1], r.keys) // this address has moved on to the next block
		dst := a.GP64()
		a.MOVQ(a.memory("dst"), dst)
		for j := range sums {
			for i, s := range sums[j] {
				a.VMULPS(r.scale, s, s)
				a.VMOVUPS(s, Mem{Base: dst, Disp: 4 * (j*keysPerSplit + a.lanes*i)})
			}
		}
		a.ADDQ(U32(4*keysPerBlock*n), a.memory("dst"))
	})
}

// keyScales emits code for the beginning of each tile, where d is a multiple of 32: it loads the
// scales of 16 keys at each address, and moves the addresses on to the quants.
func (a *attention) keyScales(name string, d reg.Register, at []reg.Register, scales []reg.VecVirtual) {
	copy(scales, a.vecs(len(scales)))
	a.TESTQ(U32(blockQ8_0-1), d)
	a.JNZ(LabelRef(name + "Scaled"))
	parts := len(scales) / len(at)
	for i, s := range scales {
		a.VCVTPH2PS(Mem{Base: at[i/parts], Disp: i % parts * a.lanes * scaleBytes}, s)
	}
	for _, p := range at {
		a.ADDQ(U32(keysPerBlock*scaleBytes), p)
	}
	a.Label(name + "Scaled")
}

func (a *attention) values() {
	a.function("sumValues", "func(dst *[%d]*float32, values *%s, weights *float32, keys, stride, cols int)",
		" is for d := range cols { dst[j][d] += Σ weights[256*j+i]·values[i*stride+d] }, one after the other over 0 ≤ i < keys, cols a multiple of 16.")
	r := a.weighing("stride")
	cols := a.argument("cols")
	a.IMUL3Q(U32(a.bytes), r.strideBytes, r.strideBytes)
	together := min(4, a.registers/a.queries)
	for _, n := range []int{together, 1} {
		name := []string{"", "column", "columns", "", "columns"}[n]
		a.repeat(name, cols, n*a.lanes, func() {
			a.sumColumns(name, n, 0, r)
			a.ADDQ(U32(n*a.lanes*a.bytes), r.values)
		})
	}
	a.VZEROUPPER()
	a.RET()
}

// quantizedValues writes sumValues for Q8_0, one block of columns after the other. A block takes
// several steps if its sums need too many registers.
func (a *attention) quantizedValues() {
	a.function("sumValues", "func(dst *[%d]*float32, values *%s, weights *float32, keys, headDim int)",
		" is for d := range headDim { dst[j][d] += Σ weights[256*j+i]·values[i*headDim+d] }, one after the other over 0 ≤ i < keys, where the values"+
			" of a key are headDim/32 blocks of Q8_0.")
	r := a.weighing("headDim")
	headDim := a.argument("headDim")
	a.IMUL3Q(U32(blockBytesQ8_0), r.strideBytes, r.strideBytes)
	a.SHRQ(U8(5), r.strideBytes)
	together := min(blockQ8_0/a.lanes, a.registers/a.queries)
	a.repeat("block", headDim, blockQ8_0, func() {
		for first := 0; first < blockQ8_0; first += together * a.lanes {
			a.sumColumns(fmt.Sprint("columns", first), together, scaleBytes+first, r)
		}
		a.ADDQ(U32(blockBytesQ8_0), r.values)
	})
	a.VZEROUPPER()
	a.RET()
}

// weighing holds the registers of sumValues.
type weighing struct {
	dst                   reg.Register // address of the array of pointers to results
	done                  reg.Register // bytes of each result that are done
	values, weights, keys reg.Register
	strideBytes           reg.Register
}

// weighing loads the arguments that sumValues has for every type. strideBytes begins as the argument
// named stride; the caller converts it to bytes.
func (a *attention) weighing(stride string) weighing {
	r := weighing{
		dst: a.argument("dst"), done: a.GP64(),
		values: a.argument("values"), weights: a.argument("weights"), keys: a.argument("keys"), strideBytes: a.argument(stride),
	}
	a.XORQ(r.done, r.done)
	return r
}

// eachSum calls move for the sums of every query and their places in dst.
func (a *attention) eachSum(sums [][]reg.VecVirtual, r weighing, move func(sum reg.VecVirtual, at Mem)) {
	for j := range sums {
		row := a.GP64()
		a.MOVQ(Mem{Base: r.dst, Disp: 8 * j}, row)
		for i, s := range sums[j] {
			move(s, Mem{Base: row, Index: r.done, Scale: 1, Disp: 4 * a.lanes * i})
		}
	}
}

// sumColumns computes n registers of columns for every query. at is the offset in bytes from values
// to the columns of the first token.
func (a *attention) sumColumns(name string, n, at int, r weighing) {
	sums := make([][]reg.VecVirtual, a.queries)
	for j := range sums {
		sums[j] = a.vecs(n)
	}
	a.eachSum(sums, r, func(sum reg.VecVirtual, at Mem) { a.VMOVUPS(at, sum) })
	value, i, ahead := a.GP64(), a.GP64(), a.GP64()
	a.MOVQ(r.values, value)
	a.IMUL3Q(U32(keysAhead), r.strideBytes, ahead)
	a.XORQ(i, i)
	a.JMP(LabelRef(name + "KeyCheck"))
	a.Label(name + "Key")
	factors := a.vecs(a.queries)
	for j := range factors {
		a.VBROADCASTSS(Mem{Base: r.weights, Index: i, Scale: 4, Disp: 4 * j * keysPerSplit}, factors[j])
	}
	scale := a.valueScale(value)
	for k := range n {
		v := a.vec()
		a.read(Mem{Base: value, Disp: at + k*a.lanes*a.bytes}, scale, v)
		for j := range sums {
			a.addProduct(v, factors[j], sums[j][k])
		}
	}
	for line := 0; line < n*a.lanes*a.bytes; line += 64 {
		a.PREFETCHT0(Mem{Base: value, Index: ahead, Scale: 1, Disp: line})
	}
	a.ADDQ(r.strideBytes, value)
	a.INCQ(i)
	a.Label(name + "KeyCheck")
	a.CMPQ(i, r.keys)
	a.JL(LabelRef(name + "Key"))
	a.eachSum(sums, r, func(sum reg.VecVirtual, at Mem) { a.VMOVUPS(sum, at) })
	a.ADDQ(U32(4*a.lanes*n), r.done)
}

// valueScale loads the scale of a block to all lanes of a register, and returns the register. For
// numbers that are not quantized it returns nil.
func (a *attention) valueScale(block reg.Register) reg.VecVirtual {
	if !a.quantized {
		return nil
	}
	scale := a.vec()
	if a.lanes == 16 {
		a.VPBROADCASTW(Mem{Base: block}, scale.AsY())
		a.VCVTPH2PS(scale.AsY(), scale)
	} else {
		a.VPBROADCASTW(Mem{Base: block}, scale.AsX())
		a.VCVTPH2PS(scale.AsX(), scale)
	}
	return scale
}
