package gamma

import "fmt"

// mostTokensPerCost is the cost-aware rule. It takes the γ with the most expected tokens per cost. But
// until the reply ends, this γ must save more time than the proposer needs to read missed tokens.
// Otherwise the rule drafts nothing, or now and then one token (see plainOrTry). Two exceptions: a proposer that
// only looks up is always asked for Options.Max tokens, and γ = 0 needs evidence (see mayRefuse).
func (c *Controller) mostTokensPerCost(o Outlook) Decision {
	switch {
	case c.options.Max == 0:
		return Decision{Gamma: 0, Why: "no draft is allowed"}
	case c.options.Lookup:
		// Trim shortens the draft afterwards: the confidence of a looked-up draft tells more than any average.
		return Decision{Gamma: c.options.Max, Why: "looking up costs nothing: all that is found and worth its rows"}
	case !c.costs.measured(0) && c.plain == 0:
		return Decision{Gamma: 0, Probe: true, Why: "the first round is plain, to have something to compare with"}
	}
	debt := c.debt()
	pays, gain := c.fastest()
	reason := ""
	switch next := bestLength(c.lengths, 1, 0); {
	case pays > 0 && gain >= debt:
		c.saved = 0
		return Decision{Gamma: pays, Why: c.worth(pays), Probe: !c.lengths[pays].Measured}
	case pays > 0:
		reason = fmt.Sprintf("the proposer would first have to read %d of the chat's tokens", o.Unread)
	case !c.mayRefuse(next):
		return Decision{Gamma: next, Why: fmt.Sprintf("%d rounds with a draft are too few to refuse γ %d", c.drafts, next)}
	default:
		reason = c.whyOff()
	}
	return c.plainOrTry(debt, reason)
}

// fastest returns the γ that should write the rest of the reply in the least time, and how much less that is than
// plain decoding takes. pays is 0 if no draft is faster by the margin. The rest of the reply is assumed to have as
// many tokens as a whole reply has on average, but at most those that fit.
func (c *Controller) fastest() (pays int, gain float64) {
	tokens, margin := max(1, min(c.replyTokens.mean, float64(c.outlook.Left))), margin
	if c.options.Remote {
		margin = streamMargin
	}
	plain := tokens / c.rate(0)
	if !c.outlook.Streams {
		plain += c.opening()
	}
	least := (1 - margin) * plain
	for gamma := 1; gamma < len(c.lengths); gamma++ {
		if cost := c.turn(gamma) + tokens/c.rate(gamma); cost < least {
			pays, least = gamma, cost
		}
	}
	return pays, plain - least
}

// A decision against drafting needs evidence, because the rehearsal and the first rounds may have run
// while other programs used the machine. The controller refuses no draft until fewDrafts rounds have
// drafted. Until manyDrafts rounds have drafted, it refuses a draft only in two cases. First, if the
// acceptance of the first draft token is below mostHold, which other programs cannot cause. Second, if the
// tokens per cost with the draft, divided by those of plain decoding, are below poor. With nominal costs the
// controller can refuse a draft from the first round on, because these costs do not depend on other
// programs. It can do so across a network, too, because there the first drafts may cost more time than short
// replies win back.
const (
	fewDrafts, manyDrafts = 6, 16
	mostHold, poor        = 0.6, 0.75
)

// mayRefuse reports whether there is enough evidence to refuse a draft of gamma tokens.
func (c *Controller) mayRefuse(gamma int) bool {
	if c.costs != &c.clock || c.drafts >= manyDrafts || c.options.Remote {
		return true
	}
	return c.drafts >= fewDrafts && (c.acceptance.at(0) < mostHold || c.rate(gamma) < poor*c.rate(0))
}

// margin is the fraction by which a draft must seem faster than plain decoding, because estimates have
// errors. Such an error may miss a small gain, but must not make a reply slower than without speculation.
const margin = 0.02

// debt returns the cost of the tokens that the proposer must read before it can draft. The first
// reading is free: it is done once for the whole session, so the first reply does not pay for it alone.
func (c *Controller) debt() float64 {
	if c.drafts == 0 {
		return 0
	}
	return c.costs.reading(c.outlook.Unread)
}

// usualReply is the assumed length of a reply in tokens, until a reply has ended.
const usualReply = 128

// rate returns the expected tokens per cost of a round with gamma draft tokens.
func (c *Controller) rate(gamma int) float64 { return c.lengths[gamma].rate() }

// While plain decoding is best, a draft is tried now and then, because the text may have become easier
// or the machine less busy.
const (
	// tryBudget is the fraction of the time that tries may cost. A try is a draft made while plain decoding
	// is best. The fraction is small: where speculation does not pay, all that it costs may be 1 % of the
	// time, and decisions and plain rounds need most of this 1 %.
	tryBudget = 0.0015
	// decideEvery is for how many further rounds a decision against drafting holds. Plain rounds teach
	// nothing about drafts, and on the demo pair a decision takes 2 % of a round (AMD EPYC Zen 5).
	decideEvery = 16
)

// plainOrTry returns the decision to draft nothing, for the reason off, or a try: a draft of one token. It returns
// a try if the budget covers what the try should lose, reading included. After a decision to draft nothing, Next
// repeats it for decideEvery rounds. A try has one token because this is cheapest, and because the first
// position matters most. If reading a token costs more than a round adds to the budget, the debt grows
// faster than the budget; then no try comes before a reply for which the proposer has less to read.
func (c *Controller) plainOrTry(debt float64, off string) Decision {
	try := c.lengths[1]
	loss := max(0, debt+c.turn(1)+try.Cost-try.Tokens/c.rate(0))
	if c.saved < loss || c.saved == 0 { // saved is 0 right after a draft
		c.rest = decideEvery
		return Decision{Gamma: 0, Off: off, Why: "no draft pays: " + off}
	}
	c.saved = 0
	return Decision{Gamma: 1, Probe: true, Off: off, Why: "no draft paid lately: trying whether one pays again"}
}
