package engine

import "specula/engine/event"

// totals sums up the rounds of a reply.
type totals struct {
	event.Totals
	plain, drafted timed
}

// timed are rounds of one sort: the tokens that they committed, and their milliseconds.
type timed struct{ tokens, ms float64 }

// add counts a finished round. failed says that its proposer could not draft.
func (t *totals) add(ev *event.Round, failed bool) {
	plain := len(ev.Draft) == 0 && !failed
	t.Add(ev, plain)
	switch {
	case plain:
		t.PlainMSPerToken = t.plain.add(ev)
	case !failed: // a failed round is of neither sort
		t.SpecMSPerToken = t.drafted.add(ev)
	}
	if t.Drafted > 0 {
		t.Speedup, t.SpeedupEstimated = ev.Speedup, ev.SpeedupEstimated
	}
}

// add returns the milliseconds per token after one more round; nil until there is a token.
func (t *timed) add(ev *event.Round) *float64 {
	t.tokens += float64(ev.CommittedCount())
	t.ms += ev.MS()
	if t.tokens == 0 {
		return nil
	}
	perToken := t.ms / t.tokens
	return &perToken
}
