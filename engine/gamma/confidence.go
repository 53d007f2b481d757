package gamma

import (
	"fmt"
	"math"
)

// calibration learns how often the target accepts a token, by the confidence that the proposer gave to
// the token.
type calibration struct {
	bins   [confidenceBins]rate
	memory float64 // the largest number of observations that a bin rests on: the constant memory, or lookupMemory
}

const (
	confidenceBins = 12
	// lookupMemory is for a proposer that looks tokens up. It is small, because within a few rounds a reply
	// may begin to repeat a text, or cease to.
	lookupMemory = 8
	// priorShare is the weight of the estimate that ignores confidence, divided by calibration.memory.
	priorShare = 0.1
	// lookupFading is the fraction of its weight that a bin loses each time Trim ends a draft before a token
	// of its confidence. So a try, which costs about one row, comes once in about a hundred such rounds.
	lookupFading = 0.002
)

// bin returns the bin of a confidence. Bin k begins at 1 − 2^(−k/2). Bins are narrow near 1, to tell
// tokens apart there: a draft that is sharper than the target gives nearly all its tokens a confidence
// near 1.
func bin(confidence float64) int {
	return max(0, min(confidenceBins-1, int(-2*math.Log2(max(1-confidence, 1e-9)))))
}

func (c *calibration) observe(o Observation) {
	for i := range min(o.Tested, len(o.Confidence)) {
		c.bins[bin(o.Confidence[i])].add(o.held(i), 1, c.memory)
	}
}

// chance returns the probability that a token of this confidence is accepted. usual is the
// acceptance of the token's position when confidence is ignored.
func (c *calibration) chance(confidence, usual float64) float64 {
	b, prior := c.bins[bin(confidence)], priorShare*c.memory
	return (prior*usual + b.weight*b.mean) / (prior + b.weight)
}

// Continue is asked after draft token i (from 0) was drawn with confidence q. It returns "" to go on, or the
// reason to stop. Drafting goes on if some number n of further tokens is worth its cost: the expected number
// of accepted tokens among these n, divided by their cost, must be at least the tokens per cost of the chosen
// γ. Only the cost-aware rule ends a draft early, and never a probe.
func (c *Controller) Continue(i int, q float64) string {
	most := c.decision.Gamma
	if c.options.Rule != CostAware || c.decision.Probe || i+1 >= most {
		return ""
	}
	c.reach *= c.confidence.chance(q, c.acceptance.at(i))
	worth := func(gamma int) float64 { // the time from i+1 to gamma tokens, in tokens
		return (c.lengths[gamma].Cost - c.lengths[i+1].Cost) * c.lengths[most].rate()
	}
	gain, reach := 0.0, c.reach
	for next := i + 1; next < most; next++ {
		reach *= c.acceptance.at(next)
		if gain += reach; gain >= worth(next+1) {
			return ""
		}
	}
	return fmt.Sprintf("the %d tokens so far hold with %.0f %%: one more adds %.2f tokens, and its time is worth %.2f",
		i+1, 100*c.reach, c.reach*c.acceptance.at(i+1), worth(i+2))
}

// Trim returns how many tokens of a looked-up draft are worth the rows that verify them, given the proposer's
// confidence in each, but at most Options.Max. If some of these are not worth their rows, why gives the
// reason. Only the cost-aware rule trims. The text stays exact only if the draft does not depend on chance,
// as is true for looked-up drafts.
//
// A confidence without observations gets the chance startRate, so that it is tried. Across a network it gets
// 0: a try costs a round trip there, and Passed gives observations without one.
func (c *Controller) Trim(confidence []float64) (gamma int, why string) {
	n, unseen := min(len(confidence), c.options.Max), startRate
	if c.options.Rule != CostAware {
		return n, ""
	}
	if c.options.Remote {
		unseen = 0
	}
	holds := func(i int) float64 { return c.confidence.chance(confidence[i], unseen) }
	lengths := c.costs.expect(n, holds)
	for i := range lengths[1:] {
		lengths[i+1].Cost += c.turn(i + 1)
	}
	if gamma = bestLength(lengths, 0, margin); gamma == n {
		return n, ""
	}
	c.confidence.bins[bin(confidence[gamma])].weight *= 1 - lookupFading
	return gamma, fmt.Sprintf("%d of %d tokens looked up are worth their rows: the next one holds with %.0f %%", gamma, n, 100*holds(gamma))
}

// Passed learns from a looked-up draft that was not sent to the server: confidence is that of its first token,
// and held says whether the target then wrote this token. It does nothing unless Options.Remote is set.
func (c *Controller) Passed(confidence float64, held bool) {
	o := Observation{Tested: 1, Confidence: []float64{confidence}}
	if held {
		o.Accepted = 1
	}
	if c.options.Remote {
		c.confidence.observe(o)
	}
}
