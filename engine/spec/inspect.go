package spec

import (
	"errors"
	"slices"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Inspection is what a person may want to know about a round, beyond what the verdict needs.
type Inspection struct {
	// The best candidates of both models at each position, best first: one entry for each draft token, and
	// one for the token after them. An entry is nil where a model has no row or a row that is not finite.
	Target [][]sample.Candidate
	Draft  [][]sample.Candidate // the last entry is always nil
	// P and Q are what target and proposer gave to each draft token, computed from the same rows. They
	// are more exact than the numbers of a device that judged the draft by itself. A number is Unknown where
	// there is no row, or a one-hot row. P is Unknown if the target drew the tokens itself (Drawer).
	P, Q []float64
	// Kept is how many draft tokens each of Rules would have accepted, with the same scores and
	// uniforms.
	Kept []int // one for each of Rules; nil if the target drew the tokens itself (Drawer)
}

// Inspect collects up to n candidates of each model and position, and judges the draft by all rules. The
// candidates' probabilities come from the distribution that was drawn from, or, if that distribution is
// one-hot, from the softmax at temperature 1. A round does not need Inspect. Inspect copies each row from
// the device once, so call it after Verify and outside of what is timed.
func (v *Verifier) Inspect(n int, target Rows, draft Draft, terms Terms) (Inspection, error) {
	in := Inspection{
		Target: make([][]sample.Candidate, len(draft.Tokens)+1),
		Draft:  make([][]sample.Candidate, len(draft.Tokens)+1),
		P:      slices.Repeat([]float64{Unknown}, len(draft.Tokens)),
		Q:      slices.Repeat([]float64{Unknown}, len(draft.Tokens)),
	}
	v.fit(target.Vocab())
	_, drawn := target.(Drawer)
	if drawn { // the target drew from a distribution that is not known: show the softmax at temperature 1
		terms.Params, terms.Shapers = sample.Params{Temperature: 1, TopP: 1}, nil
	}
	// The path is Fallback, because all rules together need whole rows, which the round may not have needed.
	p, err := v.predict(Fallback, target, draft.Tokens, terms)
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
		if err == nil && row.P != nil && !drawn {
			in.P[i] = row.Prob(draft.Tokens[i])
		}
		if q := draft.Q[i]; i < len(draft.Logits) && !q.IsElsewhere() {
			in.Draft[i] = v.candidates(q, draft.Logits[i], n)
			if q.P != nil {
				in.Q[i] = q.Prob(draft.Tokens[i])
			}
		}
	}
	if !drawn {
		in.Kept = others.kept()
	}
	return in, nil
}

// candidates returns the n best tokens by scores, with their probabilities in d, which was made from
// scores. A one-hot d tells nothing about the other tokens; then the probabilities are those of the
// softmax at temperature 1.
func (v *Verifier) candidates(d sample.Dist, scores []float32, n int) []sample.Candidate {
	if d.P == nil {
		top, _ := v.sampler.Top(scores, n, sample.Params{}) // cannot fail: d was made from scores, so they are finite
		return top
	}
	return v.sampler.Best(d, scores, n)
}
