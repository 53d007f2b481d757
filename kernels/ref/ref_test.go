package ref_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"specula/kernels/ref"
)

// The reference itself is tested with examples computed by hand.

func ExampleQuantizeRow() {
	x := make([]float32, ref.Block)
	x[0], x[1], x[2] = 127, -63.5, 0.4
	quants, scales := make([]int8, ref.Block), make([]float32, 1)
	ref.QuantizeRow(quants, scales, x)
	fmt.Println(quants[:4], scales) // −63.5 is a tie and rounds to the even −64
	// Output: [127 -64 0 0] [1]
}

func TestHalf(t *testing.T) {
	for _, c := range []struct {
		name string
		bits uint16
		want float64
	}{
		{"zero", 0x0000, 0},
		{"one", 0x3c00, 1},
		{"minus two", 0xc000, -2},
		{"largest", 0x7bff, 65504},
		{"smallest normal", 0x0400, 0x1p-14},
		{"smallest subnormal", 0x0001, 0x1p-24},
		{"largest subnormal", 0x03ff, 1023 * 0x1p-24},
		{"a third", 0x3555, 0.333251953125},
		{"infinity", 0x7c00, math.Inf(1)},
		{"minus infinity", 0xfc00, math.Inf(-1)},
		{"not a number", 0x7e00, math.NaN()},
	} {
		var got [1]float32
		ref.DequantizeF16(got[:], []byte{byte(c.bits), byte(c.bits >> 8)})
		if float64(got[0]) != c.want && !(math.IsNaN(c.want) && got[0] != got[0]) {
			t.Errorf("%s: %v, want %v", c.name, got[0], c.want)
		}
	}
}

func TestDequantize(t *testing.T) {
	var one [1]float32
	ref.DequantizeBF16(one[:], []byte{0xc0, 0x3f})
	if one[0] != 1.5 {
		t.Errorf("bfloat16 0x3fc0 is %v, want 1.5", one[0])
	}
	ref.DequantizeF32(one[:], []byte{0, 0, 0x20, 0xc0})
	if one[0] != -2.5 {
		t.Errorf("float32 0xc0200000 is %v, want -2.5", one[0])
	}
	block := make([]byte, ref.Q8_0.BlockBytes)
	block[1] = 0x38 // 0.5
	block[2], block[33] = 0x80, 3
	var q [ref.Block]float32
	ref.Q8_0.Dequantize(q[:], block)
	if q[0] != -64 || q[31] != 1.5 {
		t.Errorf("Q8_0 gives %v … %v, want -64 … 1.5", q[0], q[31])
	}
}

// The value of this sum depends on the order. Lane 0 adds 2²⁴, 1 and −2²⁴, which loses the 1; lane
// 1 keeps its 1.
func TestDotOrder(t *testing.T) {
	w, x := make([]float32, 33), make([]float32, 33)
	for _, k := range []int{0, 1, 16, 32} {
		w[k] = 1
	}
	x[0], x[1], x[16], x[32] = 1<<24, 1, 1, -1<<24
	if got := ref.Dot(w, x); got != 1 {
		t.Errorf("Dot is %v, want 1", got)
	}
}

func TestMatMulQ8_0ByHand(t *testing.T) {
	w := make([]byte, ref.Q8_0.BlockBytes)
	w[1] = 0x38           // scale 0.5
	w[2], w[3] = 10, 0xfe // 10, −2
	x := make([]float32, ref.Block)
	x[0], x[1] = 254, -127 // scale 2, quants 127 and −64 (−63.5 to even)
	var dst [1]float32
	ref.MatMulQuantized(dst[:], x, 1, ref.Q8_0, w, 1, ref.Block)
	if want := float32((10*127 + 2*64) * 0.5 * 2); dst[0] != want {
		t.Errorf("product is %v, want %v", dst[0], want)
	}
}

