package engine

import (
	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/spec"
)

// looksUp reports whether a round's draft comes for nothing, so that its length can be decided when it is known: the cost-aware rule
// with a proposer that has no model. Plain rounds that are wanted for their own sake stay plain.
func (r *reply) looksUp(p spec.Proposer, d gamma.Decision) bool {
	_, free := p.(spec.Free)
	c := r.config.Speculation
	return free && c.Enabled && c.Rule == string(gamma.CostAware) && (d.Gamma > 0 || !d.Probe)
}

// longest is a decision for as much as may be found.
func (r *reply) longest(d gamma.Decision) gamma.Decision {
	d.Gamma, d.Off, d.Probe = r.config.Speculation.GammaMax, "", false
	d.Why = "looking up costs nothing: as much as is found and worth its rows"
	return d
}

// trim leaves out of a looked-up draft what is not worth verifying.
func (r *reply) trim(p spec.Proposer, draft *spec.Draft, ev *event.Round) {
	if _, free := p.(spec.Free); !free || r.config.Speculation.Rule != string(gamma.CostAware) {
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
