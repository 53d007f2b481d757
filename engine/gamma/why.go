package gamma

import "fmt"

// worth says what a draft length should bring.
func (c *Controller) worth(gamma int) string {
	l, plain := c.lengths[gamma], c.lengths[0].Cost
	return fmt.Sprintf("expect %.2f tokens, in the time of %.2f without a draft", l.Tokens, l.Cost/plain)
}

// lowAcceptance is an acceptance so low that speculation hardly ever pays, even with a cheap draft.
const lowAcceptance = 0.3

// whyOff says why a draft of one token does not pay: few draft tokens are accepted, extra rows of a
// pass cost too much, or drafting costs too much.
func (c *Controller) whyOff() string {
	plain, expected := c.lengths[0].Cost, c.lengths[1].Tokens
	rows, drafting := c.costs.pass(1)/plain, c.costs.steps(1)/plain
	switch held := c.acceptance.at(0); {
	case held < lowAcceptance:
		return fmt.Sprintf("only %.0f %% of the drafts are kept", 100*held)
	case rows >= expected: // even a draft that cost nothing would not pay
		return fmt.Sprintf("verifying 2 rows takes %.1f times as long as one", rows)
	case drafting >= 0.5*expected:
		return fmt.Sprintf("drafting takes %.1f of a plain pass", drafting)
	}
	return fmt.Sprintf("γ 1 would give %.2f tokens in the time of %.2f", expected, rows+drafting)
}
