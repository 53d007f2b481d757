package simtest

import (
	"math"
	"strings"
	"testing"
)

func TestEqual(t *testing.T) {
	nan := math.Float32frombits(0xffc00001)
	for _, c := range []struct {
		got, want []float32
		says      string
	}{
		{[]float32{1, nan}, []float32{1, float32(math.NaN())}, ""},
		{[]float32{0, 1, 2}, []float32{0, 1.0000001, 3},
			"x: 2 of 3 differ, first element 1: 1, want 1.0000001"},
		{[]float32{0}, []float32{float32(math.Copysign(0, -1))}, "x: 1 of 1 differ"},
		{[]float32{nan}, []float32{1}, "x: 1 of 1 differ"},
		{[]float32{1}, nil, "x: 1 elements, want 0"},
	} {
		w := &Witness{TB: t}
		Equal(w, "x", c.got, c.want)
		if got := strings.Join(w.Says, "\n"); !strings.HasPrefix(got, c.says) ||
			(c.says == "") != (got == "") {
			t.Errorf("%v and %v: %q, want %q", c.got, c.want, got, c.says)
		}
	}
}

const lastBlockWins = `.version 7.4
.target sm_80
.address_size 64
.visible .entry last(.param .u64 word)
{
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u64 %rd1, [word];
	mov.u32 %r1, %ctaid.x;
	st.global.u32 [%rd1], %r1;
	ret;
}`

func TestOrderOfBlocksIsNoticed(t *testing.T) {
	w := &Witness{TB: t}
	k := Parse(w, lastBlockWins)
	k.workers = 1
	k.Run("last", Grid(50), Block(1), 0, []uint32{0})
	if len(w.Says) != 1 || !strings.Contains(w.Says[0], "depends on the order") {
		t.Errorf("said %q", w.Says)
	}
}
