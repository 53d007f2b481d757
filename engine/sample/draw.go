package sample

// Draw returns the token that the uniform u in [0,1) picks: the lowest id whose cumulative probability exceeds u.
// Probabilities are added in order of ids. Where rounding leaves the total at or below u, it is the last id that has a
// probability. So an id of probability 0, or one outside the vocabulary, is never drawn.
func Draw(d Dist, u float64) int32 {
	if d.P == nil {
		return d.Hot
	}
	last, sum := int32(-1), 0.0
	for id, p := range d.P {
		if p <= 0 {
			continue
		}
		last = int32(id)
		if sum += p; u < sum {
			return last
		}
	}
	if last < 0 {
		panic("sample: draw from a distribution without mass")
	}
	return last
}

// Residual returns the distribution to draw from after a token from q was refused by p: normalise(max(0, p−q)), written to
// dst (vocab numbers; may be p.P). Where that has no mass, which only rounding brings about, it is p itself.
// For a one-hot q it is p without that token. (Leviathan et al. 2023, appendix A.1; Chen et al. 2023, theorem 1)
func Residual(dst []float64, p, q Dist) Dist {
	if p.P == nil {
		return p // whatever q is, only p's single token can be left
	}
	mass := 0.0
	for id, target := range p.P {
		rest := max(0, target-q.Prob(int32(id)))
		dst[id] = rest
		mass += rest
	}
	if mass == 0 {
		return p
	}
	for id := range p.P {
		dst[id] /= mass
	}
	return Dist{P: dst[:len(p.P)]}
}
