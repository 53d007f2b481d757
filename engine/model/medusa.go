package model

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
)

// Medusa is a list of small heads on the target's last hidden state. The target's output matrix
// predicts the next token; head i predicts the token that comes i+1 tokens later. A head has some
// residual blocks, x + silu(W·x + b), and an output matrix. No head sees the tokens of the other heads.
// (Cai et al. 2024, «Medusa: Simple LLM inference acceleration framework with multiple decoding heads»,
// §2.1.1)
type Medusa struct {
	target *Model
	heads  []medusaHead
	pass   pass
	x      compute.Buffer // the hidden state, and after each block the block's result; like all four buffers, one row
	gate   compute.Buffer // what a block adds to x
	ones   compute.Buffer // all 1: SwiGLU with this factor is SiLU
	scores compute.Buffer // logits of a head
}

type medusaHead struct {
	blocks []medusaBlock
	output compute.Matrix
}

type medusaBlock struct {
	linear compute.Matrix // W
	bias   compute.Vector // b; nil: none
}

// maxMedusaHeads limits the search for heads; published files have up to 10.
const maxMedusaHeads = 64

// loadMedusa loads heads by the names in the authors' files, or by vLLM's names. The authors call a block's
// matrix {head}.{block}.linear.weight, and an output matrix {head}.{number of blocks}.weight. Heads
// without an output matrix share lm_head.weight, or else the target's output matrix.
func loadMedusa(h *headTensors, target *Model, c headConfig) (*Medusa, error) {
	dim := target.config.Dim
	m := &Medusa{target: target}
	own := optional
	for i := 0; i < maxMedusaHeads && h.has(medusaLinear(i, 0, "weight")...); i++ {
		var head medusaHead
		for l := 0; h.err == nil && h.has(medusaLinear(i, l, "weight")...); l++ {
			head.blocks = append(head.blocks, medusaBlock{
				h.matrix(dim, dim, required, medusaLinear(i, l, "weight")...), h.vector(dim, optional, medusaLinear(i, l, "bias")...),
			})
		}
		head.output = h.matrix(0, dim, own, fmt.Sprintf("%d.%d.weight", i, len(head.blocks)), fmt.Sprintf("lm_heads.%d.weight", i))
		switch {
		case head.output != nil:
			own = required // if one head has its own output matrix, all later heads must have one
		case i > 0:
			head.output = m.heads[0].output
		default:
			if head.output = h.matrix(0, dim, optional, "lm_head.weight"); head.output == nil {
				head.output = target.Output
			}
		}
		m.heads = append(m.heads, head)
	}
	if h.err != nil {
		return nil, h.err
	}
	if c.MedusaHeads > 0 && c.MedusaHeads < len(m.heads) {
		m.heads = m.heads[:c.MedusaHeads]
	}
	scores := m.heads[0].output.Rows()
	for i, head := range m.heads {
		if head.output.Rows() != scores {
			return nil, fmt.Errorf("head %d of %q has %d scores, head 0 has %d: they must agree", i, h.file.Name(), head.output.Rows(), scores)
		}
	}
	if err := fitsVocabulary(h.file, scores, target.config.Vocab); err != nil {
		return nil, err
	}
	if err := h.leftover(); err != nil {
		return nil, err
	}
	if err := allocateAll(target.backend, []size{{&m.x, 1, dim}, {&m.gate, 1, dim}, {&m.ones, 1, dim}, {&m.scores, 1, scores}}); err != nil {
		return nil, err
	}
	return m, m.fillOnes(h.ctx)
}

func medusaLinear(head, block int, part string) []string {
	return []string{fmt.Sprintf("%d.%d.linear.%s", head, block, part), fmt.Sprintf("blocks.%d.layers.%d.%s", head, block, part)}
}

// fillOnes fills ones by an embedding lookup in a table of one row.
func (m *Medusa) fillOnes(ctx context.Context) error {
	row := compute.Weight{Name: "ones", Type: compute.F32, Rows: 1, Cols: m.target.config.Dim}
	for range row.Cols {
		row.Data = binary.LittleEndian.AppendUint32(row.Data, math.Float32bits(1))
	}
	table, err := m.target.backend.Matrix(ctx, row)
	if err != nil {
		return err
	}
	return m.target.backend.Embed(m.ones, table, []int32{0})
}

// parametersPerToken returns how many weights a head reads to draft one token, on average over the
// heads. An output matrix that several heads share, or that is the target's, counts for each of them.
func (m *Medusa) parametersPerToken() (n int64) {
	for _, head := range m.heads {
		n += int64(head.output.Rows()) * int64(head.output.Cols())
		for _, b := range head.blocks {
			n += int64(b.linear.Rows()) * int64(b.linear.Cols())
		}
	}
	return n / int64(len(m.heads))
}

// Heads returns how many tokens the heads can draft at once.
func (m *Medusa) Heads() int { return len(m.heads) }
