package gamma

import (
	"fmt"
	"math"
)

// mostTokensPerCost is the cost-aware rule. It probes if there is something worth learning.
// Otherwise it takes the best γ, provided that the rest of the reply is expected to earn what the
// proposer must read first.
func (c *Controller) mostTokensPerCost(o Outlook) Decision {
	if o.Free {
		return c.lookUp()
	}
	best, debt := c.best(0), c.debt(o)
	if best == 0 && !c.mayRefuse() {
		gamma := c.best(1)
		c.words = words{}
		return Decision{Gamma: gamma, Why: fmt.Sprintf("%d rounds with a draft are too few to refuse γ %d", c.drafts, gamma)}
	}
	tooLate := best > 0 && debt > 0 && debt > c.gain(best, o.Left)
	if tooLate {
		best = 0
	}
	if d, ok := c.probe(best, debt); ok {
		return d
	}
	if best > 0 {
		c.words = words{}
		best = c.longest(best)
		return Decision{Gamma: best, Why: c.worth(best)}
	}
	c.rest = c.restFor(debt)
	c.swayed = tooLate || c.usuallyPays()
	if c.words.why == "" || c.words.age >= wordsLast {
		c.words = words{why: c.worth(0), off: c.off()}
		if tooLate {
			c.words.off = fmt.Sprintf("%d tokens to read first take %.1f plain passes", o.Unread, debt/c.cost(0))
			c.words.why = fmt.Sprintf("%s, and γ %d is expected to gain less in what is left of the reply", c.words.off, c.best(0))
		}
	}
	return Decision{Why: c.words.why}
}

// A decision against drafting lasts, so it needs evidence. With fewer than enoughDrafts drafting
// rounds the rule never decides against drafting, because the rehearsal may have run while other
// programs used the machine. With manyDrafts or more it decides as its estimates say. In between,
// the rounds themselves may have been disturbed. The rule then decides against drafting only if
// acceptance is below mostHold, which the machine cannot disturb, or if drafts seem to reach less
// than the share poorDrafts of plain speed.
const (
	enoughDrafts, manyDrafts = 6, 24
	mostHold, poorDrafts     = 0.6, 0.75
)

// mayRefuse reports whether enough was measured to decide against drafting. Nominal costs need no
// measuring.
func (c *Controller) mayRefuse() bool {
	switch {
	case c.options.Max == 0, c.costs.nominal != nil, c.drafts >= manyDrafts:
		return true
	}
	poor := c.acceptance.at(0) < mostHold || c.rate(c.best(1)) < poorDrafts*c.rate(0)
	return c.drafts >= enoughDrafts && poor
}

// negligible is the cost of reading, as a share of a plain pass, up to which it is ignored.
// Weighing it would take longer.
const negligible = 0.1

// debt returns the cost of what the proposer must read before it can draft. The first reading is
// free: a proposer that never drafted reads the conversation once for the whole session, so the
// first reply does not pay for it alone.
func (c *Controller) debt(o Outlook) float64 {
	if c.drafts == 0 {
		return 0
	}
	debt := c.costs.reading(o.Unread)
	if debt < negligible*c.cost(0) {
		return 0
	}
	return debt
}

// restFor returns for how many rounds a decision against drafting holds without examining it. It
// lasts until the next try is due and can be paid, because plain rounds teach nothing new.
func (c *Controller) restFor(debt float64) int {
	p := &c.probes
	due := p.draft.interval - p.draft.rounds
	saving := math.Ceil((c.price(c.best(1), debt) - p.saved) / (p.budget() * c.cost(0)))
	return int(min(max(restLasts, float64(due), saving), mostRest))
}

// usuallyPays reports whether some draft would pay by the acceptance over all replies. Then the
// decision against it is due to this reply alone.
func (c *Controller) usuallyPays() bool {
	plain := (1 + margin) / c.cost(0)
	tokens, reach := 1.0, 1.0
	for gamma := 1; gamma <= c.options.Max; gamma++ {
		reach *= c.acceptance.usual(gamma - 1)
		if tokens += reach; tokens/c.cost(gamma) > plain {
			return true
		}
	}
	return false
}

