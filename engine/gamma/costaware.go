package gamma

import (
	"fmt"
	"math"
)

// mostTokensPerCost is the cost-aware rule: probe if something is worth knowing, otherwise take the best γ, if the rest of the reply is
// expected to gain by it what the proposer has to read first.
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

// enoughDrafts is how many rounds of replies must have drafted before drafts are refused. What was rehearsed before the
// first reply may have been measured on a machine that others used at that moment, and a decision against drafting lasts.
const enoughDrafts = 6

// mayRefuse reports whether enough was measured to decide against drafting. Nominal costs need no measuring.
func (c *Controller) mayRefuse() bool {
	return c.options.Max == 0 || c.costs.nominal != nil || c.drafts >= enoughDrafts
}

// negligible is the share of a plain pass up to which reading is not weighed: to doubt what it brings would take longer.
const negligible = 0.1

// debt is what the proposer's reading costs before it can draft. Its first reading is free: a proposer that never drafted
// reads the conversation once for the whole session, and the reply that happens to be the first does not pay for it.
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

// restFor is the number of rounds for which nothing is weighed after a decision against drafting: until a try can be paid again, because plain
// rounds teach nothing else.
func (c *Controller) restFor(debt float64) int {
	p := &c.probes
	due := p.draft.interval - p.draft.rounds
	saving := math.Ceil((c.price(c.best(1), debt) - p.saved) / (p.budget() * c.cost(0)))
	return int(min(max(restLasts, float64(due), saving), mostRest))
}

// usuallyPays reports whether some draft would pay by what is known of all replies together, so that the decision against it is of this
// reply alone.
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

// gain returns the cost that drafting gamma tokens a round is expected to save in the rest of a reply that may have so many more tokens. What
// is read is paid for sure, and what is gained by it is not: so acceptance counts for no more than is well known.
func (c *Controller) gain(gamma, left int) float64 {
	tokens, reach := 1.0, 1.0
	for i := range gamma {
		reach *= c.acceptance.atLeast(i)
		tokens += reach
	}
	return c.replies.left(left) * (c.cost(0) - c.cost(gamma)/tokens)
}

// words are why speculation is off. In plain rounds they are found anew now and then only: that takes as long as a hundredth of a fast
// round, which is all that speculation may cost while it is off.
type words struct {
	why, off string
	age      int // decisions
}

const (
	wordsLast = 2 // decisions
	// A decision against drafting rests for restLasts to mostRest rounds: on small models to weigh takes as long as a twentieth of one, because
	// the weights have driven everything it needs out of the caches.
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

// margin is by how much a draft has to seem faster than plain decoding: estimates err, and where the two are as good as
// equal an error may only cost a gain, never make the reply slower than without speculation.
const margin = 0.01

// best returns the γ from least to Max with the most tokens per cost, the smallest on a tie.
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

// generous is the share of the highest rate that a longer draft may lack and still be taken: positions that are seldom reached are known least,
// and a draft that turns out to be not worth its length ends by itself (Continue).
const generous = 0.02

// longest returns the longest draft that is about as good as the best.
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

// believe works out what is believed of every draft length, once a round.
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

// tokens returns how many tokens a round is expected to commit.
func (c *Controller) tokens(gamma int) float64 { return c.believedTokens[gamma] }

// cost returns what it is expected to take.
func (c *Controller) cost(gamma int) float64 { return c.believedCost[gamma] }

// rate returns expected tokens per cost.
func (c *Controller) rate(gamma int) float64 { return c.tokens(gamma) / c.cost(gamma) }
