package engine

import (
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/spec"
)

// trim leaves out of a looked-up draft what is not worth verifying.
func (r *reply) trim(draft *spec.Draft, ev *event.Round) {
	if !r.free || r.drafted.given != nil || r.config.Speculation.Rule != string(gamma.CostAware) {
		return
	}
	defer func() { ev.Gamma = len(draft.Tokens) }() // what was asked for says nothing here
	n := len(draft.Tokens)
	if n == 0 || len(draft.Confidence) < n {
		return
	}
	keep, why := r.learned.gamma.Trim(draft.Confidence[:n])
	if keep == n {
		return
	}
	if keep == 0 {
		ev.GammaOff = why
	}
	draft.Tokens, draft.Q, draft.Confidence = draft.Tokens[:keep], draft.Q[:keep], draft.Confidence[:keep]
	ev.DraftStop = why
}
