package engine

import "specula/engine/event"

// totals are the figures of a reply so far. Most are sums over its rounds.
type totals struct {
	event.Totals
	plain, drafted timed
}

// timed are the tokens and milliseconds of one sort of rounds, plain or with a draft.
type timed struct{ tokens, ms float64 }

// add counts a finished round. failed: a draft was asked for, but the proposer failed.
func (t *totals) add(ev *event.Round, failed bool) {
	plain := len(ev.Draft) == 0 && !failed
	t.Add(ev, plain)
	switch {
	case plain:
		t.PlainMSPerToken = t.plain.add(ev)
	case !failed: // a failed round is neither plain nor drafted
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
