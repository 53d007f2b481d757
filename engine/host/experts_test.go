package host

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"specula/engine/compute"
)

// mixture is a backend with a feed-forward network of experts, whose weights depend on the seed
// alone.
type mixture struct {
	*Backend
	t              *testing.T
	routing        compute.Routing
	router         compute.Matrix
	gate, up, down compute.Matrix
	bias           compute.Vector
}

const (
	mixtureDim, mixtureFFN = 64, 96
	mixtureRows            = 9
)

func newMixture(t *testing.T, threads int) *mixture {
	m := &mixture{Backend: New(threads), t: t}
	t.Cleanup(func() { m.Close() })
	how := compute.Router{Experts: 6, Used: 2, Normed: true, Scale: 1}
	rng := rand.New(rand.NewPCG(3, 4))
	matrix := func(experts, rows, cols int) compute.Matrix {
		data := make([]byte, rows*max(experts, 1)*cols/32*34)
		for i := range data {
			data[i] = byte(rng.IntN(256))
		}
		for at := 1; at < len(data); at += 34 {
			data[at] &= 0xb7 // keep the exponent of the scale small
		}
		w, err := m.Matrix(context.Background(), compute.Weight{Name: "w", Type: compute.Q8_0, Rows: rows * max(experts, 1), Cols: cols, Experts: experts, Data: data})
		m.must(err)
		return w
	}
	m.router = matrix(0, how.Experts, mixtureDim)
	m.gate, m.up = matrix(how.Experts, mixtureFFN, mixtureDim), matrix(how.Experts, mixtureFFN, mixtureDim)
	m.down = matrix(how.Experts, mixtureDim, mixtureFFN)
	var err error
	m.routing, err = m.Routing(mixtureRows, how)
	m.must(err)
	numbers := make([]float32, how.Experts*mixtureFFN)
	for i := range numbers {
		numbers[i] = rng.Float32() - 0.5
	}
	m.bias, err = m.Vector("bias", numbers)
	m.must(err)
	return m
}

func (m *mixture) must(err error) {
	m.t.Helper()
	if err != nil {
		m.t.Fatal(err)
	}
}

func (m *mixture) buffer(rows, cols int) *buffer {
	b, err := m.Buffer(rows, cols)
	m.must(err)
	return b.(*buffer)
}

// run computes the network for the rows of x, which have mixtureDim numbers each.
func (m *mixture) run(x []float32) []float32 {
	n := len(x) / mixtureDim
	in, scores, out := m.buffer(n, mixtureDim), m.buffer(n, 6), m.buffer(n, mixtureDim)
	gate, up, down := m.buffer(2*n, mixtureFFN), m.buffer(2*n, mixtureFFN), m.buffer(2*n, mixtureDim)
	copy(in.data, x)
	m.must(m.MatMul(scores, in, n, m.router))
	m.must(m.Route(m.routing, scores, n, nil))
	m.must(m.MatMulExperts(gate, in, m.routing, m.gate, false))
	m.must(m.MatMulExperts(up, in, m.routing, m.up, false))
	m.must(m.AddExpertBias(gate, m.routing, m.bias))
	m.must(m.SwiGLU(gate, up, 2*n))
	m.must(m.MatMulExperts(down, gate, m.routing, m.down, true))
	m.must(m.Mix(out, down, m.routing))
	m.must(m.Weigh(out, n, m.buffer(n, 1)))
	m.flush()
	return out.data
}

// The output of a row has the same bits whether the row is alone or among others, and on one thread or
// several. Passes of different sizes may follow each other in one queue.
func TestMixtureRowsDoNotDependOnTheirCompany(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	x := make([]float32, mixtureRows*mixtureDim)
	for i := range x {
		x[i] = rng.Float32() - 0.5
	}
	one, three := newMixture(t, 1), newMixture(t, 3)
	var alone []float32
	for i := range mixtureRows {
		alone = append(alone, one.run(x[i*mixtureDim:][:mixtureDim])...)
	}
	if slices.Max(alone) == 0 {
		t.Fatal("there is no output")
	}
	for _, m := range []*mixture{one, three} {
		for _, rows := range []int{mixtureRows, 1, 4} {
			if got := m.run(x[:rows*mixtureDim]); !slices.Equal(got, alone[:rows*mixtureDim]) {
				t.Errorf("%d threads, %d rows: other numbers", m.pool.Threads(), rows)
			}
		}
	}
	before := three.routing.Touched()
	three.run(x[:mixtureDim])
	if got := three.routing.Touched().Minus(before); got != (compute.Touched{Experts: 2, Calls: 1}) {
		t.Errorf("one row touched %+v, want 2 experts in 1 call", got)
	}
}

func TestRoutingRefuses(t *testing.T) {
	b := New(1)
	defer b.Close()
	for _, r := range []compute.Router{{Experts: 4, Used: 5}, {Experts: 4}, {Experts: 200, Used: compute.MostUsed + 1}} {
		if _, err := b.Routing(1, r); err == nil {
			t.Errorf("%+v was accepted", r)
		}
	}
	if _, err := b.Matrix(context.Background(), compute.Weight{Name: "w", Type: compute.F32, Rows: 7, Cols: 2, Experts: 3, Data: make([]byte, 56)}); err == nil {
		t.Error("7 rows were divided among 3 experts")
	}
}
