package spec

import (
	"errors"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Inspection is what a reader wants to know about a round beyond what decided it.
type Inspection struct {
	// The best candidates of both models at every position, best first: one entry for each draft token, and a last one behind
	// them. An entry is nil where a model has no (finite) opinion.
	Target [][]sample.Candidate // (len(draft)+1)
	Draft  [][]sample.Candidate // (len(draft)+1), the last always nil
	// Kept is how many draft tokens each of Rules would have kept, by the same scores and uniforms.
	Kept [len(Rules)]int
}

// Inspect collects up to n candidates of each model and position, with the probabilities a draw would use, or the plain
// softmax at temperature 0, and judges the draft by every rule. It serves the reader, not the round: it copies whole rows from
// the device, once each, so call it after Verify and outside what is timed.
func (v *Verifier) Inspect(n int, target Rows, draft Draft, terms Terms) (Inspection, error) {
	in := Inspection{
		Target: make([][]sample.Candidate, len(draft.Tokens)+1),
		Draft:  make([][]sample.Candidate, len(draft.Tokens)+1),
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
			in.Target[i] = v.candidates(row, n)
			others.weigh(i, row)
		} else if !errors.Is(err, compute.ErrNotFinite) {
			return in, err
		}
		if i < len(draft.Logits) {
			if in.Draft[i], err = v.sampler.Top(draft.Logits[i], n, terms.Params); err != nil && !errors.Is(err, compute.ErrNotFinite) {
				return in, err
			}
		}
	}
	in.Kept = others.kept()
	return in, nil
}

// candidates are the best of the row that was read last, whose distribution is given.
func (v *Verifier) candidates(p sample.Dist, n int) []sample.Candidate {
	if p.P == nil {
		top, _ := v.sampler.Top(v.scores, n, sample.Params{}) // it has been read, so it is finite
		return top
	}
	return v.sampler.Best(p, v.scores, n)
}
