package gamma_test

import (
	"math"
	"testing"

	"specula/engine/gamma"
)

// The speed-up includes rounds whose proposer was asked and had no draft. After a lookup, such a round
// costs as much as a plain one; after a draft model it costs more, because drafting took time.
func TestTheSpeedUpCountsRoundsThatWereAskedInVain(t *testing.T) {
	for _, tt := range []struct {
		name   string
		lostMS float64
		times  float64
	}{
		{"lookup", 0, 20.0 / 10}, // 5 finds of 3 tokens in a plain round's time, and 5 plain rounds
		{"draft model", 4, 20.0 / 12},
	} {
		c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 2, Max: 2})
		if times, _ := c.Speedup(); times != 0 {
			t.Errorf("%s: speed-up %.2f before the first draft", tt.name, times)
		}
		for i := range 5 {
			c.Observe(gamma.Observation{VerifyMS: 10})
			c.Observe(gamma.Observation{Asked: true, Drafted: 2, Tested: 2, Accepted: 2, VerifyMS: 10})
			c.Observe(gamma.Observation{Asked: true, DraftMS: tt.lostMS, VerifyMS: 10})
			if _, estimated := c.Speedup(); i == 0 && !estimated {
				t.Errorf("%s: measured after two drafts", tt.name)
			}
		}
		if times, estimated := c.Speedup(); math.Abs(times-tt.times) > 0.05 || estimated {
			t.Errorf("%s: speed-up %.3f, estimated %v; want %.3f measured", tt.name, times, estimated, tt.times)
		}
	}
}

// Plain rounds are rare. If the machine becomes slower between two of them, this is no loss of
// speculation.
func TestTheSpeedUpFollowsTheMachine(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 2, Max: 2})
	drafted := func(ms float64) {
		c.Observe(gamma.Observation{Asked: true, Drafted: 2, Tested: 2, Accepted: 2, VerifyMS: ms})
	}
	for range 5 {
		c.Observe(gamma.Observation{VerifyMS: 10})
		drafted(15)
	}
	for range 60 {
		drafted(30)
	}
	// By durations alone it would be 1: no gain at all. The controller cannot know for sure that it
	// is the machine.
	if times, estimated := c.Speedup(); times < 1.3 || times > 2.1 || estimated {
		t.Errorf("speed-up %.2f (estimated %v), want nearly 2 as before everything took twice as long", times, estimated)
	}
}

// Rules that always draft get plain rounds too, or there would be nothing to compare with.
func TestEveryRuleGetsPlainRounds(t *testing.T) {
	for _, rule := range []gamma.Rule{gamma.Fixed, gamma.Windowed, gamma.CostAware} {
		c := gamma.New(gamma.Options{Rule: rule, Gamma: 4, Max: 4, Window: 4})
		plain := 0
		for range 400 {
			d := c.Next(gamma.Outlook{Left: 400})
			if d.Gamma == 0 {
				if plain++; !d.Probe {
					t.Fatalf("%s: a plain round that is no probe: %s", rule, d.Why)
				}
			}
			c.Observe(round(d.Gamma, d.Gamma, d.Gamma))
		}
		if plain < 7 || plain > 10 {
			t.Errorf("%s: %d of 400 rounds are plain, want three soon and then one in 64", rule, plain)
		}
	}
}
