package engine

import "specula/engine/event"

// totals are the figures of a reply so far. Most are sums over its rounds.
type totals struct {
	event.Totals
	plain, drafted timed
	alone          alone
}

// alone is the time that the tokens of the reply would have taken in plain rounds.
type alone struct {
	ms       float64
	price    float64 // milliseconds of a plain round, as last known; 0: not known yet
	unpriced float64 // tokens that came before the first price
	measured bool    // the last speed-up that a round told was measured, and no estimate
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
	t.alone.add(ev)
	if decodeMS := t.DecodeMS(); t.Drafted > 0 && t.alone.ms > 0 && decodeMS > 0 {
		t.Speedup, t.SpeedupEstimated = t.alone.ms/decodeMS, !t.alone.measured || t.PlainRounds == 0
	}
}

// add counts the tokens of a round at the price of a plain round at that time. Tokens that came before the
// first price are counted at the first price.
func (a *alone) add(ev *event.Round) {
	if ev.PlainMS > 0 {
		a.price = ev.PlainMS
	}
	if ev.Speedup > 0 {
		a.measured = !ev.SpeedupEstimated
	}
	a.unpriced += float64(ev.CommittedCount())
	if a.price > 0 {
		a.ms, a.unpriced = a.ms+a.unpriced*a.price, 0
	}
}

// add counts one more round, and returns the milliseconds per token so far; nil until there is a token.
func (t *timed) add(ev *event.Round) *float64 {
	t.tokens += float64(ev.CommittedCount())
	t.ms += ev.MS()
	if t.tokens == 0 {
		return nil
	}
	perToken := t.ms / t.tokens
	return &perToken
}
