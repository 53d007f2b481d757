package sample

import (
	"fmt"
	"math"
	"testing"
)

// The known answers of Random123 (D. E. Shaw Research, kat_vectors, "philox4x32 10").
func TestPhiloxKnownAnswers(t *testing.T) {
	const all = 0xffffffff
	for _, c := range []struct {
		counter [4]uint32
		key     [2]uint32
		want    [4]uint32
	}{
		{want: [4]uint32{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}},
		{[4]uint32{all, all, all, all}, [2]uint32{all, all}, [4]uint32{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}},
		{[4]uint32{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, [2]uint32{0xa4093822, 0x299f31d0},
			[4]uint32{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}},
	} {
		if got := philox4x32(c.counter, c.key); got != c.want {
			t.Errorf("counter %08x key %08x: %08x, want %08x", c.counter, c.key, got, c.want)
		}
	}
}

func TestUniformIsWhatItsDocumentationSays(t *testing.T) {
	w := philox4x32([4]uint32{3, 2, uint32(ResidualDraw), 5}, [2]uint32{0x89abcdef, 0x01234567})
	want := (float64(w[0]>>5)*67108864 + float64(w[1]>>6)) / 9007199254740992
	if got := NewPhilox(0x0123456789abcdef, 5).Uniform(ResidualDraw, 2, 3); got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if largest := (float64(0xffffffff>>5)*67108864 + float64(0xffffffff>>6)) / 9007199254740992; largest >= 1 {
		t.Errorf("the largest uniform is %v", largest)
	}
}

func TestEveryAddressHasItsOwnUniform(t *testing.T) {
	seen := map[float64]string{}
	for seed := range uint64(3) {
		for reply := range 3 {
			g := NewPhilox(seed<<32|seed, reply)
			for stream := range BonusDraw + 1 {
				for round := range 20 {
					for position := range 9 {
						at := fmt.Sprint(seed, reply, stream, round, position)
						u := g.Uniform(stream, round, position)
						if other, ok := seen[u]; ok {
							t.Fatalf("%s and %s have the same uniform %v", at, other, u)
						}
						seen[u] = at
					}
				}
			}
		}
	}
	sum := 0.0
	for u := range seen {
		sum += u
	}
	n := float64(len(seen))
	if z := (sum/n - 0.5) * math.Sqrt(12*n); math.Abs(z) > 5 {
		t.Errorf("the mean of %g uniforms is %g, %.1f standard deviations off", n, sum/n, z)
	}
}
