package model

import (
	"context"
	"math"

	"specula/engine/compute"
)

// pass runs operations over the same rows until one fails, and then skips the rest. So the layers
// need no error check after every line.
type pass struct {
	compute.Backend
	ctx   context.Context // of the call that this pass serves
	parts []Part
	rows  int // of all parts together
	eps   float32
	err   error
}

func (p *pass) norm(dst, x compute.Buffer, w compute.Vector) {
	if p.err == nil {
		p.err = p.RMSNorm(dst, x, p.rows, w, p.eps)
	}
}

// project multiplies x with w and adds bias, which may be nil. Most time goes into these products,
// so each one first checks whether the pass was cancelled.
func (p *pass) project(dst, x compute.Buffer, w compute.Matrix, bias compute.Vector) {
	if p.err == nil {
		p.err = p.ctx.Err()
	}
	if p.err == nil {
		p.err = p.MatMul(dst, x, p.rows, w)
	}
	if p.err == nil && bias != nil {
		p.err = p.AddBias(dst, p.rows, bias)
	}
}

// rotate applies RoPE to each part's rows, at that part's positions.
func (p *pass) rotate(x compute.Buffer, r compute.Rope) {
	for i := range p.parts {
		if part := &p.parts[i]; p.err == nil {
			r.Position = part.Cache.Len()
			p.err = p.RoPE(x, len(part.IDs), r)
			r.Row += len(part.IDs)
		}
	}
}

// attend lets each part's rows attend to that part's own sequence.
func (p *pass) attend(dst, q, k, v compute.Buffer, a compute.Attention) {
	for i := range p.parts {
		if part := &p.parts[i]; p.err == nil {
			a.Position = part.Cache.Len()
			p.err = p.Attend(dst, q, k, v, len(part.IDs), part.Cache, a)
			a.Row += len(part.IDs)
		}
	}
}

func (p *pass) swiGLU(gate, up compute.Buffer) {
	if p.err == nil {
		p.err = p.SwiGLU(gate, up, p.rows)
	}
}

func (p *pass) add(x, y compute.Buffer) {
	if p.err == nil {
		p.err = p.Add(x, y, p.rows)
	}
}

func (p *pass) copy(dst, x compute.Buffer, b compute.Block) {
	if p.err == nil {
		p.err = p.Copy(dst, x, p.rows, b)
	}
}

// attentionScale is 1/√HeadDim. It keeps the variance of q·k independent of the size of a head.
func (m *Model) attentionScale() float32 { return float32(1 / math.Sqrt(float64(m.config.HeadDim))) }
