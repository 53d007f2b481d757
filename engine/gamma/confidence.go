package gamma

import (
	"fmt"
	"math"
)

const (
	confidenceBins = 12
	// binWeight is the number of observations in a bin that count as much as what is known without looking at confidence.
	binWeight = 8
)

// calibration learns how often the target accepts a token that the draft gave a certain probability.
type calibration struct {
	bins [confidenceBins]rate
}

// bin orders confidences by how much they lack to certainty, since the sure ones are the ones worth telling apart: bin k begins at
// 1 − 2^(−k/2). A draft that is sharper than the target is nearly always nearly sure.
func bin(confidence float64) int {
	return max(0, min(confidenceBins-1, int(-2*math.Log2(max(1-confidence, 1e-9)))))
}

func (c *calibration) observe(o Observation) {
	for i := range min(o.Tested, len(o.Confidence)) {
		c.bins[bin(o.Confidence[i])].observe(o.held(i))
	}
}

// chance returns the probability that a token of this confidence is accepted, where usual is the one of any token in its place.
func (c *calibration) chance(confidence, usual float64) float64 {
	b := c.bins[bin(confidence)]
	return (binWeight*usual + b.weight*b.mean) / (binWeight + b.weight)
}

// Continue says, after draft token i of the round (from 0) was drawn with confidence q, why one more is not worth its price,
// or "" if it is. It is worth it if for some number of further tokens the gain in expected tokens per cost is at least
// what the round earns on average: the rule of optimal stopping, whose threshold on the chance of a rejection follows from
// the costs and is set by nobody. Only the cost-aware rule stops a draft, and never a probe.
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
