package engine

import (
	"math"
	"testing"

	"specula/engine/event"
	"specula/engine/gamma"
)

// A look-up that finds nothing belongs to what looking up gains. A draft model that was asked in vain took time and is no
// baseline. That all rounds take longer from some time on makes no difference.
func TestTheSpeedUpCountsRoundsThatWereAskedInVain(t *testing.T) {
	for _, tt := range []struct {
		name    string
		want    wanted
		emptyMS float64
		times   float64
	}{
		{"lookup", wantLookup, 10, 20.0 / 10}, // 5 finds of 3 tokens in a plain round's time, and 5 plain rounds
		{"draft model", wantDraft, 14, 20.0 / 12},
	} {
		l := newLessons(kind{}, gamma.Options{Rule: gamma.Fixed, Gamma: 2, Max: 2})
		l.follow("someone")
		round := func(want wanted, drafted int, ms float64, tokens int) {
			l.gamma.Next(gamma.Outlook{})
			if want == wantDraft && drafted == 0 {
				l.gamma.Observe(gamma.Observation{Tested: 1, VerifyMS: 10})
			} else {
				l.gamma.Observe(gamma.Observation{Drafted: drafted, Tested: drafted, Accepted: drafted, VerifyMS: ms})
			}
			l.clocked(want, drafted, ms, tokens)
		}
		var ev event.Round
		for i := range 5 {
			round(wantNothing, 0, 10, 1)
			round(tt.want, 2, 10, 3)
			round(tt.want, 0, tt.emptyMS, 1)
			if ev = (event.Round{}); i == 0 {
				if l.tellSpeedup(&ev); tt.want == wantDraft && !ev.SpeedupEstimated {
					t.Errorf("%s: measured after one plain round", tt.name)
				}
			}
		}
		l.tellSpeedup(&ev)
		if math.Abs(ev.Speedup-tt.times) > 0.05 || ev.SpeedupEstimated {
			t.Errorf("%s: speed-up %.3f, estimated %v; want %.3f measured", tt.name, ev.Speedup, ev.SpeedupEstimated, tt.times)
		}
	}
}

// Plain rounds are rare. While none is run the machine may become slow, which is no loss of speculation.
func TestTheSpeedUpFollowsTheMachine(t *testing.T) {
	l := newLessons(kind{}, gamma.Options{Rule: gamma.Fixed, Gamma: 2, Max: 2})
	l.follow("someone")
	round := func(drafted int, ms float64) {
		l.gamma.Next(gamma.Outlook{})
		l.gamma.Observe(gamma.Observation{Drafted: drafted, Tested: drafted, Accepted: drafted, VerifyMS: ms})
		want := wantNothing
		if drafted > 0 {
			want = wantDraft
		}
		l.clocked(want, drafted, ms, drafted+1)
	}
	for range 5 {
		round(0, 10)
		round(2, 15)
	}
	for range 60 {
		round(2, 30)
	}
	var ev event.Round
	// By durations alone it would be 1: no gain at all. The controller cannot know for sure that it is the machine.
	if l.tellSpeedup(&ev); ev.Speedup < 1.3 || ev.Speedup > 2.1 || ev.SpeedupEstimated {
		t.Errorf("speed-up %.2f (estimated %v), want nearly 2 as before everything took twice as long", ev.Speedup, ev.SpeedupEstimated)
	}
}
