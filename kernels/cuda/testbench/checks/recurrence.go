package checks

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/kernels/cuda"
	"specula/kernels/ref"
)

// recurrentLayer has random weights, and inputs for some tokens.
type recurrentLayer struct {
	ref.Recurrent
	size           cuda.Recurrence
	x, alpha, beta []float32
	want           []float32 // all outputs, by ref
}

func newRecurrentLayer(shape ref.Recurrent, kept, tokens int) *recurrentLayer {
	r := rand.New(rand.NewPCG(21, uint64(shape.Heads)))
	normal := func(n int, by float32) []float32 {
		x := numbers(r, n)
		for i := range x {
			x[i] *= by
		}
		return x
	}
	l := &recurrentLayer{Recurrent: shape, size: cuda.Recurrence{KeyHeads: shape.KeyHeads, Heads: shape.Heads, KeyDim: shape.KeyDim,
		ValueDim: shape.ValueDim, Kernel: shape.Kernel, Gates: 1, Kept: kept}}
	width := l.size.Width()
	l.x, l.alpha, l.Convolution = normal(tokens*width, 1), normal(tokens*shape.Heads, 2), normal(shape.Kernel*width, 0.5)
	l.Rate, l.Shift, l.Eps = normal(shape.Heads, 1), normal(shape.Heads, 1), 1e-6
	for i, v := range l.Rate {
		l.Rate[i] = -float32(math.Exp(float64(v)))
	}
	if shape.Delta {
		l.size.Gates, l.beta = 2, normal(tokens*shape.Heads, 2)
	} else {
		l.Bias, l.Skip = normal(width, 0.5), normal(shape.Heads, 1)
	}
	l.want = make([]float32, tokens*shape.Heads*shape.ValueDim)
	l.Rows(l.want, l.x, l.alpha, l.beta, tokens)
	return l
}

// exact returns the outputs in float64.
func (l *recurrentLayer) exact(tokens int) []float64 {
	want := make([]float64, len(l.want))
	if l.Delta {
		ref.DeltaNet(want, l.x, l.alpha, l.beta, l.Convolution, l.Rate, l.Shift, tokens, l.KeyHeads, l.Heads, l.KeyDim, l.ValueDim, l.Kernel, l.Grouped, float64(l.Eps))
	} else {
		ref.Mamba2(want, l.x, l.alpha, l.Convolution, l.Bias, l.Rate, l.Shift, l.Skip, tokens, l.KeyHeads, l.Heads, l.KeyDim, l.ValueDim, l.Kernel)
	}
	return want
}

// kept is what a cache keeps of a layer, with the numbers that the host updates; see kernels/cuda/src/recurrence.h.
type kept struct {
	state, ring []float32
	numbers     []int32 // position, at and row
}

func newKept(size cuda.Recurrence) *kept {
	return &kept{garbage(size.StateNumbers()), garbage(size.RingNumbers()), make([]int32, cuda.PassNumbers)}
}

func (k *kept) clone() *kept {
	return &kept{slices.Clone(k.state), slices.Clone(k.ring), slices.Clone(k.numbers)}
}

// advance sets the numbers for the pass that follows a pass of m rows.
func (k *kept) advance(size cuda.Recurrence, m int) {
	k.numbers[1] = max(k.numbers[0], k.numbers[0]+int32(m-size.Kept))
	k.numbers[0] += int32(m)
	k.numbers[2] = (k.numbers[2] + int32(min(m, size.MostStored()))) % int32(size.RingRows())
}

// truncate takes n tokens back.
func (k *kept) truncate(size cuda.Recurrence, n int) {
	k.numbers[0] -= int32(n)
	k.numbers[2] = (k.numbers[2] - int32(n) + int32(size.RingRows())) % int32(size.RingRows())
}

