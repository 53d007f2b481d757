package checks

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/ref"
)

// Norms checks rms_norm and its variants.
func Norms(t *testing.T, launch Launch) {
	t.Helper()
	for _, n := range []int{32, 64, 80, 128, 200, 257, 576, 1024, 1500, 2560, 5120, 8320} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		const groups, eps = 11, 1e-6
		x, y, w := numbers(r, groups*n), numbers(r, groups*n), numbers(r, n)
		want := make([]float32, len(x))
		sum := slices.Clone(x)
		for i := range sum {
			sum[i] += y[i]
		}
		norm := func(x []float32) {
			for i := 0; i < len(x); i += n {
				ref.RMSNormGroup(want[i:i+n], x[i:i+n], w, eps)
			}
		}
		norm(x)
		exact := make([]float64, len(x))
		ref.RMSNorm(exact, x, w, eps)
		for i, v := range exact {
			if math.Abs(float64(want[i])-v) > 1e-6*math.Abs(v)+1e-12 {
				t.Errorf("n %d: number %d of the reference is %g, the exact one %g", n, i, want[i], v)
				return
			}
		}
		threads := ref.NormThreads(n)
		got := garbage(len(x))
		launch("rms_norm", line(groups), line(threads), got, x, w, int32(n), float32(eps))
		sameBits(t, "rms_norm", got, want)
		inPlace := slices.Clone(x)
		launch("rms_norm", line(groups), line(threads), inPlace, inPlace, w, int32(n), float32(eps))
		sameBits(t, "rms_norm in place", inPlace, want)
		if threads == ref.Warp {
			inPlace = slices.Clone(x)
			launch("rms_norm_heads", across(groups, 8), line(256), inPlace, inPlace, w, int32(n),
				int32(groups), float32(eps))
			sameBits(t, "rms_norm_heads", inPlace, want)
		}
		wide := numbers(r, groups*n) // a weight for each column of a row
		for i := 0; i < len(x); i += n {
			ref.RMSNormGroup(want[i:i+n], x[i:i+n], wide[i:i+n], eps)
		}
		inPlace = slices.Concat(x, x)
		launch("norm_groups", line(2*groups), line(threads), inPlace, inPlace, wide, int32(n), int32(groups), float32(eps))
		sameBits(t, "norm_groups in place", inPlace, slices.Concat(want, want))
		norm(sum)
		launch("add_rms_norm", line(groups), line(threads), got, x, y, w, int32(n), float32(eps))
		sameBits(t, "add_rms_norm", got, want)
		sameBits(t, "the residual stream of add_rms_norm", x, sum)
	}
}

// LayerNorms checks layer_norm, over whole rows and over heads with weights of their own.
func LayerNorms(t *testing.T, launch Launch) {
	t.Helper()
	for _, c := range []struct{ n, groups, repeats int }{{64, 11, 1}, {80, 6, 3}, {576, 4, 1}, {1500, 2, 1}} {
		r := rand.New(rand.NewPCG(4, uint64(c.n)))
		const eps = 1e-5
		x, w := numbers(r, c.groups*c.n), numbers(r, c.repeats*c.n)
		for i := range x {
			x[i] += 3 // with a mean of zero, LayerNorm and RMSNorm would do the same
		}
		want, exact := make([]float32, len(x)), make([]float64, len(x))
		for g := range c.groups {
			from := g * c.n
			ref.LayerNormGroup(want[from:from+c.n], x[from:from+c.n], w[g%c.repeats*c.n:][:c.n], eps)
		}
		ref.LayerNorm(exact, x, w, c.n, eps)
		for i, v := range exact {
			if math.Abs(float64(want[i])-v) > 1e-5*math.Abs(v)+1e-5 {
				t.Errorf("n %d: number %d of the reference is %g, the exact one %g", c.n, i, want[i], v)
				return
			}
		}
		launch("layer_norm", line(c.groups), line(ref.NormThreads(c.n)), x, x, w, int32(c.n),
			int32(c.repeats), float32(eps))
		sameBits(t, "layer_norm", x, want)
	}
}

