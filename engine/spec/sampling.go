package spec

import (
	"specula/engine/compute"
	"specula/engine/sample"
)

// sampling is what a device draws and judges n draft tokens below vocab by, as this ask wants it. It reports false where a device
// cannot: at temperature 0, with uniforms that it cannot make, and for too many tokens.
func (a *Ask) sampling(n, vocab int) (compute.Sampling, bool) {
	s, ok := Sampling(a.Params, a.Uniforms, a.Round, n)
	s.Draft, s.Vocab = filters(a.drafting()), vocab
	if a.Look {
		s.Keep = min(1, n)
	}
	if a.Inspect {
		s.Keep = n
	}
	return s, ok
}

// drafting are the filters of the draft.
func (a *Ask) drafting() sample.Params {
	p := a.Params
	if a.Sharpen > 0 {
		p.Temperature *= a.Sharpen
	}
	return p
}

// Sampling is what a device judges a draft of n certain tokens by, and draws what follows. It reports false where a device cannot.
func Sampling(p sample.Params, u sample.Uniforms, round, n int) (compute.Sampling, bool) {
	counted, ok := u.(sample.Counted)
	if !ok || p.Temperature <= 0 || n > compute.MostDrafts {
		return compute.Sampling{}, false
	}
	seed, reply := counted.Counter()
	return compute.Sampling{Target: filters(p), Seed: seed, Reply: reply, Round: uint32(round), Drafts: n}, true
}

func filters(p sample.Params) compute.Filters {
	return compute.Filters{Temperature: p.Temperature, TopK: p.TopK, TopP: p.TopP, MinP: p.MinP, TemperatureLast: p.TemperatureLast}
}
