package host

import (
	"specula/engine/compute"
	"specula/kernels/cpu"
)

// Tasks over rows that a pool shares out when a pass has many.

// normRows normalises; its items are the groups of len(w) numbers.
type normRows struct {
	dst, x []float32
	w      vector
	eps    float32
}

func (t *normRows) Do(from, to int) {
	n := len(t.w)
	cpu.RMSNorm(t.dst[from*n:to*n], t.x[from*n:to*n], t.w, t.eps)
}

// rotateRows rotates; its items are the heads of all rows.
type rotateRows struct {
	data []float32 // (m, Heads·HeadDim)
	rope compute.Rope
}

func (t *rotateRows) Do(from, to int) {
	r := &t.rope
	half := r.Dim / 2
	for i := from; i < to; i++ {
		angles := (r.Position + i/r.Heads) * half
		cpu.RoPE(t.data[i*r.HeadDim:][:r.HeadDim], r.Cos[angles:][:half], r.Sin[angles:][:half], r.NeoX)
	}
}

// storeRows puts keys and values into a layer of the cache; its items are the heads.
type storeRows struct {
	layer        *cpu.KV
	position, m  int
	width        int       // numbers of a row
	keys, values []float32 // (m, width)
}

func (t *storeRows) Do(from, to int) {
	for head := from; head < to; head++ {
		for i := range t.m {
			t.layer.Store(head, t.position+i, t.keys[i*t.width:], t.values[i*t.width:])
		}
	}
}

// pieceNumbers make an item where numbers are independent and items need not be rows.
const pieceNumbers = 512

// gateRows activates and multiplies.
type gateRows struct{ gate, up []float32 }

func (t *gateRows) Do(from, to int) {
	from, to = from*pieceNumbers, min(to*pieceNumbers, len(t.gate))
	cpu.SwiGLU(t.gate[from:to], t.up[from:to])
}

// addRows adds y to x.
type addRows struct{ x, y []float32 }

func (t *addRows) Do(from, to int) {
	from, to = from*pieceNumbers, min(to*pieceNumbers, len(t.x))
	cpu.Add(t.x[from:to], t.y[from:to])
}
