package host

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/compute"
)

// A row that stores nothing attends to the tokens of the cache, and with a window to one fewer than a row that
// stores its key. This holds in a cache that keeps all rows and in a ring whose first rows are overwritten.
func TestAttendPastSeesOnlyTheCache(t *testing.T) {
	b := New(2)
	defer b.Close()
	const heads, dim, pass, passes, most = 2, 16, 8, 60, 600
	for _, window := range []int{0, 2, 20} {
		shape := compute.CacheShape{Layers: 1, Tokens: most, KVHeads: 1, HeadDim: dim, Windows: []int{window}, Spare: pass, Single: pass}
		c, err := b.Cache(shape)
		if err != nil {
			t.Fatal(err)
		}
		if _, partial := inside(c); (partial != nil) != (window > 0) {
			t.Fatalf("window %d: the cache has a ring: %v", window, partial != nil)
		}
		r := rand.New(rand.NewPCG(1, uint64(window)))
		dst, _ := filled(t, b, r, pass, heads*dim)
		a := compute.Attention{Heads: heads, HeadDim: dim, Scale: 0.3, Window: window}
		var keys, values []float32
		for range passes {
			q, qs := filled(t, b, r, pass, heads*dim)
			k, ks := filled(t, b, r, pass, dim)
			v, vs := filled(t, b, r, pass, dim)
			keys, values = append(keys, ks...), append(values, vs...)
			a.Position = c.Len()
			if err := b.Attend(dst, q, k, v, pass, c, a); err != nil {
				t.Fatal(err)
			}
			if err := c.Advance(pass); err != nil {
				t.Fatal(err)
			}
			a.Position = c.Len()
			if err := b.AttendPast(dst, q, c, a); err != nil {
				t.Fatal(err)
			}
			got, _ := rows(dst, 1)
			first := 0
			if window > 0 {
				first = max(0, c.Len()-window+1)
			}
			for h := range heads {
				want := attended(qs[h*dim:][:dim], keys[first*dim:], values[first*dim:], 0.3)
				for i, w := range want {
					if math.Abs(float64(got[h*dim+i])-w) > 1e-5 {
						t.Fatalf("window %d, after %d tokens, head %d, number %d: %v, want %v", window, c.Len(), h, i, got[h*dim+i], w)
					}
				}
			}
		}
	}
}

// attended computes attention of a query to all of these keys and values in float64.
func attended(q, keys, values []float32, scale float64) []float64 {
	dim := len(q)
	out, total := make([]float64, dim), 0.0
	for t := range len(keys) / dim {
		score := 0.0
		for i, x := range q {
			score += float64(x) * float64(keys[t*dim+i])
		}
		weight := math.Exp(score * scale)
		total += weight
		for i := range out {
			out[i] += weight * float64(values[t*dim+i])
		}
	}
	for i := range out {
		out[i] /= total
	}
	return out
}
