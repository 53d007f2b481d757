package gamma

import (
	"fmt"
	"math"
)

// calibration learns how often the target accepts a token, by the confidence that the proposer gave to
// the token.
type calibration struct {
	bins [confidenceBins]rate
	// memory is the largest number of observations that a bin rests on.
	memory float64
}

const (
	confidenceBins = 12
	// lookupMemory is calibration.memory for a proposer that looks tokens up; for other proposers that is
	// the constant memory. lookupMemory is small, because within a few rounds a reply may begin to repeat a
	// text, or cease to.
	lookupMemory = 8
	// priorShare is the weight of the estimate that ignores confidence, divided by calibration.memory.
	priorShare = 0.1
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

// Continue is asked after draft token i (from 0) was drawn with confidence q. It returns "" to go on, or
// the reason to stop. Drafting goes on if some number n of further tokens is worth its cost. That is so if
// the expected number of accepted tokens among these n, divided by their cost, is at least the tokens per
// cost of the best γ. This is optimal stopping: the threshold follows from the costs and is not a setting.
// Only the cost-aware rule ends a draft early. A probe is never ended early.
func (c *Controller) Continue(i int, q float64) string {
	most := c.decision.Gamma
	if c.options.Rule != CostAware || c.decision.Probe || i+1 >= most {
		return ""
	}
	c.reach *= c.confidence.chance(q, c.acceptance.at(i))
	extra := func(gamma int) float64 { return c.lengths[gamma].Cost - c.lengths[i+1].Cost }
	gain, reach, best := 0.0, c.reach, c.rate(most)
	for next := i + 1; next < most; next++ {
		reach *= c.acceptance.at(next)
		gain += reach
		if gain >= extra(next+1)*best {
			return ""
		}
	}
	return fmt.Sprintf("the %d tokens so far hold with %.0f %%: one more adds %.2f tokens, and its time is worth %.2f",
		i+1, 100*c.reach, c.reach*c.acceptance.at(i+1), extra(i+2)*best)
}

// Trim decides how many tokens of a looked-up draft are worth the rows that verify them, given the
// proposer's confidence in each. It never returns more than Options.Max. If some of these tokens are not
// worth their rows, why gives the reason. Only the cost-aware rule trims. Trimming by confidence keeps the
// text exact only if the draft does not depend on chance, which is true for looked-up drafts.
//
// A confidence without observations gets the chance startRate. Each time Trim shortens a draft, the
// observations of one confidence lose weight: that of the first token left out. So its chance returns to
// startRate, and such a token is tried again now and then. Across a network a confidence without
// observations gets the chance 0, because Passed gives observations without a try.
func (c *Controller) Trim(confidence []float64) (gamma int, why string) {
	n := min(len(confidence), c.options.Max)
	if c.options.Rule != CostAware {
		return n, ""
	}
	unseen := startRate
	if c.options.Remote {
		unseen = 0 // a try costs a round trip, and Passed gives observations without one
	}
	holds := func(i int) float64 { return c.confidence.chance(confidence[i], unseen) }
	lengths := c.costs.expect(n, holds)
	if c.options.Remote {
		// A draft costs more than its rows: it ends the stream that is being read, which must be opened again
		// later, and the server reads what further sequences have missed (turn).
		for i := range lengths[1:] {
			lengths[i+1].Cost += c.turn(i + 1)
		}
	}
	if gamma = bestLength(lengths, 0, margin); gamma == n {
		return n, ""
	}
	why = fmt.Sprintf("%d of %d tokens looked up are worth their rows: the next one holds with %.0f %%", gamma, n, 100*holds(gamma))
	c.confidence.bins[bin(confidence[gamma])].weight *= 1 - lookupFading
	return gamma, why
}

// Passed learns from a looked-up draft that was not sent to the server. confidence is that of the
// draft's first token. held says whether the target then wrote this token. Passed does nothing unless
// Options.Remote is set.
func (c *Controller) Passed(confidence float64, held bool) {
	x := 0.0
	if held {
		x = 1
	}
	if c.options.Remote {
		c.confidence.bins[bin(confidence)].add(x, 1, c.confidence.memory)
	}
}

// lookupFading is the fraction of its weight that a bin loses each time Trim ends a draft before a token of
// its confidence. So a try, which costs about one row, comes once in about a hundred such rounds.
const lookupFading = 0.002
