package pane

import (
	"fmt"

	"specula/ui/paint"
	"specula/ui/state"
)

// logprobs is the logarithm of a token's probability by the target's raw scores, with those of the likeliest tokens as far as one
// line holds them; no line if they were not asked for.
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

// logarithm is one of a probability; that of nearly 1 has no sign.
func logarithm(x float64) string {
	text := fmt.Sprintf("%.2f", x)
	if text == "-0.00" {
		return "0.00"
	}
	return text
}
