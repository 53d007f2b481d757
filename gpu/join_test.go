package gpu

import (
	"reflect"
	"strings"
	"testing"

	"specula/gpu/driver"
	"specula/kernels/cuda"
)

// Addresses of the tests; no two operations of a pass share memory by accident.
const (
	atX driver.Pointer = (iota + 1) << 8
	atY
	atNormed
	atWeight
	atQ
	atK
	atV
	atQNorm
	atKNorm
	atCos
	atSin
	atPosition
	atOther
)

func TestAnAddAndTheNormOfItsSumAreJoined(t *testing.T) {
	sum := add{x: atX, y: atY, n: 3 * 512}
	of := norm{dst: atNormed, x: atX, w: atWeight, groups: 3, length: 512, eps: 1e-5}
	changed := func(change func(*norm)) norm {
		n := of
		change(&n)
		return n
	}
	for name, c := range map[string]struct {
		operations []operation
		joined     bool
	}{
		"all rows":             {[]operation{sum, of}, true},
		"another buffer":       {[]operation{sum, changed(func(n *norm) { n.x = atOther })}, false},
		"the other summand":    {[]operation{sum, changed(func(n *norm) { n.x = atY })}, false},
		"more rows than added": {[]operation{sum, changed(func(n *norm) { n.groups = 4 })}, false},
		"in place":             {[]operation{sum, changed(func(n *norm) { n.dst = atX })}, false},
		"over the summand":     {[]operation{sum, changed(func(n *norm) { n.dst = atY })}, false},
		"of heads": {[]operation{sum,
			changed(func(n *norm) { n.groups, n.length = 12, 128 })}, false},
		"with a copy in between":  {[]operation{sum, move{to: atOther, from: atX, bytes: 4}, of}, false},
		"the norm before the add": {[]operation{of, sum}, false},
		"a norm alone":            {[]operation{of}, false},
	} {
		t.Run(name, func(t *testing.T) {
			want := append([]operation{}, c.operations...)
			if c.joined {
				want = []operation{addNorm{atY, of}}
			}
			if got := join(c.operations); !reflect.DeepEqual(got, want) {
				t.Errorf("became %v, want %v", got, want)
			}
		})
	}
}

// beforeAttention are the operations before attention on 2 rows of 4 query heads and 2 key heads. Each
// operation that join looks at has a field.
type beforeAttention struct {
	qNorm, kNorm norm
	q, k         rotate
	between      []operation // between the rotations and the storing
	store        store
}

func TestRotationsAreJoinedWithTheStoring(t *testing.T) {
	by := angles{cos: atCos, sin: atSin, position: atPosition, dim: 64, neoX: true}
	usual := beforeAttention{
		qNorm: norm{dst: atQ, x: atQ, w: atQNorm, groups: 2 * 4, length: 64, eps: 1e-6},
		kNorm: norm{dst: atK, x: atK, w: atKNorm, groups: 2 * 2, length: 64, eps: 1e-6},
		q:     rotate{x: atQ, rows: 2, heads: 4, headDim: 64, by: by},
		k:     rotate{x: atK, rows: 2, heads: 2, headDim: 64, by: by},
		store: store{cache: layerCache{kvHeads: 2, keyDim: 64, valueDim: 64}, k: atK, v: atV, position: atPosition,
			rows: 2},
	}
	for name, c := range map[string]struct {
		change func(*beforeAttention)
		joined int // operations that become one
	}{
		"all":                       {func(*beforeAttention) {}, 5},
		"only some rows normalised": {func(b *beforeAttention) { b.kNorm.groups = 2 }, 3},
		"norms with other eps":      {func(b *beforeAttention) { b.kNorm.eps = 1e-5 }, 3},
		"a norm to another place":   {func(b *beforeAttention) { b.qNorm.dst = atOther }, 3},
		"a norm of whole rows": {func(b *beforeAttention) {
			b.qNorm.groups, b.qNorm.length = 2,
				256
		}, 3},
		"q by other angles":           {func(b *beforeAttention) { b.q.by.cos = atOther }, 0},
		"q at another position":       {func(b *beforeAttention) { b.q.by.position = atOther }, 0},
		"half of q's heads rotated":   {func(b *beforeAttention) { b.q.by.dim = 32 }, 0},
		"pairs of another kind":       {func(b *beforeAttention) { b.q.by.neoX = false }, 0},
		"another number of rows of q": {func(b *beforeAttention) { b.q.rows = 1 }, 0},
		"k of another sequence":       {func(b *beforeAttention) { b.k.x = atOther }, 0},
		"k and v rotated":             {func(b *beforeAttention) { b.q.x = atV }, 0},
		"both at another position": {func(b *beforeAttention) {
			b.q.by.position,
				b.k.by.position = atOther, atOther
		}, 0},
		"k changed after its rotation": {func(b *beforeAttention) { b.between = []operation{addBias{x: atK, rows: 2, cols: 128}} }, 0},
		"heads that are too wide": {func(b *beforeAttention) {
			b.q.headDim, b.k.headDim, b.store.cache.keyDim, b.store.cache.valueDim = 320, 320, 320, 320
		}, 0},
		"values of another length": {func(b *beforeAttention) { b.store.cache.valueDim = 32 }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := usual
			c.change(&b)
			list := append([]operation{b.qNorm, b.kNorm, b.q, b.k}, b.between...)
			list = append(list, b.store)
			want := append([]operation{}, list...)
			if c.joined > 0 {
				p := prepareHeads{q: b.q, store: b.store}
				if c.joined == 5 {
					p.qNorm, p.kNorm, p.eps = atQNorm, atKNorm, 1e-6
				}
				want = append(want[:5-c.joined], p)
			}
			if got := join(list); !reflect.DeepEqual(got, want) {
				t.Errorf("became %v, want %v", got, want)
			}
		})
	}
}

