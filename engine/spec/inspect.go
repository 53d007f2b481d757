package spec

import (
	"errors"

	"specula/engine/compute"
	"specula/engine/sample"
)

// Inspection holds the best candidates of both models at every position of a round, best first: one entry for each draft
// token, and a last one behind them. An entry is nil where a model has no (finite) opinion.
type Inspection struct {
	Target [][]sample.Candidate // (len(draft)+1)
	Draft  [][]sample.Candidate // (len(draft)+1), the last always nil
}

// Inspect collects up to n candidates of each model and position, with the probabilities a draw would use, or the plain
// softmax at temperature 0. It serves the reader, not the round: it copies whole rows from the device, so call it after
// Verify and outside what is timed.
func (v *Verifier) Inspect(n int, target Rows, draft Draft, p sample.Params) (Inspection, error) {
	in := Inspection{
		Target: make([][]sample.Candidate, len(draft.Tokens)+1),
		Draft:  make([][]sample.Candidate, len(draft.Tokens)+1),
	}
	v.fit(target.Vocab())
	for i := range in.Target {
		if err := target.Row(i, v.scores); err != nil {
			return in, err
		}
		var err error
		if in.Target[i], err = v.sampler.Top(v.scores, n, p); err != nil && !errors.Is(err, compute.ErrNotFinite) {
			return in, err
		}
		if i < len(draft.Logits) {
			if in.Draft[i], err = v.sampler.Top(draft.Logits[i], n, p); err != nil && !errors.Is(err, compute.ErrNotFinite) {
				return in, err
			}
		}
	}
	return in, nil
}
