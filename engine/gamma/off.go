package gamma

import "fmt"

// off says in words why no draft pays at present, or returns "". The reasons are: few draft tokens
// are accepted, extra rows of a pass cost too much, or drafting costs too much.
func (c *Controller) off() string {
	if c.options.Rule != CostAware || c.options.Max == 0 || c.probes.plainRounds == 0 || c.probes.draftSteps == 0 || c.best(0) > 0 {
		return ""
	}
	gamma := c.best(1)
	plain := c.cost(0)
	rows, drafting := c.costs.pass(gamma)/plain, c.costs.steps(gamma)/plain
	switch held := c.acceptance.at(0); {
	case held < lowAcceptance:
		return fmt.Sprintf("acceptance %.2f", held)
	case rows >= c.tokens(gamma): // even a draft that cost nothing would not pay
		return fmt.Sprintf("verification of %d rows costs %.1f × one row", gamma+1, rows)
	case drafting >= 0.5*c.tokens(gamma):
		return fmt.Sprintf("drafting takes %.1f × a plain pass", drafting)
	}
	return fmt.Sprintf("%.2f tokens for %.2f plain passes", c.tokens(gamma), rows+drafting)
}

// lowAcceptance is the acceptance below which speculation hardly ever pays, whatever it costs.
const lowAcceptance = 0.3
