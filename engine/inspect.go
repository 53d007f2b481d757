package engine

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/round"
	"specula/engine/spec"
)

// candidates is how many of the best tokens of each model an inspected round reports per row.
const candidates = 6

// inspectShare is the fraction of the session's time that inspection may take if the request is Sparing.
const inspectShare = 1.0 / 100

// inspect adds the best candidates of both models to the tokens of a round, if the request asks for
// inspection.
func (r *reply) inspect(in *round.Input, did *round.Result, ev *event.Round) error {
	draft := &did.Draft
	defer func() {
		bytes, _ := did.Pass.Moved()
		ev.InspectBytes = draft.LookBytes + bytes - ev.BytesMoved
	}()
	if !in.Ask.Inspect {
		return nil
	}
	watch := round.NewStopwatch(r.session.engine.options.Now)
	defer func() { watch.Lap(&r.session.inspectMS) }()
	seen, err := r.session.driver.Verifier.Inspect(candidates, did.Pass.Scores, *draft, in.Terms)
	if err != nil {
		return fmt.Errorf("inspecting a round: %w", err)
	}
	for i, rule := range spec.Rules {
		if len(draft.Tokens) > 0 && seen.Kept != nil {
			ev.Rules = append(ev.Rules, event.RuleOutcome{Rule: string(rule.Rule), Accepted: seen.Kept[i], Lossy: rule.Lossy()})
		}
	}
	for i := range ev.Draft {
		t := &ev.Draft[i]
		t.Target, t.Draft = r.session.engine.named(seen.Target[i]), r.session.engine.named(seen.Draft[i])
		t.P, t.Q = exactly(t.P, seen.P[i]), exactly(t.Q, seen.Q[i])
	}
	if ev.Commit != nil {
		// The target's own token was chosen in the row after the accepted draft tokens: the row of the
		// rejected draft token, or the row after the whole draft.
		ev.Commit.Target = r.session.engine.named(seen.Target[ev.Accepted])
		ev.Commit.Draft = r.session.engine.named(seen.Draft[ev.Accepted])
	}
	return nil
}

// exactly returns p or q of a token. The inspection has computed seen from whole rows, so seen is more exact
// than told, which the event has from the verdict. If one of the two is not known, exactly returns told.
func exactly(told *float64, seen float64) *float64 {
	if told == nil || seen == spec.Unknown {
		return told
	}
	return &seen
}
