package cpu_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

// within compares got and want with a relative bound, which is absolute where want is below 1.
func within(t *testing.T, what string, got []float32, want []float64, bound float64) {
	t.Helper()
	for i := range want {
		if diff := math.Abs(float64(got[i]) - want[i]); !(diff <= bound*max(1, math.Abs(want[i]))) {
			t.Fatalf("%s: element %d is %v, want %v within %g", what, i, got[i], want[i], bound)
		}
	}
}

func TestDequantizeEqualsReference(t *testing.T) {
	all := make([]byte, 2<<16) // every half-precision and bfloat16 number
	for i := range 1 << 16 {
		all[2*i], all[2*i+1] = byte(i), byte(i>>8)
	}
	for _, c := range []struct {
		name      string
		got, want func([]float32, []byte)
		bytes     int // of 32 numbers
	}{
		{"F32", cpu.DequantizeF32, ref.DequantizeF32, 128},
		{"F16", cpu.DequantizeF16, ref.DequantizeF16, 64},
		{"BF16", cpu.DequantizeBF16, ref.DequantizeBF16, 64},
	} {
		n := len(all) / c.bytes * 32
		got, want := make([]float32, n), make([]float32, n)
		c.got(got, all)
		c.want(want, all)
		sameBits(t, c.name, got, want)
	}
}

func TestRMSNorm(t *testing.T) {
	for _, size := range []int{1, 5, 64, 128, 1000} {
		r := rand.New(rand.NewPCG(uint64(size), 0))
		x, w := fill(3*size, r, inputs[0].number), fill(size, r, inputs[0].number)
		want := make([]float64, len(x))
		ref.RMSNorm(want, x, w, 1e-6)
		cpu.RMSNorm(x, x, w, 1e-6) // in place, as the model does
		within(t, fmt.Sprint("size ", size), x, want, 4e-6)
	}
}

func TestRoPE(t *testing.T) {
	const headDim, base = 64, 10_000
	for _, neox := range []bool{false, true} {
		for _, dim := range []int{2, 48, 64} {
			for _, position := range []int{0, 1, 17, 4000} {
				r := rand.New(rand.NewPCG(uint64(position), 0))
				head := fill(headDim, r, inputs[0].number)
				want, cos, sin := make([]float64, headDim), make([]float32, dim/2), make([]float32, dim/2)
				for i, v := range head {
					want[i] = float64(v)
				}
				for i := range cos {
					s, c := math.Sincos(float64(position) / math.Pow(base, 2*float64(i)/float64(dim)))
					cos[i], sin[i] = float32(c), float32(s)
				}
				ref.RoPE(want, dim, position, base, neox, nil)
				cpu.RoPE(head, cos, sin, neox)
				within(t, fmt.Sprintf("neox %v, %d of %d, position %d", neox, dim, headDim, position), head, want, 1e-6)
			}
		}
	}
}

func TestSwiGLU(t *testing.T) {
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	gate := []float32{0, 1, -1, 20, -20, 87.5, -87.5, 88.8, -88.8, 1e4, -1e4, 1e-30, inf}
	up := make([]float32, len(gate))
	want := make([]float64, len(gate))
	for i := range gate {
		up[i] = 1.5
		want[i] = ref.SwiGLU(float64(gate[i]), 1.5)
	}
	cpu.SwiGLU(gate, up)
	if gate[len(gate)-1] != inf {
		t.Errorf("silu(+∞) is %v", gate[len(gate)-1])
	}
	within(t, "finite", gate[:len(gate)-1], want[:len(gate)-1], 1e-6)

	poisoned := []float32{nan, 1}
	cpu.SwiGLU(poisoned, []float32{1, nan})
	if poisoned[0] == poisoned[0] || poisoned[1] == poisoned[1] {
		t.Errorf("a NaN became %v", poisoned)
	}
}

func TestGateClamped(t *testing.T) {
	onEveryLevel(t, func(t *testing.T) {
		var gate, up []float32
		var want []float64
		for _, g := range []float32{0, 1, -1, 6.99, 7, 8, 1e30, -20, -1e4, 1e-30} {
			for _, u := range []float32{0, 1, -1, 7, -7, 9, -1e9} {
				gate, up, want = append(gate, g), append(up, u), append(want, ref.ClampedSwiGLU(float64(g), float64(u)))
			}
		}
		cpu.GateClamped(gate, up)
		within(t, "clamped SwiGLU", gate, want, 1e-6)
		nan := float32(math.NaN())
		poisoned := []float32{nan, 1}
		if cpu.GateClamped(poisoned, []float32{1, nan}); poisoned[0] == poisoned[0] || poisoned[1] == poisoned[1] {
			t.Errorf("a NaN became %v", poisoned)
		}
	})
}

func TestAdd(t *testing.T) {
	x := []float32{1, 2}
	cpu.Add(x, []float32{10, 20})
	if x[0] != 11 || x[1] != 22 {
		t.Errorf("sum is %v", x)
	}
}

func TestArgmaxEqualsReference(t *testing.T) {
	for _, in := range inputs {
		for _, n := range []int{1, 2, 31, 33, 100, 8193} {
			r := rand.New(rand.NewPCG(uint64(n), 0))
			for range 20 {
				scores := fill(n, r, in.number)
				got, gotOK := cpu.Argmax(scores)
				want, wantOK := ref.Argmax(scores)
				if got != want || gotOK != wantOK {
					t.Fatalf("%s, %d scores: %d %v, want %d %v", in.name, n, got, gotOK, want, wantOK)
				}
			}
		}
	}
	inf := float32(math.Inf(1))
	for _, scores := range [][]float32{{1, inf}, {-inf, -inf}, {-inf, 3}, {inf, -inf}} {
		got, gotOK := cpu.Argmax(scores)
		want, wantOK := ref.Argmax(scores)
		if got != want || gotOK != wantOK {
			t.Errorf("%v: %d %v, want %d %v", scores, got, gotOK, want, wantOK)
		}
	}
}
