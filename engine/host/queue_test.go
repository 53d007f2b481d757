package host

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
	"specula/kernels/cpu"
)

const testHeadDim = 32

// layer is a backend with the weights of one layer, which depend on the seed alone.
type layer struct {
	*Backend
	t          *testing.T
	heads      int
	kvHeads    int
	q, k, v    compute.Matrix
	gate, up   compute.Matrix
	bias, norm compute.Vector
	cos, sin   []float32
	cache      compute.Cache
	rng        *rand.Rand
	weightType compute.DType
}

func newLayer(t *testing.T, threads, heads, kvHeads int, typ compute.DType) *layer {
	t.Helper()
	l := &layer{Backend: New(threads), t: t, heads: heads, kvHeads: kvHeads, rng: rand.New(rand.NewPCG(1, 2)), weightType: typ}
	t.Cleanup(func() { l.Close() })
	width := heads * testHeadDim
	l.q, l.k, l.v = l.matrix(width, width), l.matrix(kvHeads*testHeadDim, width), l.matrix(kvHeads*testHeadDim, width)
	l.gate, l.up = l.matrix(3*width, width), l.matrix(3*width, width)
	l.bias, l.norm = l.vector(width), l.vector(testHeadDim)
	l.cos, l.sin = l.numbers(64*testHeadDim/2), l.numbers(64*testHeadDim/2)
	var err error
	l.cache, err = l.Cache(compute.CacheShape{Layers: 1, Tokens: 64, KVHeads: kvHeads, HeadDim: testHeadDim})
	l.must(err)
	return l
}

func (l *layer) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

func (l *layer) numbers(n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = l.rng.Float32() - 0.5
	}
	return x
}

func (l *layer) vector(n int) compute.Vector {
	v, err := l.Vector("v", l.numbers(n))
	l.must(err)
	return v
}

func (l *layer) matrix(rows, cols int) compute.Matrix {
	size := map[compute.DType]int{compute.Q8_0: rows * cols / 32 * 34, compute.F16: 2 * rows * cols}[l.weightType]
	data := make([]byte, size)
	for i := range data {
		data[i] = byte(l.rng.IntN(256))
	}
	for at := 1; at < size; at += map[compute.DType]int{compute.Q8_0: 34, compute.F16: 2}[l.weightType] {
		data[at] &= 0xb7 // keep the exponent of a half-precision scale small: finite and not large
	}
	m, err := l.Matrix(context.Background(), compute.Weight{Name: "w", Type: l.weightType, Rows: rows, Cols: cols, Data: data})
	l.must(err)
	return m
}

func (l *layer) buffer(m, cols int) compute.Buffer {
	b, err := l.Buffer(m, cols)
	l.must(err)
	return b
}

// run computes m rows after those of earlier runs, with operations that make phases of every kind.
func (l *layer) run(m int) []float32 {
	l.t.Helper()
	width := l.heads * testHeadDim
	x, q, k, v := l.buffer(m, width), l.buffer(m, width), l.buffer(m, l.kvHeads*testHeadDim), l.buffer(m, l.kvHeads*testHeadDim)
	gate, up := l.buffer(m, 3*width), l.buffer(m, 3*width)
	copy(x.(*buffer).data, l.numbers(m*width))
	l.must(l.MatMul(q, x, m, l.q))
	l.must(l.MatMul(k, x, m, l.k))
	l.must(l.MatMul(v, x, m, l.v))
	l.must(l.AddBias(q, m, l.bias))
	for i, b := range []compute.Buffer{q, k} {
		l.must(l.RMSNorm(b, b, m, l.norm, 1e-6))
		l.must(l.RoPE(b, m, compute.Rope{Heads: []int{l.heads, l.kvHeads}[i], HeadDim: testHeadDim, Dim: testHeadDim, NeoX: true, Cos: l.cos, Sin: l.sin, Position: l.cache.Len()}))
	}
	attended := l.buffer(m, width)
	l.must(l.Attend(attended, q, k, v, m, l.cache, compute.Attention{Heads: l.heads, HeadDim: testHeadDim, Scale: 0.2, Position: l.cache.Len()}))
	l.must(l.Add(x, attended, m))
	l.must(l.MatMul(gate, x, m, l.gate))
	l.must(l.MatMul(up, x, m, l.up))
	l.must(l.SwiGLU(gate, up, m))
	data, _ := rows(gate, m)
	l.must(l.cache.Advance(m))
	return slices.Clone(data)
}

