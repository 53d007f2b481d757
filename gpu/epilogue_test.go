package gpu

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"specula/engine/compute"
	"specula/engine/model"
	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// layerOf is the work of a network of Q8_0 with `rows` rows: gate and up, SwiGLU, down, norm, q. The operands
// lie at memory.usual.
type layerOf struct {
	memory       epilogueMemory
	rows         int
	gateUp, down products
	gated        swiGLUOperand
	sum          normOperand
	q            products
}

const wideLayer, narrowLayer, epsOfLayer = 2048, 512, 1e-5

func newLayer(rows int) layerOf {
	l := layerOf{memory: epilogueMemory{arrived: 1 << 30, usual: 1 << 31, other: 1 << 32, squares: 1 << 33}, rows: rows}
	l.gateUp = products{l.product(atQ, wideLayer, narrowLayer), l.product(atK, wideLayer, narrowLayer)}
	l.down = products{l.product(atV, narrowLayer, wideLayer)}
	l.q = products{l.product(atQ, narrowLayer, narrowLayer)}
	l.gated = swiGLUOperand{l.operand(cuda.Q8_0, wideLayer), swiGLU{atQ, atK, rows * wideLayer}}
	l.sum = normOperand{l.operand(cuda.Q8_0, narrowLayer), addNorm{atV, norm{atNormed, atX, atWeight, rows, narrowLayer, epsOfLayer}}}
	return l
}

func (l *layerOf) product(dst driver.Pointer, rows, cols int) product {
	return product{dst: dst, activations: l.memory.usual, rows: l.rows, weight: &matrix{rows: rows, cols: cols, format: cuda.Q8_0}}
}

func (l *layerOf) operand(f *cuda.Format, cols int) operand {
	return operand{f, l.memory.usual, atNormed, l.rows, cols}
}

// stream is the residual stream of the layer; norm is 0 for a product that adds to it.
func (l *layerOf) stream(norm driver.Pointer) stream {
	s := stream{rows: atX, squares: l.memory.squares, norm: norm, cols: narrowLayer}
	if norm != 0 {
		s.eps = epsOfLayer
	}
	return s
}

func TestProductsGoOnWithTheirResults(t *testing.T) {
	for _, rows := range []int{1, 2, 16} {
		l := newLayer(rows)
		gated := epilogue{cuda.SwiGLUEpilogue, l.memory.other, wideLayer / 128}
		adds := productsThen{l.down.reading(l.memory.usual, l.memory.other), epilogue{kind: cuda.SumEpilogue}, l.stream(0)}
		want := []operation{productsThen{l.gateUp, gated, stream{}}, adds, normSummed{l.sum.to, l.stream(atWeight)}, l.q}
		if rows == 1 {
			want = []operation{want[0], adds, productsThen{l.q, epilogue{}, l.stream(atWeight)}}
		}
		if got := joinEpilogues([]operation{l.gateUp, l.gated, l.down[0], l.sum, l.q}, l.memory); !reflect.DeepEqual(got, want) {
			t.Errorf("a layer of %d rows became %+v\nwant %+v", rows, got, want)
		}
	}
	l := newLayer(1)
	// A product can do both: normalise its row, and compute a SwiGLU.
	want := []operation{productsThen{l.down, epilogue{kind: cuda.SumEpilogue}, l.stream(0)},
		productsThen{l.gateUp, epilogue{cuda.SwiGLUEpilogue, l.memory.other, wideLayer / 128}, l.stream(atWeight)}}
	if got := joinEpilogues([]operation{l.down, l.sum, l.gateUp, l.gated}, l.memory); !reflect.DeepEqual(got, want) {
		t.Errorf("norm and SwiGLU became %+v\nwant %+v", got, want)
	}
	// Rows that a separate kernel writes are in the usual place again.
	converted := convert{format: cuda.Q8_0, dst: l.memory.usual}
	want = []operation{productsThen{l.gateUp, epilogue{cuda.SwiGLUEpilogue, l.memory.other, wideLayer / 128}, stream{}},
		l.down.reading(l.memory.usual, l.memory.other), converted, l.down}
	if got := joinEpilogues([]operation{l.gateUp, l.gated, l.down, converted, l.down}, l.memory); !reflect.DeepEqual(got, want) {
		t.Errorf("with rows converted after it, it became %+v\nwant %+v", got, want)
	}
}

