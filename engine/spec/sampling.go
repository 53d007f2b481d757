package spec

import (
	"specula/engine/compute"
	"specula/engine/sample"
)

// sampling describes how a device draws n draft tokens with ids below vocab, and judges them, for this
// Ask. It returns false if a device cannot do it: see Terms.Sampling.
func (a *Ask) sampling(n, vocab int) (compute.Sampling, bool) {
	t := Terms{Params: a.Params, Uniforms: a.Uniforms, Round: a.Round, Written: a.Written, Rule: a.Rule}
	s, ok := t.Sampling(n)
	s.Draft, s.Vocab = filters(a.drafting()), vocab
	if a.Look {
		s.Keep = min(1, n)
	}
	if a.Inspect {
		s.Keep = n
	}
	return s, ok
}

// drafting returns the filters of the draft: those of the target, at the draft's temperature.
func (a *Ask) drafting() sample.Params {
	p := a.Params
	if a.Sharpen > 0 {
		p.Temperature *= a.Sharpen
	}
	return p
}

// Sampling describes how a device judges a draft of n tokens and draws the next token. The caller adds
// how the draft is made: Draft and Vocab if the device samples it, Certain if it was not sampled.
// Sampling returns false if a device cannot judge: at temperature 0, by a rule that only the host has, with
// uniforms that a device cannot compute, and for more than compute.MostDrafts tokens.
func (t *Terms) Sampling(n int) (compute.Sampling, bool) {
	counted, ok := t.Uniforms.(sample.Counted)
	rule := t.Rule.traits().device
	if !ok || rule == nil || t.Params.Temperature <= 0 || n > compute.MostDrafts {
		return compute.Sampling{}, false
	}
	seed, reply := counted.Counter()
	return compute.Sampling{Target: filters(t.Params), Judgement: rule.judgement, Seed: seed, Reply: reply, Round: uint32(t.Round),
		Written: t.Written, Drafts: n}, true
}

func filters(p sample.Params) compute.Filters {
	return compute.Filters{Temperature: p.Temperature, TopK: p.TopK, TopP: p.TopP, MinP: p.MinP, TemperatureLast: p.TemperatureLast}
}