func TestPartsAndTurnsChangeNothing(t *testing.T) {
	for _, typ := range []compute.DType{compute.Q8_0, compute.F16} {
		for _, shape := range [][2]int{{4, 2}, {3, 3}, {6, 2}, {2, 1}} {
			alone := newLayer(t, 1, shape[0], shape[1], typ)
			var want [][]float32
			for _, m := range []int{1, 9, 4} {
				want = append(want, alone.run(m))
			}
			for _, threads := range []int{-2, 2, 3, -3, 4, 6, -6} { // below 0: weights that are in memory
				t.Run(fmt.Sprint(typ, shape, threads), func(t *testing.T) {
					l := newLayer(t, max(threads, -threads), shape[0], shape[1], typ)
					l.nearBytes = int64(threads) << 30
					for i, m := range []int{1, 9, 4} {
						for at, got := range l.run(m) {
							if math.Float32bits(got) != math.Float32bits(want[i][at]) || got != got {
								t.Fatalf("%d rows: number %d is %v, on one thread %v", m, at, got, want[i][at])
							}
						}
					}
				})
			}
		}
	}
}

// products is a phase of products with these numbers of items. The outputs start as ones; weights
// of zero write zeros.
func products(sizes ...int) *productPhase {
	const rows, cols, panelRows = 2, 64, 32
	q8, _ := cpu.FormatOf(uint32(compute.Q8_0))
	p := &productPhase{m: rows}
	p.quantised.Quantize(make([]float32, rows*cols), rows, cols)
	for i, items := range sizes {
		p.products[i] = product{items: items, quantised: cpu.MatMulQuantized{
			Dst: slices.Repeat([]float32{1}, rows*panelRows*items), X: &p.quantised, W: cpu.NewPanels(q8, panelRows*items, cols),
		}}
		p.items += items
	}
	p.n = len(sizes)
	return p
}

// written returns how many items of each product were written.
func written(p *productPhase) []int {
	var items []int
	for _, t := range p.products[:p.n] {
		n := 0
		for _, v := range t.quantised.Dst {
			if v == 0 {
				n++
			}
		}
		items = append(items, n/(len(t.quantised.Dst)/t.items))
	}
	return items
}

func TestTurnsGiveEachItemOnce(t *testing.T) {
	for _, sizes := range [][]int{{8, 4, 4}, {3, 3}, {5, 3, 2}, {1}, {6, 4}} {
		all := products(sizes...).items
		for cut := range all + 1 {
			first, second := products(sizes...), products(sizes...)
			first.Do(0, cut)
			second.Do(cut, all)
			sum := 0
			for i, n := range written(first) {
				if sum += n; n+written(second)[i] != sizes[i] {
					t.Errorf("products of %v items, cut at %d: of product %d %d items are in front and %d after", sizes, cut, i, n, written(second)[i])
				}
			}
			if sum != cut {
				t.Errorf("products of %v items: the first %d are %d", sizes, cut, sum)
			}
		}
	}
}

func TestHalfOfAPhaseIsHalfOfEachProduct(t *testing.T) {
	p := products(8, 4, 4)
	p.Do(0, 8)
	if got := written(p); !slices.Equal(got, []int{4, 2, 2}) {
		t.Errorf("half of products of 8, 4 and 4 items is %v", got)
	}
}