// gain returns the cost that drafting gamma tokens a round is expected to save in the rest of a
// reply that may have left more tokens. It uses the lower bounds of acceptance (atLeast): what is
// read costs for sure, what it brings is not certain.
func (c *Controller) gain(gamma, left int) float64 {
	tokens, reach := 1.0, 1.0
	for i := range gamma {
		reach *= c.acceptance.atLeast(i)
		tokens += reach
	}
	return c.replies.left(left) * (c.cost(0) - c.cost(gamma)/tokens)
}

// words are the reasons why speculation is off. In plain rounds they are made anew only now and
// then: that takes about 1 % of a fast round, which is all that speculation may cost while it is
// off.
type words struct {
	why, off string
	age      int // number of decisions since they were made
}

const (
	wordsLast = 2 // in decisions
	// A decision against drafting holds for restLasts to mostRest rounds. On small models one
	// decision takes 5 % of a round, because the target's pass has pushed its data out of the
	// caches.
	restLasts, mostRest = 16, 256
)

// worth says what a draft length is expected to bring.
func (c *Controller) worth(gamma int) string {
	plain := c.cost(0)
	if gamma == 0 {
		next := c.best(1)
		return fmt.Sprintf("no draft pays: the best, γ %d, would give %.2f tokens for %.2f plain passes",
			next, c.tokens(next), c.cost(next)/plain)
	}
	return fmt.Sprintf("%.2f tokens expected for %.2f plain passes: %.2f×",
		c.tokens(gamma), c.cost(gamma)/plain, c.rate(gamma)*plain)
}

// margin is how much faster than plain decoding a draft must seem. Estimates have errors. Where the
// two are about equal, an error may cost a gain, but must not make a reply slower than without
// speculation.
const margin = 0.01

// best returns the γ from least to Max with the most expected tokens per cost; the smallest one if
// several are equal.
func (c *Controller) best(least int) int {
	best := min(least, c.options.Max)
	highest := c.rate(best)
	if best == 0 {
		highest *= 1 + margin
	}
	for gamma := best + 1; gamma <= c.options.Max; gamma++ {
		if rate := c.rate(gamma); rate > highest {
			best, highest = gamma, rate
		}
	}
	return best
}

// generous is how much below the best rate a longer draft may be and still be taken, as a share.
// Positions that are seldom reached are known least, and a draft that turns out not to be worth its
// length ends by itself (Continue).
const generous = 0.02

// longest returns the longest draft whose rate is at most the share generous below that of best.
func (c *Controller) longest(best int) int {
	enough := (1 - generous) * c.rate(best)
	for gamma := c.options.Max; gamma > best; gamma-- {
		if c.rate(gamma) >= enough {
			return gamma
		}
	}
	return best
}

func (c *Controller) bestRate() float64 { return c.rate(c.best(0)) }

// believe computes the expected tokens and costs of every draft length, once per round.
func (c *Controller) believe() {
	c.believedTokens, c.believedCost = c.believedTokens[:0], c.believedCost[:0]
	tokens, reach := 1.0, 1.0
	for gamma := range c.options.Max + 1 {
		c.believedTokens = append(c.believedTokens, tokens)
		c.believedCost = append(c.believedCost, c.costs.of(gamma))
		reach *= c.acceptance.at(gamma)
		tokens += reach
	}
}

// tokens returns how many tokens a round with gamma draft tokens is expected to commit.
func (c *Controller) tokens(gamma int) float64 { return c.believedTokens[gamma] }

// cost returns what such a round is expected to cost.
func (c *Controller) cost(gamma int) float64 { return c.believedCost[gamma] }

// rate returns its expected tokens per cost.
func (c *Controller) rate(gamma int) float64 { return c.tokens(gamma) / c.cost(gamma) }