// Activations checks the activations, with and without a factor, and scaling and capping of numbers.
func Activations(t *testing.T, launch Launch) {
	t.Helper()
	r := rand.New(rand.NewPCG(5, 5))
	const n = 300
	x, y := numbers(r, n), numbers(r, n)
	copy(x, []float32{0, float32(math.Copysign(0, -1)), 90, -90, 1e30, -1e30, float32(math.NaN()), float32(math.Inf(-1))})
	fives := slices.Clone(y) // some are beyond the limit of clamped SwiGLU
	for i := range fives {
		fives[i] *= 5
	}
	check := func(kernel string, want func(i int) float32, args ...any) {
		t.Helper()
		got, wants := slices.Clone(x), make([]float32, n)
		for i := range wants {
			wants[i] = want(i)
		}
		launch(kernel, line(2), line(64), append([]any{got}, append(args, int32(n))...)...)
		sameBits(t, kernel, got, wants)
	}
	exact := map[string]func(float64) float64{"silu": ref.SiLU, "gelu": ref.GELU,
		"relu_squared": ref.ReLUSquared, "sigmoid": ref.Sigmoid}
	for name, f := range ref.Activations() {
		for _, v := range x {
			if want := exact[name](float64(v)); math.Abs(float64(v)) < 50 &&
				!(math.Abs(float64(f(v))-want) <= 1e-6*max(1, math.Abs(want))) {
				t.Errorf("%s of %g is %g in the reference, exactly %g", name, v, f(v), want)
			}
		}
		check("activate_"+name, func(i int) float32 { return f(x[i]) * y[i] }, y, int32(1))
		check("activate_"+name, func(i int) float32 { return f(x[i]) }, y, int32(0))
	}
	check("activate_clamped_swiglu", func(i int) float32 { return ref.ClampedSwiGLURows(x[i], fives[i]) }, fives, int32(1))
	for i, v := range x {
		if want := ref.ClampedSwiGLU(float64(v), float64(fives[i])); math.Abs(float64(v)) < 50 &&
			!(math.Abs(float64(ref.ClampedSwiGLURows(v, fives[i]))-want) <= 3e-6*max(1, math.Abs(want))) {
			t.Errorf("clamped SwiGLU of %g and %g is %g in the reference, exactly %g", v, fives[i], ref.ClampedSwiGLURows(v, fives[i]), want)
		}
	}
	check("scale_rows", func(i int) float32 { return x[i] * 1.7 }, float32(1.7))
	check("cap_rows", func(i int) float32 { return ref.CapRows(x[i], 30) }, float32(30))
}

// Rope checks rotary embeddings.
func Rope(t *testing.T, launch Launch) {
	t.Helper()
	for _, neox := range []int32{0, 1} {
		for _, headDim := range []int{64, 80, 128} {
			r := rand.New(rand.NewPCG(2, uint64(headDim)))
			const rows, heads, length, ahead, base = 5, 3, 40, 2, 10000.0
			dim := headDim / 2 // some models rotate only a part of each head
			cos, sin := make([]float32, 64*dim/2), make([]float32, 64*dim/2)
			for i := range cos {
				position, pair := float64(i/(dim/2)), float64(i%(dim/2))
				s, c := math.Sincos(position / math.Pow(base, 2*pair/float64(dim)))
				cos[i], sin[i] = float32(c), float32(s)
			}
			x := numbers(r, rows*heads*headDim)
			want := slices.Clone(x)
			for i := 0; i < len(x); i += headDim {
				position := length + ahead + i/(heads*headDim)
				from := position * dim / 2
				ref.RotateHead(want[i:], cos[from:from+dim/2], sin[from:from+dim/2], neox == 1)
				exact := make([]float64, headDim)
				for d := range exact {
					exact[d] = float64(x[i+d])
				}
				ref.RoPE(exact, dim, position, base, neox == 1, nil)
				for d, v := range exact {
					if math.Abs(float64(want[i+d])-v) > 1e-6 {
						t.Errorf("number %d of the reference is %g, the exact one %g", d, want[i+d], v)
						return
					}
				}
			}
			launch("rope", [3]int{2, rows, 1}, line(64), x, cos, sin, []int32{length}, int32(ahead),
				int32(heads), int32(headDim), int32(dim), neox)
			sameBits(t, "rope", x, want)
		}
	}
}

// Elementwise checks additions, SwiGLU and biases.
func Elementwise(t *testing.T, launch Launch) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	const rows, cols = 3, 141
	n := rows * cols
	x, y, b := numbers(r, n), numbers(r, n), numbers(r, cols)
	copy(x, []float32{0, float32(math.Copysign(0, -1)), 90, -90, 1e30, -1e30, float32(math.NaN()), float32(math.Inf(-1))})
	check := func(kernel string, grid [3]int, want func(i int) float32, args ...any) {
		t.Helper()
		got, wants := slices.Clone(x), make([]float32, n)
		for i := range wants {
			wants[i] = want(i)
		}
		launch(kernel, grid, line(64), append([]any{got}, args...)...)
		sameBits(t, kernel, got, wants)
	}
	check("add_rows", line(2), func(i int) float32 { return x[i] + y[i] }, y, int32(n))
	check("swiglu", line(2), func(i int) float32 { return ref.SwiGLURows(x[i], y[i]) }, y, int32(n))
	check("add_bias", [3]int{2, rows, 1}, func(i int) float32 { return x[i] + b[i%cols] }, b, int32(cols))
}

// Copy checks that a copy fills its block and nothing else.
func Copy(t *testing.T, launch Launch) {
	t.Helper()
	x, dst := numbers(rand.New(rand.NewPCG(4, 4)), 6*50), garbage(5*120)
	want := slices.Clone(dst)
	for i := range 3 {
		copy(want[(1+i)*120+60:], x[(2+i)*50:(3+i)*50])
	}
	launch("copy_block", [3]int{1, 3, 1}, line(32), at(dst, 120), at(x, 100), int32(50),
		int32(120), int32(60))
	sameBits(t, "copy_block", dst, want)
}
