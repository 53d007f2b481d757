package spec

import (
	"fmt"

	"specula/engine/compute"
	"specula/engine/sample"
)

// LogProbs are natural logarithms of the target's probabilities at the position of one committed token.
// They come from the raw scores, before penalties, bans and filters.
type LogProbs struct {
	Own float64            // log-probability of the committed token
	Top []sample.Candidate // the likeliest tokens, best first; P is the logarithm
}

// Ranked are the Rows of a pass in which the device has found the best tokens of the rows that its verdict used.
type Ranked interface {
	Rows
	Ranked() []compute.Ranked // of the first rows, as many as the log-probabilities were asked for; nil: of none
}

// LogProbs returns the log-probabilities of each token of o.Committed, with the n likeliest tokens at each
// position. n must be Terms.Logprobs of the round. Call it after Verify, while the rows of target are still valid.
// LogProbs copies a row from the device only if the device has not ranked it, or if its scores are not finite: then the
// row tells which.
func (v *Verifier) LogProbs(n int, target Rows, o *Outcome) ([]LogProbs, error) {
	v.fit(target.Vocab())
	var ranked []compute.Ranked
	if r, ok := target.(Ranked); ok {
		ranked = r.Ranked()
	}
	var list []LogProbs
	for i, id := range o.Committed() {
		if i < len(ranked) && ranked[i].Own.ID == id && ranked[i].Sum > 0 {
			own, top := sample.RankedLogProbs(&ranked[i])
			list = append(list, LogProbs{Own: own, Top: top})
			continue
		}
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
