package gpu

import (
	"reflect"
	"slices"
	"testing"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

func TestProductsGoOnWithTheirResults(t *testing.T) {
	const rows, wide, narrow, eps = 2, 2048, 512, 1e-5
	memory := epilogueMemory{arrived: 1 << 30, usual: 1 << 31, other: 1 << 32}
	weight := func(f *cuda.Format, rows, cols int) *matrix { return &matrix{rows: rows, cols: cols, format: f} }
	operandOf := func(f *cuda.Format, cols int) operand { return operand{f, memory.usual, atNormed, rows, cols} }
	from := func(place driver.Pointer, dst driver.Pointer, w *matrix) product {
		return product{dst: dst, activations: place, rows: rows, weight: w}
	}
	gateUp := products{from(memory.usual, atQ, weight(cuda.Q8_0, wide, narrow)), from(memory.usual, atK, weight(cuda.Q8_0, wide, narrow))}
	down := func(place driver.Pointer) products {
		return products{from(place, atV, weight(cuda.Q8_0, narrow, wide))}
	}
	gated := swiGLUOperand{operandOf(cuda.Q8_0, wide), swiGLU{atQ, atK, rows * wide}}
	sum := normOperand{operandOf(cuda.Q8_0, narrow), addNorm{atV, norm{atNormed, atX, atWeight, rows, narrow, eps}}}
	after := epilogue{kind: cuda.SwiGLUEpilogue, arrived: memory.arrived, to: memory.other, slabs: wide / 128}
	last := epilogue{cuda.NormEpilogue, memory.arrived, memory.usual, narrow / 128, atX, atWeight, eps, 128}

	layer := []operation{gateUp, gated, down(memory.usual)[0], sum, down(memory.usual)}
	want := []operation{productsThen{gateUp, after}, productsThen{down(memory.other), last}, down(memory.usual)}
	if got := joinEpilogues(layer, memory); !reflect.DeepEqual(got, want) {
		t.Errorf("a layer became %+v\nwant %+v", got, want)
	}
	// Rows that a separate kernel writes are in the usual place again.
	again := []operation{gateUp, gated, down(memory.usual), convert{format: cuda.Q8_0, dst: memory.usual}, down(memory.usual)}
	want = []operation{productsThen{gateUp, after}, down(memory.other), convert{format: cuda.Q8_0, dst: memory.usual}, down(memory.usual)}
	if got := joinEpilogues(again, memory); !reflect.DeepEqual(got, want) {
		t.Errorf("with rows converted after it, it became %+v\nwant %+v", got, want)
	}

	ofGated, ofSum := func(change func(*swiGLUOperand)) operation { o := gated; change(&o); return o }, func(change func(*normOperand)) operation {
		o := sum
		change(&o)
		return o
	}
	ofExperts := slices.Clone(gateUp)
	ofExperts[0].by.slots = rows // one expert for each row
	for name, c := range map[string]struct {
		products products
		then     operation
	}{
		"gate and up exchanged":      {gateUp, ofGated(func(o *swiGLUOperand) { o.gate, o.up = o.up, o.gate })},
		"gate of another product":    {gateUp, ofGated(func(o *swiGLUOperand) { o.gate = atOther })},
		"more rows gated":            {gateUp, ofGated(func(o *swiGLUOperand) { o.n += wide })},
		"operand of another form":    {gateUp, ofGated(func(o *swiGLUOperand) { o.to.format = cuda.BFloat16 })},
		"one product":                {gateUp[:1], gated},
		"products of experts":        {ofExperts, gated},
		"gate and up of other sizes": {products{gateUp[0], from(memory.usual, atK, weight(cuda.Q8_0, narrow, narrow))}, gated},
		"a norm of other rows":       {down(memory.usual), ofSum(func(o *normOperand) { o.y = atOther })},
		"a norm without a sum":       {down(memory.usual), ofSum(func(o *normOperand) { o.y = 0 })},
		"a norm of two products":     {gateUp, ofSum(func(o *normOperand) { o.y, o.length = atQ, wide })},
		"a norm of fewer rows":       {down(memory.usual), ofSum(func(o *normOperand) { o.groups-- })},
	} {
		want := []operation{c.products, c.then}
		if got := joinEpilogues([]operation{c.products, c.then}, memory); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: became %+v", name, got)
		}
	}
	many := down(memory.usual)
	many[0].rows = mostNormed/narrow + 1
	long := sum
	long.groups = many[0].rows
	if got := joinEpilogues([]operation{many, long}, memory); len(got) != 2 {
		t.Errorf("a norm that is too long for one block became %+v", got)
	}
}

func TestAttentionCombinesItsSplits(t *testing.T) {
	memory := epilogueMemory{arrived: 1 << 30, usual: 1 << 31, other: 1 << 32}
	part := partial{sums: 1 << 20, stats: 1 << 21, heads: 8, splits: 2, headDim: 128}
	attention := attend{part: part, q: atQ, cache: layerCache{half: true, kvHeads: 4, keyDim: 128, valueDim: 128}, position: 1 << 22, rows: 4, window: 9}
	sums := combineOperand{operand{cuda.Q8_0, memory.usual, atX, 4, 1024}, combine{atX, part, attention.position, 0, 4, 9, 0}}
	want := []operation{attendThen{attention, sums, memory.arrived}}
	if got := joinEpilogues([]operation{attention, sums}, memory); !reflect.DeepEqual(got, want) {
		t.Errorf("attention became %+v\nwant %+v", got, want)
	}
	ofAttention := func(change func(*attend)) attend { a := attention; change(&a); return a }
	ofSums := func(change func(*combineOperand)) combineOperand { c := sums; change(&c); return c }
	for name, c := range map[string][]operation{
		"a float32 cache":       {ofAttention(func(a *attend) { a.cache.half = false }), sums},
		"heads of broken width": {ofAttention(func(a *attend) { a.part.headDim = 80 }), ofSums(func(c *combineOperand) { c.part.headDim = 80 })},
		"many rows":             {ofAttention(func(a *attend) { a.rows = 5 }), ofSums(func(c *combineOperand) { c.rows = 5 })},
		"sums of another place": {attention, ofSums(func(c *combineOperand) { c.part.sums = 1 << 23 })},
		"other rows":            {attention, ofSums(func(c *combineOperand) { c.from = 1 })},
		"too few counters": {ofAttention(func(a *attend) { a.part.heads, a.cache.kvHeads = mostArrivals+1, mostArrivals+1 }),
			ofSums(func(c *combineOperand) { c.part.heads = mostArrivals + 1 })},
		"another window": {attention, ofSums(func(c *combineOperand) { c.window = 8 })},
	} {
		if got := joinEpilogues(slices.Clone(c), memory); !reflect.DeepEqual(got, c) {
			t.Errorf("%s: became %+v", name, got)
		}
	}
}
