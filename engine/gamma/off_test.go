package gamma

import "testing"

// While speculation is switched off, the budget for probes does not grow and what is known about
// drafts does not fade.
func TestRoundsWithSpeculationOffTeachCostsAlone(t *testing.T) {
	c := New(Options{Rule: CostAware, Max: 4})
	for range 50 {
		d := c.Next(Outlook{Left: 100})
		c.Observe(Observation{Drafted: d.Gamma, Tested: min(d.Gamma, 1), DraftMS: float64(d.Gamma), VerifyMS: 1})
	}
	saved, rounds, held := c.probes.saved, c.probes.draft.rounds, c.acceptance.at(0)
	for range 1000 {
		c.Observe(Observation{Off: true, VerifyMS: 2})
	}
	if c.probes.saved != saved || c.probes.draft.rounds != rounds || c.acceptance.at(0) != held {
		t.Errorf("after 1,000 rounds with speculation off %v is saved for tries, the last is %d rounds ago, and %v is accepted; before %v, %d, %v",
			c.probes.saved, c.probes.draft.rounds, c.acceptance.at(0), saved, rounds, held)
	}
	if got := c.costs.of(0); got < 1.5 {
		t.Errorf("1,000 plain rounds of 2 ms, and one is taken to cost %.2f", got)
	}
}
