package engine

import (
	"math"
	"testing"

	"specula/engine/event"
)

// The speed-up of a reply is that of all its rounds; the one in its last round's event is of the newest rounds only.
// Without a plain round in the reply the speed-up is an estimate.
func TestTheSpeedUpOfAReplyIsOverAllItsRounds(t *testing.T) {
	committed := &event.Token{Verdict: event.Plain}
	drafted := func(kept int, ms, plainMS float64) *event.Round {
		r := &event.Round{DraftMS: 1, ReadMS: 1, VerifyMS: ms - 2, PlainMS: plainMS, Speedup: 4.6, Commit: committed}
		for range kept {
			r.Draft = append(r.Draft, event.Token{Verdict: event.Accepted})
		}
		r.Draft = append(r.Draft, event.Token{Verdict: event.Rejected})
		return r
	}
	plain := &event.Round{VerifyMS: 10, PlainMS: 10, Speedup: 4.6, Commit: committed}
	guess := *drafted(1, 10, 10)
	guess.SpeedupEstimated = true
	for _, tt := range []struct {
		name      string
		rounds    []*event.Round
		times     float64
		estimated bool
	}{
		{"one good round among slow ones", []*event.Round{drafted(0, 20, 10), plain, drafted(0, 20, 10), drafted(4, 10, 10)}, 80.0 / 60, false},
		{"each round at its own price", []*event.Round{plain, drafted(1, 20, 20), drafted(1, 40, 40)}, 130.0 / 70, false},
		{"no plain round", []*event.Round{drafted(2, 20, 10)}, 30.0 / 20, true},
		{"too few plain rounds in the session", []*event.Round{plain, &guess}, 30.0 / 20, true},
		{"a price that comes late", []*event.Round{drafted(2, 20, 0), plain}, 40.0 / 30, false},
		{"a price that is not known any more", []*event.Round{plain, drafted(2, 20, 0)}, 40.0 / 30, false},
		{"no price", []*event.Round{drafted(2, 20, 0)}, 0, false},
		{"no draft", []*event.Round{plain, plain}, 0, false},
	} {
		var sum totals
		for _, r := range tt.rounds {
			sum.add(r, false)
		}
		if math.Abs(sum.Speedup-tt.times) > 1e-9 || sum.SpeedupEstimated != tt.estimated {
			t.Errorf("%s: speed-up %.3f, estimated %v; want %.3f, %v", tt.name, sum.Speedup, sum.SpeedupEstimated, tt.times, tt.estimated)
		}
	}
}
