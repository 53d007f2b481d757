package gamma_test

import (
	"testing"

	"specula/engine/gamma"
)

// While speculation is switched off, the budget for tries does not grow and what is known about
// drafts does not fade.
func TestRoundsWithSpeculationOffTeachCostsAlone(t *testing.T) {
	tries, held := 0, [2]float64{}
	for i, off := range []int{0, 1000} {
		c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 4})
		for range 50 {
			d := c.Next(gamma.Outlook{Left: 100})
			c.Observe(gamma.Observation{Drafted: d.Gamma, Tested: min(d.Gamma, 1), DraftMS: float64(d.Gamma), VerifyMS: 1})
		}
		for range off {
			c.Rehearse(gamma.Observation{VerifyMS: 1})
		}
		d := c.Next(gamma.Outlook{Left: 100})
		held[i] = d.Acceptance[0]
		if d.Gamma > 0 {
			tries++
		}
	}
	if held[0] != held[1] || tries > 0 {
		t.Errorf("before and after 1,000 rounds with speculation off acceptance is %.3f, and then %d of 2 sessions draft", held, tries)
	}
}