func TestAttentionOfARowPreparesItsHeads(t *testing.T) {
	cache := layerCache{keys: atOther, half: true, kvHeads: 2, keyDim: 64, valueDim: 64}
	by := angles{cos: atCos, sin: atSin, position: atPosition, dim: 64, neoX: true}
	heads := prepareHeads{q: rotate{x: atQ, rows: 1, heads: 8, headDim: 64, by: by}, qNorm: atQNorm, kNorm: atKNorm, eps: 1e-6,
		store: store{cache: cache, k: atK, v: atV, position: atPosition, rows: 1}}
	attention := attend{part: partial{heads: 8, headDim: 64}, q: atQ, cache: cache, position: atPosition, rows: 1, scale: 1}
	want := attention
	want.fresh = heads
	if got := join([]operation{heads, attention}); !reflect.DeepEqual(got, []operation{want}) {
		t.Errorf("became %+v, want %+v", got, want)
	}
	for name, change := range map[string]func(*prepareHeads, *attend){
		"of two rows":              func(h *prepareHeads, a *attend) { h.rows, a.rows = 2, 2 },
		"of the first of two rows": func(h *prepareHeads, _ *attend) { h.rows = 2 },
		"of the second row":        func(_ *prepareHeads, a *attend) { a.from = 1 },
		"of another q":             func(h *prepareHeads, _ *attend) { h.q.x = atX },
		"of another layer":         func(_ *prepareHeads, a *attend) { a.cache.keys = atX },
		"at another position":      func(_ *prepareHeads, a *attend) { a.position = atX },
		"of a float32 cache":       func(h *prepareHeads, a *attend) { h.cache.half, a.cache.half = false, false },
		"of nine heads for a key":  func(h *prepareHeads, a *attend) { h.q.heads, a.part.heads = 18, 18 },
	} {
		h, a := heads, attention
		change(&h, &a)
		if got := join([]operation{h, a}); !reflect.DeepEqual(got, []operation{h, a}) {
			t.Errorf("%s: became %+v", name, got)
		}
	}
}

func TestProductsOfTheSameActivationsAreJoined(t *testing.T) {
	const rows, cols = 3, 512
	of := func(f *cuda.Format, rows, cols int) *matrix { return &matrix{rows: rows, cols: cols, format: f} }
	wide, narrow := of(cuda.Q8_0, 4096, cols), of(cuda.Q8_0, 512, cols)
	to := func(dst driver.Pointer, w *matrix) product {
		return product{dst: dst, activations: atX, rows: rows, weight: w}
	}
	q, k, v := to(atQ, wide), to(atK, narrow), to(atV, narrow)
	changed := func(change func(*product)) product {
		p := k
		change(&p)
		return p
	}
	for name, c := range map[string]struct {
		operations, want []operation
	}{
		"three": {[]operation{q, k, v}, []operation{products{q, k, v}}},
		"two":   {[]operation{q, k}, []operation{products{q, k}}},
		"one":   {[]operation{q}, []operation{q}},
		"more than three": {[]operation{q, k, v, to(atOther, wide)},
			[]operation{products{q, k, v}, to(atOther, wide)}},
		"not neighbours": {[]operation{q, addBias{x: atQ}, k, v},
			[]operation{q, addBias{x: atQ}, products{k, v}}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := joinProducts(c.operations); !reflect.DeepEqual(got, c.want) {
				t.Errorf("became %v, want %v", got, c.want)
			}
		})
	}
	for name, other := range map[string]product{
		"another format":    changed(func(p *product) { p.weight = of(cuda.Q4_K, 512, cols) }),
		"other activations": changed(func(p *product) { p.activations = atY }),
		"fewer rows":        changed(func(p *product) { p.rows-- }),
		"another width":     changed(func(p *product) { p.weight = of(cuda.Q8_0, 512, 2*cols) }),
		"the same result":   changed(func(p *product) { p.dst = atQ }),
		"rows of experts":   changed(func(p *product) { p.by.slots = rows }),
	} {
		t.Run(name, func(t *testing.T) {
			if got := joinProducts([]operation{q, other}); !reflect.DeepEqual(got, []operation{q, other}) {
				t.Errorf("became %v", got)
			}
		})
	}
}

// Each operation gives its kernel as many arguments as the kernel's PTX has parameters.
func TestLaunchesFitTheirKernels(t *testing.T) {
	texts, err := kernelTexts()
	if err != nil {
		t.Fatal(err)
	}
	d := newRecorder(t)
	if err := use(t, d, file(t)); err != nil {
		t.Fatal(err)
	}
	for name, text := range texts {
		for _, entry := range strings.Split(text, "\n.visible .entry ")[1:] {
			kernel, rest, _ := strings.Cut(entry, "(")
			parameters, _, _ := strings.Cut(rest, ")")
			if got, was := d.prepared[kernel]; was && got != strings.Count(parameters, ".param ") {
				t.Errorf("%s in %s has %d parameters, and is given %d", kernel, name,
					strings.Count(parameters, ".param "), got)
			}
		}
	}
}
