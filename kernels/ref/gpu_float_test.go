package ref_test

import (
	"math"
	"testing"

	"specula/kernels/ref"
)

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
	for _, c := range []struct{ x, want float32 }{{0, 1}, {89, infinity}, {-104, 0}, {-infinity, 0},
		{infinity, infinity}, {-103, 0x1p-149}} {
		if got := ref.Exp(c.x); got != c.want {
			t.Errorf("Exp(%g) is %g, want %g", c.x, got, c.want)
		}
	}
	if nan := ref.Exp(float32(math.NaN())); nan == nan {
		t.Errorf("Exp of NaN is %g", nan)
	}
}

// Every finite half-precision number survives a conversion to float32 and back. Numbers between two of
// them round to the nearer one, ties to even.
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
