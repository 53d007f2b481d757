package engine

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/sample"
	"specula/engine/spec"
)

// commit adds a round's tokens to the reply and returns why that ends it, or "". Tokens behind a stop token or a stop
// string were never part of the reply: they become discarded.
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

// discard takes back what lies behind the first kept draft tokens of a round.
func discard(ev *event.Round, kept int) {
	for i := kept; i < len(ev.Draft); i++ {
		ev.Draft[i].Verdict = event.Discarded
		ev.Draft[i].LogProb, ev.Draft[i].LogProbs = nil, nil
	}
	ev.Accepted, ev.Tested = kept, kept
	ev.Commit = nil
}

// rollBack cuts the target's cache and the proposer's to what was committed.
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

// learn lets the controller, the speed-up and the totals take notice of a round. One whose draft failed is no baseline: it
// paid for drafting and got nothing, as if a token had been drafted and refused. The speed-up leaves out what the proposer had to read,
// which is paid once and not in every round; the totals have it.
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

// hindsightEvery is the number of rounds between two looks back: one takes a few microseconds.
const hindsightEvery = 8

// lookBack notes which fixed γ would have been best so far in this reply.
func (r *reply) lookBack(ev *event.Round) {
	if r.rounds%hindsightEvery == 0 {
		if best, regret, ok := r.learned.gamma.Hindsight(); ok {
			r.bestFixed, r.regret = &best, &regret
		}
	}
	ev.BestFixedGamma, ev.Regret = r.bestFixed, r.regret
}

// chances are those of the tested draft tokens, min(1, p/q), where the rule of acceptance goes by them.
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

// isStop reports whether a token ends a reply.
func (e *Engine) isStop(id int32) bool { return e.stops[id] }

// token describes an id that is not, or not yet, part of the reply.
func (e *Engine) token(id int32) event.Token {
	return event.Token{ID: id, Raw: e.tokens.Bytes(id), Text: e.tokens.Readable(id)}
}

// judged describes a token with its verdict.
func (e *Engine) judged(j spec.Judged) event.Token {
	t := e.token(j.ID)
	t.Verdict, t.P, t.Q, t.U, t.Bound = j.Verdict, known(j.P), known(j.Q), known(j.U), known(j.Bound)
	return t
}

// named gives candidates their text.
func (e *Engine) named(list []sample.Candidate) []event.Candidate {
	out := make([]event.Candidate, len(list))
	for i, c := range list {
		out[i] = event.Candidate{ID: c.ID, Text: e.tokens.Readable(c.ID), P: c.P}
	}
	return out
}

// known is a number that may be missing.
func known(x float64) *float64 {
	if x == spec.Unknown {
		return nil
	}
	return &x
}
