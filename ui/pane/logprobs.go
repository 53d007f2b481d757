package pane

import (
	"fmt"

	"specula/ui/paint"
	"specula/ui/state"
)

// logprobs draws the log-probability of a token under the target's raw scores, and those of as many of the
// likeliest tokens as fit on the line. It returns nil if the token has none: if the user did not ask for
// them, or if the token is not part of the reply.
func (c *column) logprobs(t *state.Token) []string {
	if t.LogProb == nil {
		return nil
	}
	out := c.line().Put(c.th.Label, "ln p ").Put(c.th.Strong, logarithm(*t.LogProb))
	for _, best := range t.LogProbs {
		text, figure := spelled(c.th, best.Text, laneToken), " "+logarithm(best.P)
		if out.Left() < 2+paint.Width(text)+paint.Width(figure)+1 {
			break
		}
		out.Put("", "  ")
		putToken(c.th, out, "", text)
		out.Put(c.th.Label, figure)
	}
	return []string{out.String()}
}

// logarithm formats a log-probability. It writes 0.00 instead of -0.00.
func logarithm(x float64) string {
	text := fmt.Sprintf("%.2f", x)
	if text == "-0.00" {
		return "0.00"
	}
	return text
}
