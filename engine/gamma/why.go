package gamma

import "fmt"

// worth says what a draft length is expected to bring.
func (c *Controller) worth(gamma int) string {
	plain := c.round.lengths[0].Cost
	if gamma == 0 {
		try := c.round.lengths[1]
		return fmt.Sprintf("no draft pays: γ 1 would give %.2f tokens in the time of %.2f", try.Tokens, try.Cost/plain)
	}
	l := c.round.lengths[gamma]
	return fmt.Sprintf("expect %.2f tokens in the time of %.2f: ×%.2f", l.Tokens, l.Cost/plain, l.rate()*plain)
}

// tooLate is the decision against a draft whose reading the rest of the reply does not pay for.
func (c *Controller) tooLate(unread, gamma int, debt float64) Decision {
	off := fmt.Sprintf("the proposer would first have to read %s", tokens(unread))
	return Decision{Off: off, Why: fmt.Sprintf("%s, in the time of %.1f of the target, and γ %d would gain less in what is left of the reply",
		off, debt/c.round.lengths[0].Cost, gamma)}
}

// lowAcceptance is the acceptance below which speculation hardly ever pays, whatever it costs.
const lowAcceptance = 0.3

// whyOff says why a draft of one token does not pay: few draft tokens are accepted, extra rows of a
// pass cost too much, or drafting costs too much.
func (c *Controller) whyOff() string {
	plain, expected := c.round.lengths[0].Cost, c.round.lengths[1].Tokens
	rows, drafting := c.costs().pass(1)/plain, c.costs().steps(1)/plain
	switch held := c.acceptance.at(0); {
	case held < lowAcceptance:
		return fmt.Sprintf("only %.0f %% of the drafts are kept", 100*held)
	case rows >= expected: // even a draft that cost nothing would not pay
		return fmt.Sprintf("verifying 2 rows takes %.1f times as long as one", rows)
	case drafting >= 0.5*expected:
		return fmt.Sprintf("drafting takes %.1f of a plain pass", drafting)
	}
	return fmt.Sprintf("%.2f tokens in the time of %.2f", expected, rows+drafting)
}

// tokens counts tokens in words.
func tokens(n int) string {
	if n == 1 {
		return "1 token"
	}
	return fmt.Sprintf("%d tokens", n)
}
