package gamma

import (
	"fmt"
	"math"
)

// calibration learns how often the target accepts a token to which the proposer gave a certain
// confidence.
type calibration struct {
	bins [confidenceBins]rate
	// memory is the number of observations that a bin rests on.
	memory float64
}

const (
	confidenceBins = 12
	// lookupMemory is the memory for looked-up tokens; otherwise it is that of all estimates. Repetition
	// comes in bursts: a reply starts to repeat something, and stops.
	lookupMemory = 8
	// priorShare is the weight of the estimate that ignores confidence, as a share of memory.
	priorShare = 0.1
)

// bin returns the bin of a confidence; bin k begins at 1 − 2^(−k/2). Bins are narrow near 1,
// because a draft that is sharper than the target is nearly always nearly sure, and these tokens
// are worth telling apart.
func bin(confidence float64) int {
	return max(0, min(confidenceBins-1, int(-2*math.Log2(max(1-confidence, 1e-9)))))
}

func (c *calibration) observe(o Observation) {
	for i := range min(o.Tested, len(o.Confidence)) {
		c.bins[bin(o.Confidence[i])].observe(o.held(i), c.memory)
	}
}

// chance returns the probability that a token of this confidence is accepted. usual is the
// acceptance of its position, whatever the confidence.
func (c *calibration) chance(confidence, usual float64) float64 {
	b, prior := c.bins[bin(confidence)], priorShare*c.memory
	return (prior*usual + b.weight*b.mean) / (prior + b.weight)
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
	gain, reach, best := 0.0, r.reach, c.rate(r.best)
	for next := i + 1; next < r.Gamma; next++ {
		reach *= c.acceptance.at(next)
		gain += reach
		if gain >= (r.cost[next+1]-r.cost[i+1])*best {
			return ""
		}
	}
	if i+1 >= r.Gamma {
		return ""
	}
	return fmt.Sprintf("the %d tokens so far hold with %.0f %%: one more adds %.2f tokens, and its time is worth %.2f",
		i+1, 100*r.reach, r.reach*c.acceptance.at(i+1), (r.cost[i+2]-r.cost[i+1])*best)
}

// Trim decides how many tokens of a looked-up draft are worth the rows that verify them, given the
// proposer's confidence in each. If it returns fewer than all, why gives the reason in words. Only
// the cost-aware rule trims. Trimming by confidence keeps the output exact only if the draft does
// not depend on chance, which is true for looked-up drafts.
//
// A confidence without observations is assumed to hold with the chance startRate. While a
// confidence is left out, its observations lose weight, so its chance comes back to startRate and
// it is tried again: a draft that needs no model is worth a try now and then.
func (c *Controller) Trim(confidence []float64) (gamma int, why string) {
	n := min(len(confidence), c.options.Max)
	if c.options.Rule != CostAware {
		return n, ""
	}
	best, highest := 0, (1+margin)/c.round.cost[0]
	tokens, reach := 1.0, 1.0
	for i, q := range confidence[:n] {
		reach *= c.confidence.chance(q, startRate)
		tokens += reach
		if rate := tokens / c.round.cost[i+1]; rate > highest {
			best, highest = i+1, rate
		}
	}
	if best == n {
		return n, ""
	}
	next := &c.confidence.bins[bin(confidence[best])]
	why = fmt.Sprintf("%d of %d tokens looked up are worth their rows: the next one holds with %.0f %%", best, n, 100*c.confidence.chance(confidence[best], startRate))
	next.weight *= 1 - lookupFading
	return best, why
}

// lookupFading is the share of its weight that a bin loses each time its confidence is left out. So
// a try, which costs about one row, comes once in about a hundred such rounds.
const lookupFading = 0.002