func TestQuantizeExtremes(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name  string
		first float32
		scale float32
		quant int8
	}{
		{"zeros", 0, 0, 0},
		{"subnormal", 1e-40, 0, 0},
		{"smallest that counts", ref.SmallestMagnitude, float32(ref.SmallestMagnitude) / 127, 127},
		{"largest", -math.MaxFloat32, math.MaxFloat32 / 127, -127},
		{"not a number", nan, nan, 0},
		{"infinity", inf, nan, 0},
	} {
		x := make([]float32, ref.Block)
		x[5] = c.first
		quants, scales := make([]int8, ref.Block), make([]float32, 1)
		ref.QuantizeRow(quants, scales, x)
		if math.Float32bits(scales[0]) != math.Float32bits(c.scale) && scales[0] == scales[0] ||
			(c.scale != c.scale) != (scales[0] != scales[0]) || quants[5] != c.quant {
			t.Errorf("%s: quant %d and scale %v, want %d and %v", c.name, quants[5], scales[0],
				c.quant, c.scale)
		}
	}
}

func TestArgmax(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, c := range []struct {
		name   string
		scores []float32
		best   int
		ok     bool
	}{
		{"lowest id wins", []float32{1, 3, 3}, 1, true},
		{"minus infinity is no best", []float32{-inf, -5}, 1, true},
		{"negative zero equals zero", []float32{float32(math.Copysign(0, -1)), 0}, 0, true},
		{"none finite", []float32{-inf, -inf}, -1, false},
		{"infinity", []float32{1, inf}, -1, false},
		{"nan after the best", []float32{1, nan}, -1, false},
		{"empty", nil, -1, false},
	} {
		if best, ok := ref.Argmax(c.scores); best != c.best || ok != c.ok {
			t.Errorf("%s: %d %v, want %d %v", c.name, best, ok, c.best, c.ok)
		}
	}
}

// With equal keys, attention is the mean of the values that it may see.
func TestAttentionIsCausalMean(t *testing.T) {
	q, keys := []float32{1, 1}, []float32{1, 1, 1}
	values := []float32{3, 5, 100}
	dst := make([]float64, 2)
	ref.Attention(dst, q, keys, values, 2, 0, 1, 1, 1, 1)
	if !slices.Equal(dst, []float64{3, 4}) {
		t.Errorf("attention is %v, want 3 and 4", dst)
	}
}

func TestRoPEPairs(t *testing.T) {
	// At position 1 with base 1, every pair is rotated by one radian.
	sin, cos := math.Sincos(1)
	neox, interleaved := []float64{1, 0, 0, 0, 7}, []float64{1, 0, 0, 0, 7}
	ref.RoPE(neox, 4, 1, 1, true, nil)
	ref.RoPE(interleaved, 4, 1, 1, false, []float64{1, 2})
	if !slices.Equal(neox, []float64{cos, 0, sin, 0, 7}) ||
		!slices.Equal(interleaved, []float64{cos, sin, 0, 0, 7}) {
		t.Errorf("rotated to %v and %v", neox, interleaved)
	}
}

func TestRMSNormAndSwiGLU(t *testing.T) {
	dst := make([]float64, 4)
	ref.RMSNorm(dst, []float32{3, 4, 0, 2}, []float32{1, 2}, 0)
	want := []float64{3 / math.Sqrt(12.5), 8 / math.Sqrt(12.5), 0, 4 / math.Sqrt(2)}
	for i := range want {
		if math.Abs(dst[i]-want[i]) > 1e-15 {
			t.Errorf("norm %d is %v, want %v", i, dst[i], want[i])
		}
	}
	if got := ref.SwiGLU(0, 5); got != 0 {
		t.Errorf("silu(0)·5 is %v", got)
	}
	if got, want := ref.SwiGLU(1, 2), 2/(1+math.Exp(-1)); got != want {
		t.Errorf("silu(1)·2 is %v, want %v", got, want)
	}
}
