package cpu

import (
	"math"
	"testing"
)

func TestExp(t *testing.T) {
	worst := 0.0
	for x := float32(-87.3); x < 88.72; x += 0.00137 {
		want := math.Exp(float64(x))
		worst = max(worst, math.Abs(float64(exp(x))-want)/want)
	}
	if worst > 0x1p-22 {
		t.Errorf("relative error up to %g, allowed is %g", worst, 0x1p-22)
	}
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		name    string
		x, want float32
	}{
		{"zero", 0, 1},
		{"minus zero", float32(math.Copysign(0, -1)), 1},
		{"overflow", 88.73, inf},
		{"infinity", inf, inf},
		{"underflow", -104, 0},
		{"subnormal result", -90, 0},
		{"minus infinity", -inf, 0},
	} {
		if got := exp(c.x); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
	if got := exp(float32(math.NaN())); got == got {
		t.Errorf("exp(NaN) is %v", got)
	}
}