func TestProductsThatCannotGoOn(t *testing.T) {
	l := newLayer(2)
	ofGated, ofSum := func(change func(*swiGLUOperand)) operation { o := l.gated; change(&o); return o }, func(change func(*normOperand)) operation {
		o := l.sum
		change(&o)
		return o
	}
	ofExperts := slices.Clone(l.gateUp)
	ofExperts[0].by.slots = l.rows // one expert for each row
	many := slices.Clone(l.down)
	many[0].rows = cuda.MostWithEpilogue + 1
	for name, c := range map[string]struct {
		products products
		then     operation
	}{
		"gate and up exchanged":      {l.gateUp, ofGated(func(o *swiGLUOperand) { o.gate, o.up = o.up, o.gate })},
		"gate of another product":    {l.gateUp, ofGated(func(o *swiGLUOperand) { o.gate = atOther })},
		"more rows gated":            {l.gateUp, ofGated(func(o *swiGLUOperand) { o.n += wideLayer })},
		"operand of another form":    {l.gateUp, ofGated(func(o *swiGLUOperand) { o.to.format = cuda.BFloat16 })},
		"one product":                {l.gateUp[:1], l.gated},
		"products of experts":        {ofExperts, l.gated},
		"gate and up of other sizes": {products{l.gateUp[0], l.product(atK, narrowLayer, narrowLayer)}, l.gated},
		"a norm of other rows":       {l.down, ofSum(func(o *normOperand) { o.y = atOther })},
		"a norm without a sum":       {l.down, ofSum(func(o *normOperand) { o.y = 0 })},
		"a norm of two products":     {l.gateUp, ofSum(func(o *normOperand) { o.y, o.length = atQ, wideLayer })},
		"a norm of fewer rows":       {l.down, ofSum(func(o *normOperand) { o.groups-- })},
		"a norm of many rows":        {many, ofSum(func(o *normOperand) { o.groups = many[0].rows })},
		"rows added to themselves":   {l.down, ofSum(func(o *normOperand) { o.x = o.y })},
	} {
		want := []operation{c.products, c.then}
		if got := joinEpilogues([]operation{c.products, c.then}, l.memory); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: became %+v", name, got)
		}
	}
}

// Where the next products cannot normalise the row, a kernel does it.
func TestProductsThatCannotNormalise(t *testing.T) {
	l := newLayer(1)
	of := func(change func(*product)) products {
		p := l.q[0]
		weight := *p.weight
		p.weight = &weight
		change(&p)
		return products{p}
	}
	converted := convert{format: cuda.Q8_0, dst: l.memory.usual}
	for name, later := range map[string][]operation{
		"nothing":                        nil,
		"no product":                     {converted, l.q},
		"another operand":                {of(func(p *product) { p.activations = atOther })},
		"another form":                   {of(func(p *product) { p.weight.format = cuda.BFloat16 })},
		"fewer columns":                  {of(func(p *product) { p.weight.cols /= 2 })},
		"experts":                        {of(func(p *product) { p.by.slots = 1 })},
		"a product to the stream":        {of(func(p *product) { p.dst = atX })},
		"the scores of a vocabulary":     {of(func(p *product) { p.weight.rows = 32000 })},
		"two products that are not one":  {l.q, l.gateUp},
		"a product after something else": {l.q, add{}, l.gateUp},
	} {
		want := slices.Concat([]operation{productsThen{l.down, epilogue{kind: cuda.SumEpilogue}, l.stream(0)},
			normSummed{l.sum.to, l.stream(atWeight)}}, later)
		if got := joinEpilogues(slices.Concat([]operation{l.down, l.sum}, later), l.memory); !reflect.DeepEqual(got, want) {
			t.Errorf("before %s it became %+v\nwant %+v", name, got, want)
		}
	}
	// After another operand was written, products read that.
	later := []operation{l.q, converted, l.gateUp}
	if got := joinEpilogues(slices.Concat([]operation{l.down, l.sum}, later), l.memory); len(got) != 4 {
		t.Errorf("before an operand that is written again it became %+v", got)
	}
}

func TestAttentionCombinesItsSplits(t *testing.T) {
	memory := newLayer(4).memory
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

// A block that normalises its row takes several tiles, so that no more blocks are launched than run at once.
func TestNormingBlocksRunAtOnce(t *testing.T) {
	const layers = 2
	for atOnce, want := range map[int][2]int{1 << 20: {64, 16}, 3: {12, 12}, 1: {4, 4}} { // blocks of q, k and v; of gate and up
		shape := smallest
		shape.Layers, shape.Dim, shape.FFN, shape.Heads, shape.KVHeads, shape.HeadDim = layers, 512, 512, 4, 2, 128
		d := newRecorder(t)
		d.atOnce, d.card.Multiprocessors = atOnce, 4
		b, err := newBackend(d)
		if err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(t.Context(), b, hollowFile(t, shape, compute.Q8_0), model.Options{MaxTokens: 64, MaxRows: 2, CacheType: compute.F16}, nil)
		if err != nil {
			t.Fatal(err)
		}
		cache, err := m.NewCache()
		if err != nil {
			t.Fatal(err)
		}
		var grids []int
		d.onRun = func(kernel string, shape driver.Shape, _ []driver.Argument) {
			if strings.HasSuffix(kernel, "_norm_row") {
				grids = append(grids, shape.Grid[0])
			}
		}
		if _, err := m.Forward(t.Context(), cache, []int32{1}); err != nil {
			t.Fatal(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		// The norm of the first layer's q, k and v is a launch of its own. So the order is: gate and up, q, k and v of
		// layer 2, gate and up, scores. The scores have as many blocks as q, k and v.
		if all := []int{want[1], want[0], want[1], want[0]}; !slices.Equal(grids, all) {
			t.Errorf("%d blocks on a multiprocessor: grids %v, want %v", atOnce, grids, all)
		}
	}
}
