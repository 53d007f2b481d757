package engine

import (
	"fmt"

	"specula/engine/event"
	"specula/engine/gamma"
	"specula/engine/round"
	"specula/engine/spec"
)

// commit adds a round's tokens to the reply, and their texts to ev. It returns why the reply ends with
// these tokens, or "" if it goes on. If a draft token ends the reply, by a stop token or a stop string,
// commit marks the draft tokens after it as discarded and sets ev.Commit to nil.
func (r *reply) commit(outcome *spec.Outcome, ev *event.Round) (reason string) {
	ended := func(t *event.Token) bool {
		r.context = append(r.context, t.ID)
		r.session.shaping.shapers.Push(t.ID)
		if r.session.isStop(t.ID) {
			t.Stop, t.Name, t.Text = true, t.Text, ""
			reason = endStop
			return true
		}
		before := r.text.thought
		var stopped bool
		if t.Text, stopped = r.text.next(t.ID); stopped {
			reason = endStopString
		}
		t.Thought = before || r.text.thought // the marks around a thought count as part of it
		return stopped
	}
	for i := range outcome.Accepted {
		if ended(&ev.Draft[i]) {
			discard(ev, i+1)
			return reason
		}
	}
	for i := outcome.Accepted; i < len(ev.Draft); i++ {
		ev.Draft[i].Thought = r.text.thought
	}
	if ev.Commit != nil {
		ended(ev.Commit)
	}
	return reason
}

// discard marks all draft tokens but the first as discarded, and drops the target's own token. kept is how many
// of the first draft tokens stay accepted.
func discard(ev *event.Round, kept int) {
	for i := kept; i < len(ev.Draft); i++ {
		ev.Draft[i].Verdict = event.Discarded
		ev.Draft[i].LogProb, ev.Draft[i].LogProbs = nil, nil
	}
	ev.Accepted, ev.Tested = kept, kept
	ev.Commit = nil
}

// rollBack cuts the target's cache back to all committed tokens but the last. It tells the proposer what was
// committed, so that the proposer cuts its own cache back.
func (r *reply) rollBack(c *choice, ev *event.Round) error {
	s := r.session
	if err := s.driver.Target.Truncate(len(r.context) - 1); err != nil {
		return fmt.Errorf("rolling the target's cache back to %d tokens: %w", len(r.context)-1, err)
	}
	if c.proposer != nil {
		if err := r.tell(c.proposer, r.context); err != nil {
			return err
		}
	}
	ev.TargetLen, ev.DraftLen = s.target.Len(), r.held
	return nil
}

// learn updates gamma's controller and the totals after a round. A round whose drafting failed counts as
// one rejected token, and not as a plain round: drafting has cost time.
func (r *reply) learn(c *choice, did *round.Result, ev *event.Round) {
	o := gamma.Observation{
		Asked: c.asked, Forced: c.forced != nil,
		Drafted: len(ev.Draft), Tested: ev.Tested, Accepted: ev.Accepted, Chances: r.chances(ev), Confidence: did.Draft.Confidence,
		Pending: did.Draft.Pending, Read: ev.Read, ReadMS: ev.ReadMS, DraftMS: ev.DraftMS, VerifyMS: ev.VerifyMS + ev.SampleMS + ev.OtherMS,
	}
	o.VerifyMS = did.Pass.Price(o.VerifyMS)
	switch {
	case did.Failed != nil:
		o.Tested = 1
	case o.Accepted > 0 && ev.Commit == nil:
		// The reply ended with a draft token, so the target added no token of its own. A round that accepts k
		// draft tokens then saves k−1 passes of the target, not k. So the last of them counts as refused.
		o.Accepted--
		if o.Accepted < len(o.Chances) {
			o.Chances[o.Accepted] = 0
		}
	}
	if r.config.Speculation.Enabled {
		r.learned.gamma.Observe(o)
	} else {
		r.learned.gamma.Rehearse(o)
	}
	if p := c.passed; p != nil && ev.Commit != nil {
		r.learned.gamma.Passed(p.confidence, p.id == ev.Commit.ID)
	}
	r.lookBack(ev)
	ev.PlainMS = r.learned.gamma.PlainMS()
	ev.Speedup, ev.SpeedupEstimated = r.learned.gamma.Speedup()
	if r.rounds%lengthsEvery == lengthsEvery-1 {
		ev.Lengths = tellLengths(r.learned.gamma.Lengths())
	}
	r.session.driver.Watch.Lap(&ev.OtherMS)
	r.totals.add(ev, did.Failed != nil)
}

// Every lengthsEvery rounds, the event of a round tells how many tokens a round of each draft length is expected
// to commit, and at what cost.
const lengthsEvery = 4

func tellLengths(in []gamma.Length) []event.Length {
	out := make([]event.Length, len(in))
	for i, l := range in {
		out[i] = event.Length{Tokens: l.Tokens, Rounds: l.Cost, Measured: l.Measured}
	}
	return out
}

// Every hindsightEvery rounds, the best fixed gamma is computed. Computing it in each round would take too
// much time.
const hindsightEvery = 8

// hindsight is the last answer of Controller.Hindsight.
type hindsight struct {
	best   *int     // the fixed gamma that would have been best; nil: not known yet
	regret *float64 // the fraction of the time that best would have saved; nil: not known yet
}

// lookBack notes which fixed gamma would have been best so far in this reply.
func (r *reply) lookBack(ev *event.Round) {
	if r.rounds%hindsightEvery == 0 {
		if best, regret, ok := r.learned.gamma.Hindsight(); ok {
			r.hindsight = hindsight{&best, &regret}
		}
	}
	ev.BestFixedGamma, ev.Regret = r.hindsight.best, r.hindsight.regret
}

// chances returns the acceptance probabilities min(1, p/q) of the tested draft tokens. It returns nil
// under a rule of acceptance other than token, and if p or q of one of these tokens is not known.
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
