package engine

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/sample"
	"specula/engine/spec"
)

// commit adds a round's tokens to the reply. It returns why the reply ends with them, or "". Tokens after a stop token or a
// stop string are not part of the reply: they become discarded.
func (r *reply) commit(outcome *spec.Outcome, ev *event.Round) (reason string) {
	ended := func(t *event.Token) bool {
		r.context = append(r.context, t.ID)
		r.session.shaping.shapers.Push(t.ID)
		if r.engine.isStop(t.ID) {
			t.Stop, t.Text = true, ""
			reason = endStop
			return true
		}
		var stopped bool
		if t.Text, stopped = r.text.next(t.ID); stopped {
			reason = endStopString
		}
		return stopped
	}
	for i := range outcome.Accepted {
		if ended(&ev.Draft[i]) {
			discard(ev, i+1)
			return reason
		}
	}
	if ev.Commit != nil {
		ended(ev.Commit)
	}
	return reason
}

// discard marks the draft tokens after the first kept ones as discarded.
func discard(ev *event.Round, kept int) {
	for i := kept; i < len(ev.Draft); i++ {
		ev.Draft[i].Verdict = event.Discarded
		ev.Draft[i].LogProb, ev.Draft[i].LogProbs = nil, nil
	}
	ev.Accepted, ev.Tested = kept, kept
	ev.Commit = nil
}

// rollBack cuts the caches of target and proposer back to the committed tokens.
func (r *reply) rollBack(p spec.Proposer, ev *event.Round) error {
	cache := r.session.cache
	if err := cache.Truncate(len(r.context) - 1); err != nil {
		return fmt.Errorf("rolling the target's cache back to %d tokens: %w", len(r.context)-1, err)
	}
	ev.TargetLen = cache.Len()
	if ev.GuidanceScale != 0 {
		context := r.companionContext()
		if err := r.session.companion.keep(context[:len(context)-1]); err != nil {
			return err
		}
	}
	if p != nil {
		if err := r.tell(p); err != nil {
			return err
		}
		r.draftLen = p.Len()
	}
	ev.DraftLen = r.draftLen
	return nil
}

// learn updates gamma's controller, the speed-up and the totals after a round. A round without tokens because drafting
// failed is no plain round: it paid for a draft. It counts as one rejected token. The speed-up leaves out the time in which
// the proposer read earlier tokens, because that is paid once and not in every round. The totals include it.
func (r *reply) learn(draft spec.Draft, ev *event.Round, watch *stopwatch) {
	committed := len(ev.Committed())
	defer func() { r.totals.add(ev, committed) }()
	if failed := ev.Gamma > 0 && ev.DraftWhy != ""; failed {
		r.learned.gamma.Observe(gamma.Observation{Tested: 1, VerifyMS: ev.VerifyMS, RestMS: ev.SampleMS + ev.OtherMS})
		r.learned.tellSpeedup(ev)
		return
	}
	accepted, chances := ev.Accepted, r.chances(ev)
	if accepted > 0 && ev.Commit == nil {
		// The token that ended the reply was drafted. It saved no pass: what the target would have added behind it is not wanted.
		accepted--
		if accepted < len(chances) {
			chances[accepted] = 0
		}
	}
	r.learned.gamma.Observe(gamma.Observation{
		Off:     !r.config.Speculation.Enabled,
		Drafted: len(ev.Draft), Tested: ev.Tested, Accepted: accepted, Pending: draft.Pending, Read: ev.Read, ReadMS: ev.ReadMS, Confidence: draft.Confidence,
		Chances: chances,
		DraftMS: ev.DraftMS, VerifyMS: ev.VerifyMS, RestMS: ev.SampleMS + ev.OtherMS,
	})
	r.lookBack(ev)
	watch.lap(&ev.OtherMS)
	r.learned.clocked(r.want, len(ev.Draft), ev.MS()-ev.ReadMS, committed)
	r.learned.tellSpeedup(ev)
}

// hindsightEvery is the number of rounds between two calls that compute the best fixed gamma; one takes some microseconds.
const hindsightEvery = 8

// lookBack notes which fixed gamma would have been best so far in this reply.
func (r *reply) lookBack(ev *event.Round) {
	if r.rounds%hindsightEvery == 0 {
		if best, regret, ok := r.learned.gamma.Hindsight(); ok {
			r.bestFixed, r.regret = &best, &regret
		}
	}
	ev.BestFixedGamma, ev.Regret = r.bestFixed, r.regret
}

// chances returns the acceptance probabilities min(1, p/q) of the tested draft tokens, if the acceptance rule uses them.
func (r *reply) chances(ev *event.Round) []float64 {
	if rule := r.config.Speculation.Acceptance; rule != "" && rule != string(spec.Token) {
		return nil
	}
	chances := make([]float64, 0, ev.Tested)
	for _, t := range ev.Draft[:ev.Tested] {
		if t.P == nil || t.Q == nil || *t.Q <= 0 {
			return nil
		}
		chances = append(chances, min(1, *t.P / *t.Q))
	}
	return chances
}

// isStop reports whether a token is a stop token of the model.
func (e *Engine) isStop(id int32) bool { return e.stops[id] }

// token describes a token that is not part of the reply, or not yet.
func (e *Engine) token(id int32) event.Token {
	return event.Token{ID: id, Raw: e.tokens.Bytes(id), Text: e.tokens.Readable(id)}
}

// judged describes a token with its verdict.
func (e *Engine) judged(j spec.Judged) event.Token {
	t := e.token(j.ID)
	t.Verdict, t.P, t.Q, t.U, t.Bound = j.Verdict, known(j.P), known(j.Q), known(j.U), known(j.Bound)
	return t
}

// named adds the text to each candidate.
func (e *Engine) named(list []sample.Candidate) []event.Candidate {
	out := make([]event.Candidate, len(list))
	for i, c := range list {
		out[i] = event.Candidate{ID: c.ID, Text: e.tokens.Readable(c.ID), P: c.P}
	}
	return out
}

// known returns a pointer to x, or nil if x is not known.
func known(x float64) *float64 {
	if x == spec.Unknown {
		return nil
	}
	return &x
}
