package model

import (
	"context"

	"specula/engine/compute"
)

// pass runs operations over the same rows until one fails, and skips those after it. So layers need no
// error check after each line.
type pass struct {
	compute.Backend
	model *Model
	ctx   context.Context // context of the call that this pass serves
	parts []Part
	rows  int // number of rows of all parts together
	err   error
}

// norm writes the norm of x to dst.
func (p *pass) norm(dst, x compute.Buffer, w, bias compute.Vector) {
	p.normBy(p.model.config.NormEps, dst, x, w, bias)
}

func (p *pass) normBy(by float64, dst, x compute.Buffer, w, bias compute.Vector) {
	if p.err != nil {
		return
	}
	eps := float32(by)
	if p.model.arch.layerNorm {
		p.err = p.extra().LayerNorm(dst, x, p.rows, w, w.Len(), eps)
	} else {
		p.err = p.RMSNorm(dst, x, p.rows, w, eps)
	}
	if p.err == nil && bias != nil {
		p.err = p.AddBias(dst, p.rows, bias)
	}
}

// normed writes the norm of x to dst and returns dst. Without a norm (w is nil) it returns x.
func (p *pass) normed(dst, x compute.Buffer, w, bias compute.Vector) compute.Buffer {
	if w == nil {
		return x
	}
	p.norm(dst, x, w, bias)
	return dst
}

// normHeads normalises queries or keys, if w is not nil.
func (p *pass) normHeads(x compute.Buffer, w compute.Vector, headDim int) {
	switch {
	case w == nil || p.err != nil:
	case p.model.arch.layerNorm:
		p.err = p.extra().LayerNorm(x, x, p.rows, w, headDim, float32(p.model.config.NormEps))
	default:
		p.norm(x, x, w, nil)
	}
}

// project multiplies x with w and adds bias, which may be nil. Most time is spent in these products,
// so each first checks whether the pass was cancelled.
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

// rotate applies RoPE to the queries and keys of each part, at the positions of that part.
func (p *pass) rotate(l *layer) {
	if l.rope == nil {
		return
	}
	s := &l.shape
	rope := compute.Rope{Heads: s.heads, HeadDim: s.keyDim, Dim: s.ropeDim, NeoX: p.model.arch.neoX, Cos: l.rope.queryCos, Sin: l.rope.querySin}
	p.rotateRows(l.buffers.query, rope)
	if s.borrows {
		return
	}
	rope.Heads, rope.Cos, rope.Sin = s.kvHeads, l.rope.cos, l.rope.sin
	p.rotateRows(l.buffers.key, rope)
}

func (p *pass) rotateRows(x compute.Buffer, r compute.Rope) {
	for i := range p.parts {
		if part := &p.parts[i]; p.err == nil {
			r.Position = part.Cache.Len()
			p.err = p.RoPE(x, len(part.IDs), r)
			r.Row += len(part.IDs)
		}
	}
}

// attend lets the rows of each part attend to the tokens in the part's cache and to the part's own. It
// first stores the keys and values of the rows there, if k and v are not nil. The layers of a drafter
// (borrowsAll) store nothing, and attend only to the tokens in the cache.
func (p *pass) attend(dst, q, k, v compute.Buffer, a compute.Attention) {
	for i := range p.parts {
		if part := &p.parts[i]; p.err == nil {
			a.Position = part.Cache.Len()
			if p.model.arch.borrowsAll {
				p.err = p.Backend.(compute.PastReader).AttendPast(dst, q, part.Cache, a)
				continue
			}
			p.err = p.Attend(dst, q, k, v, len(part.IDs), part.Cache, a)
			a.Row += len(part.IDs)
		}
	}
}

// gate writes f(gate)·up to gate.
func (p *pass) gate(gate, up compute.Buffer, f compute.Activation) { p.gateRows(gate, up, p.rows, f) }

func (p *pass) gateRows(gate, up compute.Buffer, rows int, f compute.Activation) {
	switch {
	case p.err != nil:
	case f == compute.SiLU:
		p.err = p.SwiGLU(gate, up, rows)
	default:
		p.err = p.extra().Activate(gate, up, rows, f)
	}
}

// gateAttention returns the output of attention. If the layer has the matrix AttentionGate, it first
// multiplies each number of the output by σ(z) = 1/(1+exp(−z)), where z is the number in the same row and
// column of the product of x and AttentionGate.
func (p *pass) gateAttention(x compute.Buffer, l *layer) compute.Buffer {
	b := l.buffers
	if l.AttentionGate == nil {
		return b.attended
	}
	p.project(b.attentionGate, x, l.AttentionGate, nil)
	p.gate(b.attentionGate, b.attended, compute.Sigmoid)
	return b.attentionGate
}

// normEmbeddings normalises embeddings, without weights, if the family does.
func (p *pass) normEmbeddings() {
	if p.model.ones != nil {
		p.norm(p.model.activations.residual, p.model.activations.residual, p.model.ones, nil)
	}
}

func (p *pass) activate(x compute.Buffer, f compute.Activation) { p.activateRows(x, p.rows, f) }

func (p *pass) activateRows(x compute.Buffer, rows int, f compute.Activation) {
	if p.err == nil {
		p.err = p.extra().Activate(x, nil, rows, f)
	}
}

func (p *pass) add(x, y compute.Buffer) {
	if p.err == nil {
		p.err = p.Add(x, y, p.rows)
	}
}

// contribute adds activations.output, which attention or the feed-forward network computed, to the
// residual stream. Before the addition it normalises the output if norm is not nil, and multiplies
// it by ResidualScale.
func (p *pass) contribute(norm compute.Vector) {
	a := &p.model.activations
	if norm != nil {
		p.normBy(p.model.postNormEps(), a.output, a.output, norm, nil)
	}
	p.scale(a.output, p.model.config.ResidualScale)
	p.add(a.residual, a.output)
}

func (p *pass) scale(x compute.Buffer, factor float64) {
	if p.err == nil && factor != 0 && factor != 1 {
		p.err = p.extra().Scale(x, p.rows, float32(factor))
	}
}

func (p *pass) softCap(x compute.Buffer, limit float64) {
	if p.err == nil && limit != 0 {
		p.err = p.extra().SoftCap(x, p.rows, float32(limit))
	}
}

func (p *pass) copy(dst, x compute.Buffer, b compute.Block) {
	if p.err == nil {
		p.err = p.Copy(dst, x, p.rows, b)
	}
}

// extra returns the backend's Extra, which exists: checkOperations has refused a model that needs it
// if the backend has none.
func (p *pass) extra() compute.Extra { return p.Backend.(compute.Extra) }
