package spec

import (
	"fmt"

	"specula/engine/sample"
)

// LogProbs are natural logarithms of the target's probabilities at the position of one committed token.
// They come from the raw scores, before penalties, bans and filters.
type LogProbs struct {
	Own float64            // log-probability of the committed token
	Top []sample.Candidate // the likeliest tokens, best first; P is the logarithm
}

// LogProbs returns the log-probabilities of each token of o.Committed, with the n likeliest tokens at each
// position. Call it after Verify, while the rows of target are still valid.
func (v *Verifier) LogProbs(n int, target Rows, o *Outcome) ([]LogProbs, error) {
	v.fit(target.Vocab())
	var list []LogProbs
	for i, id := range o.Committed() {
		if err := target.Row(i, v.scores); err != nil {
			return nil, err
		}
		own, top, err := v.sampler.LogProbs(v.scores, id, n)
		if err != nil {
			return nil, fmt.Errorf("log-probabilities of row %d: %w", i, err)
		}
		list = append(list, LogProbs{Own: own, Top: top})
	}
	return list, nil
}
