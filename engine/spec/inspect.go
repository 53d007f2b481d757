package spec

import (
	"errors"
	"slices"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Inspection is what a reader wants to know about a round beyond what decided it.
type Inspection struct {
	// The best candidates of both models at every position, best first: one entry for each draft token, and a last one behind
	// them. An entry is nil where a model has no (finite) opinion.
	Target [][]sample.Candidate // (len(draft)+1)
	Draft  [][]sample.Candidate // (len(draft)+1), the last always nil
	// P and Q are what target and draft gave to each draft token, by the same rows: a device that decided told fewer digits.
	P, Q []float64 // (len(draft)), Unknown where there is no row or nothing was left to chance
	// Kept is how many draft tokens each of Rules would have kept, by the same scores and uniforms.
	Kept [len(Rules)]int
}

// Inspect collects up to n candidates of each model and position, with the probabilities that were drawn with, or the plain
// softmax where nothing was left to chance, and judges the draft by every rule. It serves the reader, not the round: it copies whole rows from
// the device, once each, so call it after Verify and outside what is timed.
func (v *Verifier) Inspect(n int, target Rows, draft Draft, terms Terms) (Inspection, error) {
	in := Inspection{
		Target: make([][]sample.Candidate, len(draft.Tokens)+1),
		Draft:  make([][]sample.Candidate, len(draft.Tokens)+1),
		P:      slices.Repeat([]float64{Unknown}, len(draft.Tokens)),
		Q:      slices.Repeat([]float64{Unknown}, len(draft.Tokens)),
	}
	v.fit(target.Vocab())
	p, err := v.predict(Fallback, target, draft.Tokens, terms) // whatever decided, whole rows are looked at
	if err != nil {
		return in, err
	}
	defer p.close()
	others := v.compare(draft, terms)
	for i := range in.Target {
		row, err := p.at(i)
		if err == nil {
			in.Target[i] = v.candidates(row, v.scores, n)
			others.weigh(i, row)
		} else if !errors.Is(err, compute.ErrNotFinite) {
			return in, err
		}
		if i == len(draft.Tokens) {
			break
		}
		if err == nil && row.P != nil {
			in.P[i] = row.Prob(draft.Tokens[i])
		}
		if q := draft.Q[i]; i < len(draft.Logits) && !q.IsElsewhere() {
			in.Draft[i] = v.candidates(q, draft.Logits[i], n)
			if q.P != nil {
				in.Q[i] = q.Prob(draft.Tokens[i])
			}
		}
	}
	in.Kept = others.kept()
	return in, nil
}

// candidates are the best by finite scores, with the probabilities of the distribution that was made of them. A one-hot one says
// nothing about the others, so that the plain softmax takes its place.
func (v *Verifier) candidates(d sample.Dist, scores []float32, n int) []sample.Candidate {
	if d.P == nil {
		top, _ := v.sampler.Top(scores, n, sample.Params{}) // d was made of them, so they are finite
		return top
	}
	return v.sampler.Best(d, scores, n)
}
