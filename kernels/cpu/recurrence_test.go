package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/kernels/ref"
)

// recurrentLayer has random weights, and inputs for some tokens.
type recurrentLayer struct {
	shape                                            StateShape
	x, alpha, beta, conv, bias, rate, shift, skip, y []float32
	room                                             []float32
}

func newRecurrentLayer(shape StateShape, tokens int) *recurrentLayer {
	r := rand.New(rand.NewPCG(5, uint64(shape.Heads)))
	normal := func(n int, by float64) []float32 { return normalNumbers(r, n, by) }
	l := &recurrentLayer{shape: shape, x: normal(tokens*shape.Width(), 1), alpha: normal(tokens*shape.Heads, 2), beta: normal(tokens*shape.Heads, 2)}
	l.conv, l.shift, l.rate = normal(shape.Kernel*shape.Width(), 0.5), normal(shape.Heads, 1), normal(shape.Heads, 1)
	for i, v := range l.rate {
		l.rate[i] = -float32(math.Exp(float64(v)))
	}
	if shape.Kind == Mamba2State {
		l.beta, l.bias, l.skip = nil, normal(shape.Width(), 0.5), normal(shape.Heads, 1)
	}
	l.y, l.room = make([]float32, tokens*shape.Heads*shape.ValueDim), make([]float32, shape.StateNumbers())
	return l
}

func normalNumbers(r *rand.Rand, n int, deviation float64) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(r.NormFloat64() * deviation)
	}
	return x
}

// pass computes m tokens after position, and returns their results.
func (l *recurrentLayer) pass(s *State, position, m, threads int) []float32 {
	at := func(x []float32, cols int) []float32 {
		if x == nil {
			return nil
		}
		return x[position*cols:][:m*cols]
	}
	t := &Recurrence{
		Dst: at(l.y, l.shape.Heads*l.shape.ValueDim), X: at(l.x, l.shape.Width()), Alpha: at(l.alpha, l.shape.Heads), Beta: at(l.beta, l.shape.Heads),
		Conv: l.conv, Bias: l.bias, Rate: l.rate, Shift: l.shift, Skip: l.skip, Eps: 1e-6, State: s, M: m, Position: position, Room: l.room,
	}
	t.Begin()
	for i := range threads {
		t.Do(i*t.Items()/threads, (i+1)*t.Items()/threads)
	}
	t.Store.Do(0, t.Store.Items())
	return append([]float32(nil), t.Dst...)
}

func recurrentShapes() []StateShape {
	return []StateShape{
		{DeltaNetState, 2, 4, 16, 24, 4, false}, {DeltaNetState, 2, 6, 16, 24, 4, true}, {DeltaNetState, 1, 3, 8, 5, 2, false},
		{DeltaNetState, 2, 2, 64, 64, 4, false}, {DeltaNetState, 2, 2, 40, 40, 3, false},
		{Mamba2State, 2, 4, 16, 24, 4, true}, {Mamba2State, 1, 3, 9, 5, 2, true}, {Mamba2State, 2, 6, 128, 64, 4, true}, {Mamba2State, 1, 2, 256, 8, 3, true},
	}
}

func TestRecurrenceAgainstReference(t *testing.T) {
	const tokens = 70
	for _, shape := range recurrentShapes() {
		l := newRecurrentLayer(shape, tokens)
		got := l.pass(NewState(shape, 8), 0, tokens, 1)
		want := make([]float64, len(got))
		if shape.Kind == Mamba2State {
			ref.Mamba2(want, l.x, l.alpha, l.conv, l.bias, l.rate, l.shift, l.skip, tokens, shape.KeyHeads, shape.Heads, shape.KeyDim, shape.ValueDim, shape.Kernel)
		} else {
			ref.DeltaNet(want, l.x, l.alpha, l.beta, l.conv, l.rate, l.shift, tokens, shape.KeyHeads, shape.Heads, shape.KeyDim, shape.ValueDim, shape.Kernel, shape.Grouped, 1e-6)
		}
		most := 2e-6
		if shape.Kind == Mamba2State { // its queries and keys are not of length 1
			most *= math.Sqrt(float64(shape.KeyDim))
		}
		for i := range want {
			if diff := math.Abs(float64(got[i]) - want[i]); !(diff <= most*(1+math.Abs(want[i]))) {
				t.Fatalf("%+v: number %d is %v, want %v", shape, i, got[i], want[i])
			}
		}
	}
}

// Passes of any length, with tokens taken back after each, give the bits of single steps.
func TestRecurrenceGivesTheBitsOfSingleSteps(t *testing.T) {
	const tokens, kept = 90, 9
	for _, shape := range recurrentShapes() {
		l := newRecurrentLayer(shape, tokens)
		var want []float32
		for i, s := 0, NewState(shape, kept); i < tokens; i++ {
			want = append(want, l.pass(s, i, 1, 1)...)
		}
		width := shape.Heads * shape.ValueDim
		r := rand.New(rand.NewPCG(8, 0))
		for run := range 20 {
			s, snapshot, at := NewState(shape, kept), &Snapshot{}, 0
			s.Save(snapshot)
			for position := 0; position < tokens; {
				m := min(1+r.IntN(kept), tokens-position)
				if r.IntN(6) == 0 {
					m = min(1+r.IntN(3*kept), tokens-position) // some of these cannot be taken back
				}
				equalBits(t, fmt.Sprintf("%+v, run %d: %d rows after %d", shape, run, m, position), l.pass(s, position, m, 1+r.IntN(2)), want[position*width:][:m*width])
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

func TestRecurrenceAllocatesNothing(t *testing.T) {
	for _, shape := range recurrentShapes() {
		l := newRecurrentLayer(shape, 4)
		task := &Recurrence{Dst: l.y, X: l.x, Alpha: l.alpha, Beta: l.beta, Conv: l.conv, Bias: l.bias, Rate: l.rate, Shift: l.shift, Skip: l.skip, Eps: 1e-6,
			State: NewState(shape, 8), M: 4, Room: l.room}
		task.Begin()
		if n := testing.AllocsPerRun(10, func() { task.Do(0, task.Items()) }); n != 0 {
			t.Errorf("%+v: %v allocations", shape, n)
		}
	}
}

func TestSoftplus(t *testing.T) {
	for x := float32(-90); x < 90; x += 0.037 {
		got, want := float64(softplus(x)), math.Log1p(math.Exp(float64(x)))
		if math.Abs(got-want) > 3e-7*want+0x1p-126 {
			t.Fatalf("softplus(%v) is %v, want %v", x, got, want)
		}
	}
}

// Passes over the sizes of Qwen3.5-0.8B and Granite 4 Tiny.
func BenchmarkRecurrence(b *testing.B) {
	const most = 512
	for _, shape := range []StateShape{{DeltaNetState, 16, 16, 128, 128, 4, false}, {Mamba2State, 1, 48, 128, 64, 4, true}} {
		for _, m := range []int{1, 5, 512} {
			b.Run(fmt.Sprint(shape.Kind, "/", m), func(b *testing.B) {
				l := newRecurrentLayer(shape, most+8)
				s := NewState(shape, 33)
				l.pass(s, 0, 8, 1)
				for b.Loop() {
					s.At = 7
					l.pass(s, 8, m, 1)
				}
				b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*m), "µs/token")
			})
		}
	}
}
