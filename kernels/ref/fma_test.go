package ref_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"specula/kernels/ref"
)

// FMA rounds once. It is compared with exact arithmetic, for numbers of very different sizes and
// for sums that cancel.
func TestFMARoundsOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	number := func(exponents int) float32 {
		return float32(math.Ldexp(r.Float64()-0.5, r.IntN(exponents)-exponents/2))
	}
	exact := func(v float32) *big.Float { return new(big.Float).SetPrec(500).SetFloat64(float64(v)) }
	twice := 0
	for i := range 100000 {
		a, b, c := number(20), number(20), number(80)
		if i%2 == 0 { // so close to a tie that rounding twice would be wrong
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
