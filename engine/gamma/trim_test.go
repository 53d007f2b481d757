package gamma_test

import (
	"slices"
	"strings"
	"testing"

	"specula/engine/gamma"
)

// A looked-up draft is verified as far as drafts found in the same way were accepted.
func TestTrimLearnsWhichDraftsHold(t *testing.T) {
	const short, long = 0.5, 0.9375 // matches of one and of four tokens
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 8, Nominal: &gamma.NominalCosts{DraftStep: 0.001, Verify: 1, VerifyRow: 0.3}})
	sure := func(q float64, n int) []float64 { return slices.Repeat([]float64{q}, n) }
	unprobed := func() {
		for d := c.Next(gamma.Outlook{}); d.Probe; d = c.Next(gamma.Outlook{}) {
			c.Observe(gamma.Observation{Drafted: d.Gamma})
		}
	}
	unprobed()
	if n, why := c.Trim(sure(short, 1)); n != 1 || why != "" {
		t.Errorf("a draft never seen before is cut to %d tokens: %s", n, why)
	}
	for i := range 80 {
		c.Observe(gamma.Observation{Drafted: 1, Tested: 1, Accepted: i % 10 / 9, Confidence: sure(short, 1)})
		c.Observe(gamma.Observation{Drafted: 4, Tested: 4, Accepted: 4, Confidence: sure(long, 4)})
	}
	unprobed()
	if n, why := c.Trim(sure(short, 4)); n != 0 || !strings.Contains(why, "holds with") {
		t.Errorf("of a draft that seldom holds %d tokens are verified: %q", n, why)
	}
	if n, _ := c.Trim(sure(long, 4)); n != 4 {
		t.Errorf("of a draft that always holds only %d of 4 tokens are verified", n)
	}
	if n, _ := c.Trim(append(sure(long, 2), sure(short, 2)...)); n != 2 {
		t.Errorf("of a draft whose second half seldom holds %d of 4 tokens are verified, want 2", n)
	}
	tries := 0
	for range 2000 {
		if n, _ := c.Trim(sure(short, 1)); n == 1 {
			tries++
			c.Observe(gamma.Observation{Drafted: 1, Tested: 1, Confidence: sure(short, 1)})
		}
	}
	if tries == 0 || tries > 60 {
		t.Errorf("what seldom holds was tried again %d times in 2000 rounds, want a few", tries)
	}
}

// A lookup proposer may look in every round, except in a few plain rounds for comparison after many
// rounds with a draft.
func TestLookingUpIsWantedInEveryRound(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 5, Lookup: true, Nominal: &gamma.NominalCosts{DraftStep: 0.001, Verify: 1, VerifyRow: 0.1}})
	for i := range 200 {
		if d := c.Next(gamma.Outlook{}); d.Gamma != 5 || d.Probe || d.Off != "" || d.Expected < 1 {
			t.Fatalf("round %d, nothing found before: %+v", i, d)
		}
		c.Observe(gamma.Observation{})
	}
	plain := 0
	for range 200 {
		d := c.Next(gamma.Outlook{})
		if d.Gamma == 0 {
			plain++
		}
		c.Observe(gamma.Observation{Drafted: d.Gamma, Tested: d.Gamma, Accepted: d.Gamma, Confidence: slices.Repeat([]float64{0.9}, d.Gamma)})
	}
	if plain < 2 || plain > 6 {
		t.Errorf("%d of 200 rounds whose drafts held are plain, want a few to compare with", plain)
	}
}
