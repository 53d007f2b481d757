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

// gateChunk is how many numbers make an item of gateRows.
const gateChunk = 512

// gateRows activates and multiplies; numbers are independent, so items need not be rows.
type gateRows struct{ gate, up []float32 }

func (t *gateRows) Do(from, to int) {
	from, to = from*gateChunk, min(to*gateChunk, len(t.gate))
	cpu.SwiGLU(t.gate[from:to], t.up[from:to])
}
