package gamma

import "fmt"

// mostTokensPerCost is the cost-aware rule. It takes the γ that should write the rest of the reply in the
// least time, what the proposer must read first included. γ = 0 needs evidence (mayRefuse). While nothing is
// drafted, one token is tried now and then (plainOrTry).
func (c *Controller) mostTokensPerCost() Decision {
	switch {
	case c.options.Max == 0:
		return Decision{Gamma: 0, Why: "no draft is allowed"}
	case c.options.Lookup:
		// Trim shortens the draft afterwards: the confidence of a looked-up draft tells more than any average.
		return Decision{Gamma: c.options.Max, Why: "looking up costs nothing: all that is found and worth its rows"}
	case !c.costs.measured(0) && c.plain == 0:
		return Decision{Gamma: 0, Probe: true, Why: "the first round is plain, to have something to compare with"}
	}
	next, debt := bestLength(c.lengths, 1, 0), c.costs.reading(c.outlook.Unread)
	if c.drafts == 0 {
		debt = 0 // the first reading serves the whole session, so the first reply does not pay for it alone
	}
	switch pays, gain := c.fastest(); {
	case pays > 0 && gain >= debt:
		c.saved = 0
		l, plain := c.lengths[pays], c.lengths[0].Cost
		why := fmt.Sprintf("expect %.2f tokens, in the time of %.2f without a draft", l.Tokens, l.Cost/plain)
		return Decision{Gamma: pays, Why: why, Probe: !l.Measured}
	case pays > 0:
		return c.plainOrTry(debt, fmt.Sprintf("the proposer would first have to read %d of the chat's tokens", c.outlook.Unread))
	case !c.mayRefuse(next):
		return Decision{Gamma: next, Why: fmt.Sprintf("%d rounds with a draft are too few to refuse γ %d", c.drafts, next)}
	}
	return c.plainOrTry(debt, c.whyOff())
}

const (
	// margin is the fraction by which a draft must seem faster than plain decoding: estimates have errors.
	margin = 0.02
	// usualReply is the assumed length of a reply in tokens, until a reply has ended.
	usualReply = 128
)

// fastest returns the γ that should write the rest of the reply in the least time, if the proposer had
// nothing to read, and how much less that is than plain decoding takes. pays is 0 if no draft is faster by
// the margin. The rest of the reply is assumed to have as many tokens as a reply has on average, but at most
// those that fit.
func (c *Controller) fastest() (pays int, gain float64) {
	tokens := max(1, min(c.replyTokens.mean, float64(c.outlook.Left)))
	plain, margin := tokens/c.lengths[0].rate(), margin
	if c.options.Remote {
		margin = streamMargin
		if !c.outlook.Streams {
			plain += c.opening()
		}
	}
	least := (1 - margin) * plain
	for gamma := 1; gamma < len(c.lengths); gamma++ {
		if cost := c.turn(gamma) + tokens/c.lengths[gamma].rate(); cost < least {
			pays, least = gamma, cost
		}
	}
	return pays, plain - least
}

const (
	// No draft is refused before fewDrafts rounds have drafted. Before manyDrafts have, a draft is refused only
	// if the acceptance of the first token is below mostHold, or if the tokens per cost with the draft, divided
	// by those of plain decoding, are below poor.
	fewDrafts, manyDrafts = 6, 16
	mostHold, poor        = 0.6, 0.75
)

// mayRefuse reports whether there is enough evidence to refuse a draft of gamma tokens. The rehearsal and
// the first rounds may have run while other programs used the machine, which makes drafts seem slow. They do
// not change nominal costs, and not what the target accepts. Across a network the first drafts may cost more
// time than short replies win back, so no evidence is waited for.
func (c *Controller) mayRefuse(gamma int) bool {
	switch {
	case c.options.Nominal != nil, c.options.Remote, c.drafts >= manyDrafts:
		return true
	case c.drafts < fewDrafts:
		return false
	}
	return c.acceptance.at(0) < mostHold || c.lengths[gamma].rate() < poor*c.lengths[0].rate()
}

// While plain decoding is best, a draft is tried now and then, because the text may have become easier
// or the machine less busy.
const (
	// tryBudget is the fraction of the time that tries may cost. It is small: where speculation does not
	// pay, all that it costs may be 1 % of the time, and decisions and plain rounds need most of this 1 %.
	tryBudget = 0.0015
	// decideEvery is for how many further rounds a decision against drafting holds. Plain rounds teach
	// nothing about drafts, and on the demo pair a decision takes 2 % of a round (AMD EPYC Zen 5).
	decideEvery = 16
)

// plainOrTry returns the decision to draft nothing, for the reason off, which Next repeats for decideEvery
// rounds. If the budget covers what a try should lose, reading included, it returns a try: a draft of one
// token, because that is cheapest and the first position matters most. If reading a token costs more than a
// round adds to the budget, no try comes before a reply for which the proposer has less to read.
func (c *Controller) plainOrTry(debt float64, off string) Decision {
	try := c.lengths[1]
	loss := max(0, debt+c.turn(1)+try.Cost-try.Tokens/c.lengths[0].rate())
	if c.saved <= loss {
		c.rest = decideEvery
		return Decision{Gamma: 0, Off: off, Why: "no draft pays: " + off}
	}
	c.saved = 0
	return Decision{Gamma: 1, Probe: true, Off: off, Why: "no draft paid lately: trying whether one pays again"}
}

// whyOff says why a draft of one token does not pay: little is accepted, rows are dear, or drafting is dear.
func (c *Controller) whyOff() string {
	plain, expected := c.lengths[0].Cost, c.lengths[1].Tokens
	rows, drafting := c.costs.pass(1)/plain, c.costs.steps(1)/plain
	switch held := c.acceptance.at(0); {
	case held < 0.3: // hardly any draft pays then, even a cheap one
		return fmt.Sprintf("only %.0f %% of the drafts are kept", 100*held)
	case rows >= expected: // even a draft that cost nothing would not pay
		return fmt.Sprintf("verifying 2 rows takes %.1f times as long as one", rows)
	case drafting >= 0.5*expected:
		return fmt.Sprintf("drafting takes %.1f of a plain pass", drafting)
	}
	return fmt.Sprintf("γ 1 would give %.2f tokens in the time of %.2f", expected, rows+drafting)
}
