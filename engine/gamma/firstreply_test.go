package gamma_test

import (
	"math"
	"testing"

	"specula/engine/gamma"
)

// disturbedRehearsal is one round of each length, on a machine that other programs used during all
// of them except the plain one. So drafts seem to cost 13 times what they do.
func disturbedRehearsal(m *machine, c *gamma.Controller) {
	c.Rehearse(gamma.Observation{VerifyMS: m.passMS(1)})
	for drafted := 1; drafted <= most; drafted++ {
		c.Rehearse(gamma.Observation{Drafted: drafted, DraftMS: 13 * m.draftMS * float64(drafted), VerifyMS: 13 * m.passMS(drafted+1), Read: 16, ReadMS: 13})
	}
}

// firstReply counts the plain rounds and the drafting rounds of a reply of a given length.
func firstReply(m *machine, c *gamma.Controller, tokens, prompt int) (plain, drafting int) {
	c.BeginReply()
	unread := prompt
	for written := 0; written < tokens; {
		d := c.Next(gamma.Outlook{Unread: unread, Left: tokens - written})
		o := m.round(d.Gamma, c.Continue)
		if unread++; d.Gamma > 0 {
			drafting++
			o.Read, o.ReadMS, unread = unread-1, 0.05*float64(unread-1), 0
		} else {
			plain++
		}
		c.Observe(o)
		written += o.Accepted + 1
	}
	return plain, drafting
}

func TestTheFirstReplyDraftsThoughTheRehearsalWasDisturbed(t *testing.T) {
	m := newMachine(always(0.9), 0.5, flat, 1)
	m.noise, m.stalls = 0, 0
	c := costAware()
	disturbedRehearsal(m, c)
	if plain, drafting := firstReply(m, c, 60, 30); plain > 2 {
		t.Errorf("%d rounds were plain and %d drafted, where drafts are four times as fast", plain, drafting)
	}
}

func TestAHopelessDraftIsRefusedInTheFirstReply(t *testing.T) {
	for name, m := range map[string]*machine{
		"little holds": newMachine(always(0.2), 3, steep, 1), "drafting is dear": newMachine(always(0.8), 20, flat, 1),
	} {
		c := costAware()
		disturbedRehearsal(m, c)
		if plain, drafting := firstReply(m, c, 100, 30); drafting > 12 || plain < 70 {
			t.Errorf("%s: %d rounds drafted and %d were plain", name, drafting, plain)
		}
	}
}

// Rounds of the first reply may be disturbed as well. Drafts that are mostly accepted must not be
// given up because of costs that another program may have caused.
func TestAFewDisturbedRoundsDoNotEndDrafting(t *testing.T) {
	m := newMachine(always(0.9), 0.5, func(rows int) float64 {
		if rows == 1 {
			return 10
		}
		return 50 // 4.7 tokens for 5.2 plain passes, as it seems
	}, 1)
	m.noise, m.stalls = 0, 0
	c := costAware()
	m.rehearse(c, talk{readMS: 0.05})
	if plain, drafting := firstReply(m, c, 60, 30); plain > 3 {
		t.Errorf("%d rounds were plain and %d drafted", plain, drafting)
	}
}

// The prompt is read once for the session, for free. What the proposer misses later has its price.
func TestTheFirstReadingIsFree(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 4, Nominal: &gamma.NominalCosts{DraftStep: 0.2, Verify: 1, VerifyRow: 0.1, Read: 0.05}})
	c.BeginReply()
	c.Observe(gamma.Observation{}) // the plain round that comes first
	if d := c.Next(gamma.Outlook{Unread: 2000, Left: 40}); d.Gamma == 0 {
		t.Errorf("the first reply does not draft: %s", d.Why)
	}
	c.Observe(gamma.Observation{Drafted: 4, Tested: 4, Accepted: 4})
	// One token, left by a plain round, is no reason to stop.
	if d := c.Next(gamma.Outlook{Unread: 1, Left: 2}); d.Gamma == 0 {
		t.Errorf("1 token to read ends drafting: %s", d.Why)
	}
	if d := c.Next(gamma.Outlook{Unread: 2000, Left: 40}); d.Gamma != 0 {
		t.Errorf("2000 tokens are read for the rest of a reply of 40: %s", d.Why)
	}
}

// A disturbance of the machine must not count against the γ of a reply.
func TestHindsightDoesNotBlameTheMachine(t *testing.T) {
	m := newMachine(always(0.8), 0.5, flat, 2)
	m.noise, m.stalls = 0, 0
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 4, Max: most})
	disturbed := func(times float64, rounds int) {
		for range rounds {
			o := m.round(c.Next(gamma.Outlook{}).Gamma, c.Continue)
			o.DraftMS, o.VerifyMS = times*o.DraftMS, times*o.VerifyMS
			c.Observe(o)
		}
	}
	c.Observe(gamma.Observation{VerifyMS: 10})
	disturbed(1, 40)
	c.BeginReply()
	disturbed(9, 20)
	if best, regret, ok := c.Hindsight(); !ok || math.Abs(regret) > 0.25 {
		t.Errorf("%.0f %% slower than always γ %d (known %v): the rounds took 9 times as long as before, whatever γ", 100*regret, best, ok)
	}
}

// Across a network a round may cost twenty tokens of the server's stream. No acceptance makes up for that, so
// none is waited for: the drafts of one reply would cost more than many replies.
func TestADraftThatCannotPayIsNotTried(t *testing.T) {
	for _, roundMS := range []float64{20, 100} {
		c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: most, Remote: true})
		c.Rehearse(gamma.Observation{VerifyMS: 1.5})
		for drafted := 1; drafted <= most; drafted++ {
			for range 2 { // one sample may be a stall
				c.Rehearse(gamma.Observation{Drafted: drafted, DraftMS: float64(drafted), VerifyMS: roundMS})
			}
		}
		c.BeginReply()
		for written := range 40 {
			d := c.Next(gamma.Outlook{Left: 40 - written})
			if d.Gamma > 0 {
				t.Fatalf("a round of %v ms: γ %d, though the stream's token takes 1.5 ms: %s", roundMS, d.Gamma, d.Why)
			}
			c.Observe(gamma.Observation{VerifyMS: 1.5})
		}
	}
}
