package model

import (
	"fmt"
	"math"

	"specula/engine/compute"
)

// ropeTables hold cosine and sine for every position, computed in float64 and rounded once.
type ropeTables struct {
	cos, sin []float32 // (MaxTokens, RopeDim/2)
}

// newRopeTables computes the angles position/scale/base^(2i/dim), and divides them by factors[i]
// where a file has factors. Source: Su et al., RoFormer, 2021.
func newRopeTables(c *Config, factors []float32) (ropeTables, error) {
	pairs := c.RopeDim / 2
	frequencies := make([]float64, pairs)
	for i := range frequencies {
		frequencies[i] = math.Pow(c.RopeBase, -2*float64(i)/float64(c.RopeDim)) / c.RopeScale
		if factors == nil {
			continue
		}
		if f := float64(factors[i]); !(f > 0 && f <= math.MaxFloat32) {
			return ropeTables{}, fmt.Errorf("the tensor \"rope_freqs.weight\" has %v at %d; allowed are positive finite numbers", f, i)
		}
		frequencies[i] /= float64(factors[i])
	}
	t := ropeTables{make([]float32, c.MaxTokens*pairs), make([]float32, c.MaxTokens*pairs)}
	for position := range c.MaxTokens {
		for i, f := range frequencies {
			sin, cos := math.Sincos(float64(position) * f)
			t.cos[position*pairs+i], t.sin[position*pairs+i] = float32(cos), float32(sin)
		}
	}
	return t, nil
}

// rope describes the rotation of this many heads; the caller sets row and position.
func (m *Model) rope(heads int) compute.Rope {
	return compute.Rope{
		Heads: heads, HeadDim: m.config.HeadDim, Dim: m.config.RopeDim, NeoX: m.arch.neoX,
		Cos: m.angles.cos, Sin: m.angles.sin,
	}
}
