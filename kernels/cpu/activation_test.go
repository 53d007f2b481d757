package cpu_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/cpu"
	"specula/kernels/ref"
)

func TestActivate(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([]float32, 1000)
	for i := range x {
		x[i] = float32(r.NormFloat64() * 4)
	}
	for _, f := range []struct {
		name string
		is   cpu.Activation
		want func(float64) float64
	}{{"SiLU", cpu.SiLU, ref.SiLU}, {"GELU", cpu.GELU, ref.GELU},
		{"squared ReLU", cpu.ReLUSquared, ref.ReLUSquared}, {"sigmoid", cpu.Sigmoid, ref.Sigmoid}} {
		got := append([]float32(nil), x...)
		cpu.Activate(got, f.is)
		for i, v := range x {
			want := f.want(float64(v))
			if !(math.Abs(float64(got[i])-want) <= 1e-6*max(1, math.Abs(want))) {
				t.Fatalf("%s of %v is %v, want %v", f.name, v, got[i], want)
			}
		}
	}
}

func TestSoftCap(t *testing.T) {
	for _, limit := range []float32{2, 30, 50} {
		for v := float32(-300); v < 300; v += 0.37 {
			x := []float32{v}
			cpu.SoftCap(x, limit)
			if want := float64(limit) * math.Tanh(float64(v)/float64(limit)); !(math.Abs(float64(x[0])-want) <= 3e-7*float64(limit)) {
				t.Fatalf("%v capped at %v is %v, want %v", v, limit, x[0], want)
			}
		}
	}
}

func TestLayerNorm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct{ n, group, weights int }{{64, 64, 64}, {96, 32, 96}, {96, 32, 32}, {7, 7, 7}} {
		x, w := fill(c.n, r, inputs[0].number), fill(c.weights, r, inputs[0].number)
		want := make([]float64, c.n)
		ref.LayerNorm(want, x, w, c.group, 1e-5)
		cpu.LayerNorm(x, x, w, c.group, 1e-5)
		within(t, "LayerNorm", x, want, 2e-6)
	}
}
