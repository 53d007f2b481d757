package engine

import "specula/engine/event"

// totals sums up the rounds of a reply.
type totals struct {
	event.Totals
	plainMS, specMS         float64
	plainTokens, specTokens int
}

// add takes a finished round that committed so many tokens. In a failed one the proposer could not draft.
func (t *totals) add(ev *event.Round, committed int, failed bool) {
	t.Tokens += committed
	t.Rounds++
	t.Drafted += len(ev.Draft)
	t.Tested += ev.Tested
	t.Accepted += ev.Accepted
	for i := range ev.Tested {
		if i == len(t.PositionTested) {
			t.PositionTested = append(t.PositionTested, 0)
			t.PositionKept = append(t.PositionKept, 0)
		}
		t.PositionTested[i]++
		if i < ev.Accepted {
			t.PositionKept[i]++
		}
	}
	t.ReadMS += ev.ReadMS
	t.DraftMS += ev.DraftMS
	t.VerifyMS += ev.VerifyMS
	t.SampleMS += ev.SampleMS
	t.OtherMS += ev.OtherMS
	t.BytesMoved += ev.BytesMoved
	switch {
	case failed: // neither plain nor speculative
	case len(ev.Draft) == 0:
		t.PlainRounds++
		t.plainMS += ev.MS()
		t.plainTokens += committed
	default:
		t.specMS += ev.MS()
		t.specTokens += committed
	}
	if t.Drafted > 0 {
		t.Speedup, t.SpeedupEstimated = ev.Speedup, ev.SpeedupEstimated
	}
	t.PlainMSPerToken = perToken(t.plainMS, t.plainTokens)
	t.SpecMSPerToken = perToken(t.specMS, t.specTokens)
}

// perToken is nil until there is a token.
func perToken(ms float64, tokens int) *float64 {
	if tokens == 0 {
		return nil
	}
	x := ms / float64(tokens)
	return &x
}
