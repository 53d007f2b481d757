package gamma

import (
	"fmt"
	"math"
)

const (
	confidenceBins = 12
	// binWeight is the weight of the estimate that ignores confidence, in observations of a bin.
	binWeight = 8
)

// calibration learns how often the target accepts a token to which the draft gave a certain
// probability.
type calibration struct {
	bins [confidenceBins]rate
}

// bin returns the bin of a confidence; bin k begins at 1 − 2^(−k/2). Bins are narrow near 1,
// because a draft that is sharper than the target is nearly always nearly sure, and these tokens
// are worth telling apart.
func bin(confidence float64) int {
	return max(0, min(confidenceBins-1, int(-2*math.Log2(max(1-confidence, 1e-9)))))
}

func (c *calibration) observe(o Observation) {
	for i := range min(o.Tested, len(o.Confidence)) {
		c.bins[bin(o.Confidence[i])].observe(o.held(i))
	}
}

// chance returns the probability that a token of this confidence is accepted. usual is the
// acceptance of its position, whatever the confidence.
func (c *calibration) chance(confidence, usual float64) float64 {
	b := c.bins[bin(confidence)]
	return (binWeight*usual + b.weight*b.mean) / (binWeight + b.weight)
}

// Continue is asked after draft token i (from 0) was drawn with confidence q. It returns "" to go
// on, or the reason why one more token is not worth its cost. Going on is worth it if some number
// of further tokens adds expected tokens at the round's best rate or better. This is optimal
// stopping: the threshold follows from the costs and is not a setting. Only the cost-aware rule
// ends a draft early, and never a probe.
func (c *Controller) Continue(i int, q float64) string {
	if c.options.Rule != CostAware || c.round.Probe {
		return ""
	}
	r := &c.round
	r.reach *= c.confidence.chance(q, c.acceptance.at(i))
	gain, reach := 0.0, r.reach
	for next := i + 1; next < r.Gamma; next++ {
		reach *= c.acceptance.at(next)
		gain += reach
		price := c.cost(next+1) - c.cost(i+1)
		if gain >= price*r.tokensPerCost {
			return ""
		}
	}
	if i+1 >= r.Gamma {
		return ""
	}
	return fmt.Sprintf("the %d tokens so far hold with %.0f %%: one more adds %.2f tokens, and its time is worth %.2f",
		i+1, 100*r.reach, r.reach*c.acceptance.at(i+1), (c.cost(i+2)-c.cost(i+1))*r.tokensPerCost)
}
