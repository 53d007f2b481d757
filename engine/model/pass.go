package model

import (
	"context"
	"math"

	"specula/engine/compute"
)

// pass runs operations over the same rows until one fails; what comes after is skipped, so that the layers read
// without a check behind every line.
type pass struct {
	compute.Backend
	ctx  context.Context // of the call that the pass is for
	rows int
	eps  float32
	err  error
}

func (p *pass) norm(dst, x compute.Buffer, w compute.Vector) {
	if p.err == nil {
		p.err = p.RMSNorm(dst, x, p.rows, w, p.eps)
	}
}

// project multiplies with w and adds bias, which may be nil. Products are where the time goes, so each first looks whether
// the pass is still wanted.
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

func (p *pass) rotate(x compute.Buffer, r compute.Rope) {
	if p.err == nil {
		p.err = p.RoPE(x, p.rows, r)
	}
}

func (p *pass) attend(dst, q, k, v compute.Buffer, c compute.Cache, a compute.Attention) {
	if p.err == nil {
		p.err = p.Attend(dst, q, k, v, p.rows, c, a)
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

// attentionScale keeps the variance of q·k independent of the head's size.
func (m *Model) attentionScale() float32 { return float32(1 / math.Sqrt(float64(m.config.HeadDim))) }
