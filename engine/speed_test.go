package engine

import (
	"math"
	"testing"

	"specula/engine/event"
	"specula/engine/gamma"
)

// A look-up that finds nothing belongs to what looking up gains. A draft model that was asked in vain took time and is no
// baseline.
func TestTheSpeedUpCountsRoundsThatWereAskedInVain(t *testing.T) {
	for _, tt := range []struct {
		name         string
		want         wanted
		emptyMS      float64
		times, plain float64 // the speed-up, and milliseconds of a plain round
	}{
		{"lookup", wantLookup, 10, 10 / (100.0 / 20), 10}, // 5 finds of 3 tokens in 10 ms, 5 rounds of one token in 10 ms
		{"draft model", wantDraft, 14, 10 / (120.0 / 20), 10},
	} {
		l := newLessons(gamma.Options{Rule: gamma.Fixed, Gamma: 2, Max: 2})
		l.follow("someone")
		for range 5 {
			l.clocked(wantNothing, 0, 10, 1)
			l.clocked(tt.want, 2, 10, 3)
			l.clocked(tt.want, 0, tt.emptyMS, 1)
		}
		var ev event.Round
		l.tellSpeedup(&ev)
		if math.Abs(ev.Speedup-tt.times) > 0.02 || ev.SpeedupEstimated || math.Abs(l.plain.ms-tt.plain) > 1e-9 {
			t.Errorf("%s: speed-up %.3f, estimated %v, %g ms a plain round; want %.3f measured, %g", tt.name, ev.Speedup, ev.SpeedupEstimated, l.plain.ms, tt.times, tt.plain)
		}
	}
}
