package ref_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"specula/kernels/ref"
)

// FMA rounds once: held against exact arithmetic, on numbers of far apart and of cancelling sizes.
func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func(exponents int) float32 {
		return float32(math.Ldexp(r.Float64()-0.5, r.IntN(exponents)-exponents/2))
	}
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(float64(v)) }
	twice := 0
	for i := range 100000 {
		a, b, c := number(20), number(20), number(80)
		if i%2 == 0 { // so close to a tie that rounding twice goes wrong
			a = float32(1 + math.Ldexp(1, -12))
			b = float32(1 + math.Ldexp(float64(1+r.IntN(3)), -12))
			c = float32(math.Ldexp(1+r.Float64(), -60-r.IntN(20)))
		}
		sum := new(big.Float).SetPrec(500).Mul(exact(a), exact(b))
		want, _ := sum.Add(sum, exact(c)).Float32()
		if got := ref.FMA(a, b, c); got != want {
			t.Fatalf("FMA(%g, %g, %g) is %g, want %g", a, b, c, got, want)
		}
		if float32(math.FMA(float64(a), float64(b), float64(c))) != want {
			twice++
		}
	}
	if twice == 0 {
		t.Error("no case in which rounding twice would be wrong")
	}
}

func TestExpWithinBound(t *testing.T) {
	worst := 0.0
	for x := float32(-87); x < 88.7; x += 0.0037 {
		want := math.Exp(float64(x))
		worst = math.Max(worst, math.Abs(float64(ref.Exp(x))-want)/want)
	}
	if !(worst < 1e-6) {
		t.Errorf("relative error %g, want below 1e-6", worst)
	}
	infinity := float32(math.Inf(1))
	for _, c := range []struct{ x, want float32 }{{0, 1}, {89, infinity}, {-104, 0}, {-infinity, 0}, {infinity, infinity}, {-103, 0x1p-149}} {
		if got := ref.Exp(c.x); got != c.want {
			t.Errorf("Exp(%g) is %g, want %g", c.x, got, c.want)
		}
	}
	if nan := ref.Exp(float32(math.NaN())); nan == nan {
		t.Errorf("Exp of NaN is %g", nan)
	}
}

// Every half survives widening and rounding; numbers between two go to the nearer one, ties to the even.
func TestToHalf(t *testing.T) {
	for bits := range 0x7c00 {
		v, next := ref.FromHalf(uint16(bits)), ref.FromHalf(uint16(bits+1))
		if bits == 0x7bff {
			next = 65536
		}
		tie := (v + next) / 2
		even := uint16(bits + bits&1)
		for _, c := range []struct {
			v    float32
			want uint16
		}{{v, uint16(bits)}, {-v, uint16(bits) | 0x8000}, {tie, even},
			{math.Nextafter32(tie, 0), uint16(bits)}, {math.Nextafter32(tie, 1e9), uint16(bits + 1)}} {
			if c.v == 0 {
				c.want = uint16(math.Float32bits(c.v) >> 16)
			}
			if got := ref.ToHalf(c.v); got != c.want {
				t.Fatalf("ToHalf(%g) is %#04x, want %#04x", c.v, got, c.want)
			}
		}
	}
	if got := ref.ToHalf(float32(math.NaN())); got != 0x7fff {
		t.Errorf("ToHalf of NaN is %#04x, want 0x7fff", got)
	}
}