// pass runs m rows and returns their outputs.
func (l *recurrentLayer) pass(launch Launch, k *kept, m int) []float32 {
	position, width, grouped := int(k.numbers[0]), l.size.Width(), flag(l.Grouped)
	rows := func(x []float32, cols int) []float32 { return x[position*cols:][:m*cols] }
	dst := garbage(m * l.Heads * l.ValueDim)
	shape := []any{int32(m), int32(l.KeyHeads), int32(l.Heads), int32(l.KeyDim), int32(l.ValueDim), int32(l.Kernel), grouped, int32(l.size.Kept)}
	memory := []any{k.state, k.ring, k.numbers}
	at, arguments := l.size.Mamba2(), []any{dst, rows(l.x, width), rows(l.alpha, l.Heads)}
	if l.Delta {
		at = l.size.DeltaNet()
		arguments = append(arguments, rows(l.beta, l.Heads), l.Convolution, pointer(l.Bias), l.Rate, l.Shift)
		shape = append(shape, l.Eps)
	} else {
		arguments = append(arguments, l.Convolution, pointer(l.Bias), l.Rate, l.Shift, l.Skip)
	}
	launch(at.Kernel, [3]int{at.GridX, at.GridY, 1}, line(at.Threads), slices.Concat(arguments, memory, shape)...)
	k.advance(l.size, m)
	return dst
}

// pointer is a null pointer for nil.
func pointer(x []float32) any {
	if x == nil {
		return nil
	}
	return x
}

// recurrentShapes have the state sizes of families of models, some with fewer heads, and odd sizes.
func recurrentShapes() []ref.Recurrent {
	return []ref.Recurrent{
		{Delta: true, KeyHeads: 2, Heads: 4, KeyDim: 16, ValueDim: 24, Kernel: 4},
		{Delta: true, KeyHeads: 2, Heads: 6, KeyDim: 9, ValueDim: 5, Kernel: 2, Grouped: true},
		{Delta: true, KeyHeads: 1, Heads: 2, KeyDim: 64, ValueDim: 64, Kernel: 3},
		{Delta: true, KeyHeads: 1, Heads: 2, KeyDim: 128, ValueDim: 128, Kernel: 4, Grouped: true},
		{Delta: true, KeyHeads: 1, Heads: 1, KeyDim: 256, ValueDim: 256, Kernel: 4},
		{KeyHeads: 1, Heads: 2, KeyDim: 16, ValueDim: 64, Kernel: 4, Grouped: true},
		{KeyHeads: 2, Heads: 4, KeyDim: 128, ValueDim: 32, Kernel: 4, Grouped: true},
		{KeyHeads: 1, Heads: 2, KeyDim: 128, ValueDim: 80, Kernel: 3, Grouped: true},
		{KeyHeads: 1, Heads: 1, KeyDim: 256, ValueDim: 128, Kernel: 4, Grouped: true},
		{KeyHeads: 2, Heads: 4, KeyDim: 37, ValueDim: 17, Kernel: 6, Grouped: true},
	}
}

func shapeName(s ref.Recurrent) string {
	name := "Mamba-2"
	if s.Delta {
		name = "delta net"
	}
	return fmt.Sprintf("%s, %d heads of %d × %d, kernel %d", name, s.Heads, s.KeyDim, s.ValueDim, s.Kernel)
}

// Recurrences checks delta_net and mamba2 by passes of random lengths. After a pass, tokens may be taken back,
// or the cache goes back to a checkpoint. The bits must be those of ref, which computes token after token. Of the
// shapes it takes those whose number is first plus a multiple of every.
func Recurrences(t *testing.T, launch Launch, first, every int) {
	t.Helper()
	const tokens, most = 60, 5
	for i, shape := range recurrentShapes() {
		if i%every != first%every {
			continue
		}
		l := newRecurrentLayer(shape, most, tokens)
		width, name := shape.Heads*shape.ValueDim, shapeName(shape)
		r := rand.New(rand.NewPCG(22, uint64(shape.KeyDim)))
		k := newKept(l.size)
		checkpoint := k.clone()
		for position := 0; position < tokens; position = int(k.numbers[0]) {
			m := min(1+r.IntN(most), tokens-position)
			if r.IntN(4) == 0 {
				m = min(1+r.IntN(33), tokens-position) // not all of its tokens can be taken back
			}
			got := l.pass(launch, k, m)
			sameBits(t, fmt.Sprintf("%s: %d rows after %d", name, m, position), got, l.want[position*width:][:m*width])
			if t.Failed() {
				return
			}
			k.truncate(l.size, r.IntN(min(m, most)+1)*r.IntN(2))
			switch r.IntN(8) {
			case 0, 1:
				checkpoint = k.clone()
			case 2:
				k = checkpoint.clone()
			}
		}
	}
}

