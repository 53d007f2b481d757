package engine

import (
	"specula/engine/gamma"
	"specula/engine/spec"
)

// trim cuts a looked-up draft to the tokens that are worth verifying. Only the rule cost-aware trims. A
// draft of the plan (drafted) stays as it is.
func (r *reply) trim(c *choice, draft *spec.Draft) {
	if !r.traits.Lookup() || r.drafted.given != nil || r.config.Speculation.Rule != string(gamma.CostAware) {
		return
	}
	n := len(draft.Tokens)
	if n > 0 && len(draft.Confidence) >= n {
		if keep, why := r.learned.gamma.Trim(draft.Confidence[:n]); keep < n {
			if keep == 0 {
				c.Off, c.passed = why, &passed{draft.Tokens[0], draft.Confidence[0]}
			}
			draft.Cut(keep)
			draft.Stop = why
		}
	}
	c.Gamma = len(draft.Tokens) // a lookup is asked for the longest draft; γ is what it found and trim kept
}
