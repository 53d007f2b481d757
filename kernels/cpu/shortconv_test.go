package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/ref"
)

// convolvedLayer is a short convolution with random weights, and inputs for some tokens.
type convolvedLayer struct {
	shape      StateShape
	x, conv, y []float32
}

func newConvolvedLayer(dim, kernel, tokens int) *convolvedLayer {
	r := rand.New(rand.NewPCG(6, uint64(dim)))
	return &convolvedLayer{
		shape: StateShape{Kind: ConvolutionState, Heads: 1, ValueDim: dim, Kernel: kernel},
		x:     normalNumbers(r, tokens*3*dim, 1), conv: normalNumbers(r, kernel*dim, 0.5), y: make([]float32, tokens*dim),
	}
}

// pass computes m tokens after position, and returns their results.
func (l *convolvedLayer) pass(s *State, position, m, threads int) []float32 {
	dim := l.shape.Width()
	t := &ShortConvolution{
		Dst: l.y[position*dim:][:m*dim], X: l.x[position*3*dim:][:m*3*dim], Conv: l.conv, State: s, M: m, Position: position,
	}
	t.Begin()
	for i := range threads {
		t.Do(i*t.Items()/threads, (i+1)*t.Items()/threads)
	}
	return append([]float32(nil), t.Dst...)
}

func TestShortConvolutionAgainstReference(t *testing.T) {
	const tokens = 60
	for _, dim := range []int{5, 128, 300} {
		for _, kernel := range []int{2, 3, 4} {
			l := newConvolvedLayer(dim, kernel, tokens)
			got := l.pass(NewState(l.shape, 8), 0, tokens, 1)
			want := make([]float64, len(got))
			ref.ShortConvolution(want, l.x, l.conv, tokens, dim, kernel)
			for i := range want {
				if diff := math.Abs(float64(got[i]) - want[i]); !(diff <= 3e-6*(1+math.Abs(want[i]))) {
					t.Fatalf("%d columns, %d tokens: number %d is %v, want %v", dim, kernel, i, got[i], want[i])
				}
			}
		}
	}
}

// Passes of any length, with tokens taken back after each, give the bits of single steps.
func TestShortConvolutionGivesTheBitsOfSingleSteps(t *testing.T) {
	const tokens, kept, dim = 90, 9, 300
	for _, kernel := range []int{2, 3, 5} {
		l := newConvolvedLayer(dim, kernel, tokens)
		var want []float32
		for i, s := 0, NewState(l.shape, kept); i < tokens; i++ {
			want = append(want, l.pass(s, i, 1, 1)...)
		}
		r := rand.New(rand.NewPCG(8, 0))
		for run := range 20 {
			s, snapshot, at := NewState(l.shape, kept), &Snapshot{}, 0
			s.Save(snapshot)
			for position := 0; position < tokens; {
				m := min(1+r.IntN(kept), tokens-position)
				if r.IntN(6) == 0 {
					m = min(1+r.IntN(3*kept), tokens-position) // some of these cannot be taken back
				}
				equalBits(t, fmt.Sprintf("kernel %d, run %d: %d rows after %d", kernel, run, m, position), l.pass(s, position, m, 1+r.IntN(2)), want[position*dim:][:m*dim])
				position += m - r.IntN(position+m-s.At+1)
				switch {
				case r.IntN(4) == 0:
					s.Save(snapshot)
					at = position
				case r.IntN(8) == 0:
					s.Restore(snapshot)
					position = at
				}
			}
		}
	}
}
