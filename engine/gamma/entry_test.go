package gamma

import "testing"

// Replies in which nothing is saved make the next one less likely to be entered, those that keep what they promise do not, and
// neither counts for ever.
func TestEntriesAreBelievedAsTheyKeep(t *testing.T) {
	const promised = 3.0
	play := func(saved float64) *entries {
		e := &entries{}
		for range 30 {
			e.begin()
			e.enter(promised)
			e.enter(100) // within a reply only the first counts
			e.observe(saved / 2)
			e.observe(saved / 2)
		}
		e.begin()
		return e
	}
	if got := (&entries{}).reliable(promised); got != 1 {
		t.Errorf("without a reply entered, %.2f of a promise is believed, want all", got)
	}
	if got := play(promised).reliable(promised); got < 0.99 {
		t.Errorf("where promises are kept, %.2f of one is believed", got)
	}
	broken := play(0)
	if got := broken.reliable(promised); got > 0.25 {
		t.Errorf("where nothing is saved, %.2f of a promise is believed", got)
	}
	if got := play(-10 * promised).reliable(promised); got != leastReliable {
		t.Errorf("where all is lost, %.2f of a promise is believed", got)
	}
	for range 20_000 {
		broken.observe(0)
	}
	if got := broken.reliable(promised); got < 0.9 {
		t.Errorf("20,000 rounds later %.2f of a promise is believed", got)
	}
}

// While speculation is switched off nothing is earned that tries could be paid with, and what is known of drafts does not fade.
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
