package host

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
	"specula/kernels/ref"
)

// Attention is right in layers with different heads and widths, and with sinks. A call without keys and values gives
// the same from what the cache holds.
func TestAttendOverUnlikeLayers(t *testing.T) {
	b := New(2)
	defer b.Close()
	shape := compute.CacheShape{Layers: 2, Tokens: 20, Sinks: true, Each: []compute.CacheLayer{
		{KVHeads: 1, KeyDim: 24, ValueDim: 16}, {KVHeads: 2, KeyDim: 32, ValueDim: 64},
	}}
	c, err := b.Cache(shape)
	if err != nil {
		t.Fatal(err)
	}
	if want := int64(32 * (40 + 2*96) * 4); c.Bytes() != want { // whole blocks of 16 tokens
		t.Errorf("the cache takes %d bytes, want %d", c.Bytes(), want)
	}
	const m, heads = 11, 4
	r := rand.New(rand.NewPCG(1, 2))
	sinks, _ := b.Vector("sinks", []float32{1, -2, 0.5, 6})
	for i := range shape.Layers {
		l := shape.Layer(i)
		q, qs := filled(t, b, r, m, heads*l.KeyDim)
		k, ks := filled(t, b, r, m, l.KeyNumbers())
		v, vs := filled(t, b, r, m, l.ValueNumbers())
		dst, _ := filled(t, b, r, m, heads*l.ValueDim)
		again, _ := filled(t, b, r, m, heads*l.ValueDim)
		a := compute.Attention{Layer: i, Heads: heads, HeadDim: l.KeyDim, Scale: 0.3, Sinks: sinks}
		if err := b.Attend(dst, q, k, v, m, c, a); err != nil {
			t.Fatal(err)
		}
		if err := b.Attend(again, q, nil, nil, m, c, a); err != nil {
			t.Fatal(err)
		}
		want := make([]float64, m*heads*l.ValueDim)
		ref.Attend{Heads: heads, KVHeads: l.KVHeads, KeyDim: l.KeyDim, ValueDim: l.ValueDim, Scale: float64(a.Scale), Sinks: sinks.(vector)}.Rows(want, qs, ks, vs, m)
		got, _ := rows(dst, m)
		second, _ := rows(again, m)
		for j := range want {
			if math.Abs(float64(got[j])-want[j]) > 1e-5 || got[j] != second[j] {
				t.Fatalf("layer %d, number %d is %v, and %v without storing; want %v", i, j, got[j], second[j], want[j])
			}
		}
	}
}

func filled(t *testing.T, b *Backend, r *rand.Rand, m, cols int) (compute.Buffer, []float32) {
	t.Helper()
	x, err := b.Buffer(m, cols)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := rows(x, m)
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	return x, data
}

func TestCacheRefusesTooWideHeads(t *testing.T) {
	b := New(1)
	defer b.Close()
	for _, l := range []compute.CacheLayer{{KVHeads: 1, KeyDim: 577, ValueDim: 64}, {KVHeads: 1, KeyDim: 64, ValueDim: 513}} {
		if err := b.CheckCache(compute.CacheShape{Layers: 1, Tokens: 1, Each: []compute.CacheLayer{l}}); err == nil {
			t.Errorf("a layer of %+v is not refused", l)
		}
	}
}