// recurrentBound is how far an output of ref's recurrences may be from the exact output x, relative to 1 + |x|.
// Each token adds a few roundings of 2⁻²⁴ and the error of an exponential, below 10⁻⁶; errors of earlier tokens
// decay. The output of a Mamba-2 layer is a sum of KeyDim numbers, so its error may be √KeyDim times as large.
func recurrentBound(s ref.Recurrent) float64 {
	if s.Delta {
		return 3e-6
	}
	return 3e-6 * math.Sqrt(float64(s.KeyDim))
}

// RecurrencesAreExact checks ref's recurrences against those in float64.
func RecurrencesAreExact(t *testing.T) {
	const tokens = 60
	for _, shape := range recurrentShapes() {
		l, worst := newRecurrentLayer(shape, 5, tokens), 0.0
		for i, v := range l.exact(tokens) {
			worst = max(worst, math.Abs(float64(l.want[i])-v)/(1+math.Abs(v)))
		}
		t.Logf("%s: at most %.2g of the magnitude from the exact outputs", shapeName(shape), worst)
		if bound := recurrentBound(shape); !(worst <= bound) {
			t.Errorf("%s: %g from the exact outputs, want at most %g", shapeName(shape), worst, bound)
		}
	}
}

// ShortConvolutions checks short_convolution by passes of random lengths, after which tokens may be taken back.
// The bits must be those of ref.
func ShortConvolutions(t *testing.T, launch Launch) {
	t.Helper()
	const tokens, most = 70, 5
	for _, c := range []struct {
		dim, kernel int
		bias        bool
	}{{300, 3, false}, {64, 4, true}, {7, 1, true}, {33, 9, false}} {
		r := rand.New(rand.NewPCG(23, uint64(c.dim)))
		size := cuda.Recurrence{Heads: 1, ValueDim: c.dim, Kernel: c.kernel, Kept: most}
		x, conv, bias := numbers(r, tokens*3*c.dim), numbers(r, c.kernel*c.dim), []float32(nil)
		if c.bias {
			bias = numbers(r, c.dim)
		}
		want := make([]float32, tokens*c.dim)
		ref.ShortConvolutionRows(want, x, conv, bias, tokens, c.dim, c.kernel)
		if !c.bias {
			exact := make([]float64, len(want))
			ref.ShortConvolution(exact, x, conv, tokens, c.dim, c.kernel)
			for i, v := range exact {
				if math.Abs(float64(want[i])-v) > 2e-6*(1+math.Abs(v)) {
					t.Errorf("number %d of the reference is %g, the exact one %g", i, want[i], v)
					return
				}
			}
		}
		k := newKept(size)
		for position := 0; position < tokens; position = int(k.numbers[0]) {
			m := min(1+r.IntN([]int{most, 33}[r.IntN(4)/3]), tokens-position)
			got, at := garbage(m*c.dim), size.ShortConvolution(m)
			launch(at.Kernel, [3]int{at.GridX, at.GridY, 1}, line(at.Threads), got, x[position*3*c.dim:][:m*3*c.dim], conv, pointer(bias), k.ring, k.numbers,
				int32(m), int32(c.dim), int32(c.kernel), int32(most))
			sameBits(t, fmt.Sprintf("%d columns, kernel %d: %d rows after %d", c.dim, c.kernel, m, position), got, want[position*c.dim:][:m*c.dim])
			k.advance(size, m)
			k.truncate(size, r.IntN(min(m, most)+1)*r.IntN(2))
		}
	}
}
