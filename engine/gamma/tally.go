package gamma

import "math"

// tally counts the parts of rounds. What they cost is computed from the present prices. Their measured times
// would not compare: plain rounds are few and old, and on a machine that others use the load changes.
type tally struct {
	rounds int       // without weights; the other fields are sums in which a round may have a weight
	passes []float64 // index: draft tokens in the pass; value: number of such passes
	steps  float64   // draft steps
	tokens float64   // committed tokens
	lostMS float64   // milliseconds spent on asking for drafts that turned out empty
}

// recentShare is the factor by which each round multiplies the weights of earlier rounds in
// Controller.recent. So about the last 20 rounds count.
const recentShare = 0.95

// add counts a round with weight 1. The weights of earlier rounds are multiplied by keep.
func (t *tally) add(o Observation, keep float64) {
	for len(t.passes) <= o.Drafted {
		t.passes = append(t.passes, 0)
	}
	for i := range t.passes {
		t.passes[i] *= keep
	}
	t.rounds++
	t.passes[o.Drafted]++
	t.tokens = keep*t.tokens + float64(o.Accepted+1)
	t.steps *= keep
	t.lostMS *= keep
	switch {
	case o.Drafted == 0:
		t.lostMS += o.DraftMS
	case !o.Forced:
		t.steps += float64(o.Drafted)
	}
}

// cost returns what the rounds cost at present prices. Reading is left out: it is paid once and not in
// every round, and every fixed γ > 0 would have paid for it, too.
func (t *tally) cost(now *costs) float64 {
	sum := t.steps * now.steps(1)
	for drafted, n := range t.passes {
		if n > 0 {
			sum += n * now.pass(drafted)
		}
	}
	return sum
}

// Speedup returns the speed of rounds that asked for a draft, divided by that of plain rounds, by measured
// times. A lookup that found nothing has asked, too; else lookups would seem to gain more than they do.
// times is 0, and estimated false, before the first round that asked, and while a plain round has no price.
// Then estimated is true until replies have had enough rounds of both kinds: until then the price of a plain
// round may come from passes timed before the first reply.
func (c *Controller) Speedup() (times float64, estimated bool) {
	plain := c.PlainMS()
	if plain == 0 || c.recent.rounds == 0 {
		return 0, false
	}
	took := c.recent.cost(&c.clock) + c.recent.lostMS
	return c.recent.tokens * plain / took, min(c.plain, c.recent.rounds) < plainFewest
}

// PlainMS returns what a plain round costs at present, by measured times; 0 until one was timed.
func (c *Controller) PlainMS() float64 {
	if !c.clock.measured(0) {
		return 0
	}
	return c.clock.of(0)
}

// enough is how many rounds a reply needs for Hindsight, and how many verdicts a position in it needs.
const enough = 16

// Hindsight returns the fixed γ that would have been fastest in this reply so far, by the acceptance seen in
// it and the learned costs. regret is the fraction of the reply's time that this γ would have saved. It is
// negative if choosing γ each round, or ending drafts early, was faster than any fixed γ. ok is false until
// the reply has had enough rounds.
func (c *Controller) Hindsight() (gamma int, regret float64, ok bool) {
	took := c.reply.cost(c.costs)
	if c.reply.rounds < enough || took <= 0 || !c.costs.measured(0) {
		return 0, 0, false
	}
	list := c.costs.expect(c.options.Max, func(i int) float64 {
		if i < len(c.acceptance) && c.acceptance[i].here.weight >= enough {
			return c.acceptance[i].here.mean
		}
		return c.acceptance.at(i)
	})
	for i := range list {
		if !list[i].Measured {
			list[i].Cost = math.Inf(1) // never the best, because its cost is not known
		}
	}
	gamma = bestLength(list, 0, 0)
	return gamma, 1 - c.reply.tokens/list[gamma].rate()/took, true
}
