package sim

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// exactSum is a·b + c in numbers of unlimited size, rounded once.
func exactSum(a, b, c float32) float32 {
	x := new(big.Float).SetPrec(2000).SetFloat64(float64(a))
	x.Mul(x, new(big.Float).SetFloat64(float64(b)))
	x.Add(x, new(big.Float).SetFloat64(float64(c)))
	f, _ := x.Float32()
	return f
}

func TestFuseRoundsOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	draw := func() float32 {
		for {
			u := random.Uint32()
			switch random.IntN(4) {
			case 0: // near one, where sums meet
				u = u&0x807fffff | (127+uint32(random.IntN(5))-2)<<23
			case 1: // few bits, so that results fall in the middle of two floats
				u = u & 0xff8c0000
			case 2: // subnormal or nearly
				u = u&0x807fffff | uint32(random.IntN(60))<<23
			}
			if f := math.Float32frombits(u); f == f && !math.IsInf(float64(f), 0) {
				return f
			}
		}
	}
	for range 200000 {
		a, b, c := draw(), draw(), draw()
		if random.IntN(3) == 0 {
			// Cancels everything except the part of the product that a float cannot hold.
			c = float32(-float64(a) * float64(b))
		}
		if math.IsInf(float64(c), 0) {
			continue
		}
		got, want := fuse(a, b, c), exactSum(a, b, c)
		if got != want {
			t.Fatalf("fuse(%x, %x, %x) = %x, want %x", a, b, c, got, want)
		}
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, c := range [][3]float32{{inf, 0, 1}, {inf, 1, -inf}, {nan, 1, 1}, {1, 1, nan}} {
		if got := fuse(c[0], c[1], c[2]); got == got {
			t.Errorf("fuse%v = %v, want NaN", c, got)
		}
	}
	if got := fuse(3e38, 3e38, -inf); got != -inf {
		t.Errorf("a finite product and −Inf give %v", got)
	}
}

// Every finite binary16 stays itself, the middle between two neighbours becomes the even one, and
// the floats beside the middle become the neighbour on their side.
func TestNarrowHalf(t *testing.T) {
	for h := range uint16(0x7c00) {
		x := float64(widenHalf(h))
		if got := narrowHalf(x); got != uint64(h) {
			t.Fatalf("%#04x became %#04x", h, got)
		}
		if h == 0x7bff {
			break
		}
		middle := (x + float64(widenHalf(h+1))) / 2
		for _, c := range []struct {
			x    float64
			want uint16
		}{{middle, h + h&1}, {math.Nextafter(middle, 0), h}, {math.Nextafter(middle, 1e9), h + 1}} {
			if got := narrowHalf(c.x); got != uint64(c.want) {
				t.Fatalf("%v became %#04x, want %#04x", c.x, got, c.want)
			}
			if got := narrowHalf(-c.x); got != uint64(c.want|0x8000) {
				t.Fatalf("%v became %#04x, want %#04x", -c.x, got, c.want|0x8000)
			}
		}
	}
	for _, c := range []struct {
		x    float64
		want uint64
	}{{65519.99, 0x7bff}, {65520, 0x7c00}, {1e300, 0x7c00}, {math.Inf(-1), 0xfc00}, {math.NaN(), 0x7fff},
		{1e-300, 0}} {
		if got := narrowHalf(c.x); got != c.want {
			t.Errorf("%v became %#04x, want %#04x", c.x, got, c.want)
		}
	}
}

func TestNarrowBfloat(t *testing.T) {
	for _, c := range []struct {
		x    float32
		want uint64
	}{{1, 0x3f80}, {1.00390625, 0x3f80}, {1.01171875, 0x3f82}, {3.4e38, 0x7f80},
		{math.SmallestNonzeroFloat32, 0}, {-2, 0xc000}} {
		if got := narrowBfloat(float64(c.x)); got != c.want {
			t.Errorf("%v became %#04x, want %#04x", c.x, got, c.want)
		}
	}
}
