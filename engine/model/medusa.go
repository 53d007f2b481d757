package model

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"specula/engine/compute"
)

// Medusa is a row of small heads on the target's last hidden state: where the target's own output matrix tells the next token, head i
// tells the one i+1 places behind it. Each is some residual blocks, x + silu(W·x + b), and an output matrix. The heads do not know of each
// other's guesses. (Cai et al. 2024, «Medusa: Simple LLM inference acceleration framework with multiple decoding heads», §2.1.1)
type Medusa struct {
	target *Model
	heads  []medusaHead
	pass   pass
	x      compute.Buffer // (1, Dim)
	gate   compute.Buffer // (1, Dim)
	ones   compute.Buffer // (1, Dim): SiLU is SwiGLU with them
	scores compute.Buffer // (1, rows of the output matrix)
}

type medusaHead struct {
	blocks []medusaBlock
	output compute.Matrix
}

type medusaBlock struct {
	linear compute.Matrix // (Dim, Dim)
	bias   compute.Vector // (Dim), or nil
}

// maxMedusaHeads bounds the search for them; published files have up to 10.
const maxMedusaHeads = 64

// loadMedusa takes the names of the authors' files, {head}.{block}.linear.weight and {head}.{blocks}.weight, and those of vLLM. Heads
// without an output matrix each share lm_head.weight, or else the target's.
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
			own = required // what one head has, those behind it must have
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

// fillOnes looks them up in a table of one row.
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

// parametersPerToken is how many weights are read for one guess, whoever they belong to.
func (m *Medusa) parametersPerToken() (n int64) {
	for _, head := range m.heads {
		n += int64(head.output.Rows()) * int64(head.output.Cols())
		for _, b := range head.blocks {
			n += int64(b.linear.Rows()) * int64(b.linear.Cols())
		}
	}
	return n / int64(len(m.heads))
}

// Heads is how many tokens can be guessed at once.
func (m *Medusa) Heads() int { return len(m.heads) }
