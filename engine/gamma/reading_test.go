package gamma_test

import (
	"fmt"
	"strings"
	"testing"

	"specula/engine/gamma"
)

// A conversation with a draft model that reads the prompt, and whatever else it missed, only when
// it is asked to draft.

// talk describes the replies of a session.
type talk struct {
	prompt, reply int     // tokens; actual replies have 0.5 to 1.5 times that
	readMS        float64 // per token that the draft model missed
}

const sessionTokens = 900

// play writes a session of replies and returns the expected tokens and milliseconds, reading
// included.
func (m *machine) play(c *gamma.Controller, s talk) (tokens, ms float64) {
	m.rehearse(c, s)
	for range sessionTokens / s.reply {
		c.BeginReply()
		unread, length := s.prompt, s.reply/2+m.rng.IntN(s.reply)
		for written := 0; written < length; {
			d := c.Next(gamma.Outlook{Unread: unread, Left: length - written})
			o := m.round(min(d.Gamma, length-written-1), c.Continue)
			switch {
			case o.Drafted == 0:
				unread++
			case unread > 0:
				o.Read, o.ReadMS = unread, m.took(s.readMS*float64(unread))
				ms += s.readMS * float64(unread)
				unread = 0
			}
			c.Observe(o)
			written += o.Accepted + 1
			n, took := m.typical(o.Drafted)
			tokens, ms = tokens+n, ms+took
		}
	}
	return tokens, ms
}

// rehearse shows a controller three rounds of each length.
func (m *machine) rehearse(c *gamma.Controller, s talk) {
	for rows := 1; rows <= most+1; rows++ {
		for range 3 {
			c.Rehearse(gamma.Observation{Drafted: rows - 1, DraftMS: m.took(m.draftMS * float64(rows-1)), VerifyMS: m.took(m.passMS(rows)), Read: 16, ReadMS: m.took(16 * s.readMS)})
		}
	}
}

// best returns the least milliseconds per token of any fixed γ, reading included.
func (m *machine) best(s talk) float64 {
	_, least := m.bestFixed(0)
	for g := 1; g <= most; g++ {
		tokens, ms := m.typical(g)
		least = min(least, ms/tokens+s.readMS*float64(s.prompt)/float64(s.reply))
	}
	return least
}

// small returns the milliseconds of a target pass, as on the simulated clock of the engine's tests. There a
// draft step costs a fifth of a pass, and reading a token a twentieth.
func small(rows int) float64 { return 8.6 + 1.85*float64(rows-1) }

func TestReadingIsAPriceOfSpeculating(t *testing.T) {
	const sessions, readMS = 40, 0.35
	for _, s := range []talk{{14, 14, readMS}, {20, 60, readMS}, {32, 16, readMS}, {100, 150, readMS}} {
		for _, accept := range []float64{0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9} {
			t.Run(fmt.Sprintf("%d tokens for %d, acceptance %g", s.prompt, s.reply, accept), func(t *testing.T) {
				tokens, ms := 0.0, 0.0
				m := newMachine(always(accept), 2, small, 0)
				for seed := range uint64(sessions) {
					m.rng = newMachine(nil, 0, nil, seed).rng
					n, took := m.play(costAware(), s)
					tokens, ms = tokens+n, ms+took
				}
				if speed := small(1) * tokens / ms; speed < 0.988 {
					t.Errorf("%.3f of plain speed", speed)
				}
				if share := m.best(s) * tokens / ms; share < 0.96 {
					t.Errorf("%.3f of the speed of the best fixed γ", share)
				}
			})
		}
	}
}

// gaining returns a controller that knows all costs, and knows that a draft of two tokens gains 20
// %.
func gaining(t *testing.T) *gamma.Controller {
	t.Helper()
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 2, Nominal: &gamma.NominalCosts{DraftStep: 0.2, Verify: 1, VerifyRow: 0.2, Read: 0.05}})
	for range 200 {
		d := c.Next(gamma.Outlook{})
		o := gamma.Observation{Drafted: d.Gamma, Tested: d.Gamma, Accepted: d.Gamma}
		for range d.Gamma {
			o.Chances = append(o.Chances, 0.75)
		}
		c.Observe(o)
	}
	return c
}

func TestNothingIsReadForLessThanItGains(t *testing.T) {
	next := func(o gamma.Outlook) gamma.Decision {
		c := gaining(t)
		c.BeginReply()
		d := c.Next(o)
		for ; d.Probe; d = c.Next(o) { // a probe of a plain round, which reads nothing
			c.Observe(gamma.Observation{})
		}
		return d
	}
	if d := next(gamma.Outlook{Unread: 20, Left: 200}); d.Gamma == 0 {
		t.Errorf("20 tokens are not read for a reply of 200: %s", d.Why)
	}
	for _, o := range []gamma.Outlook{{Unread: 2000, Left: 200}, {Unread: 20, Left: 2}} {
		if d := next(o); d.Gamma != 0 || !strings.Contains(d.Off, "would first have to read") {
			t.Errorf("%d tokens are read for a reply of %d: γ %d, off %q", o.Unread, o.Left, d.Gamma, d.Off)
		}
	}
}

// Heads read in the first pass of a draft. The time by which this draft is longer than others is the price of
// reading.
func TestALongFirstPassShowsWhatReadingCosts(t *testing.T) {
	for _, c := range []struct {
		readMS float64
		drafts bool
	}{{0.01, true}, {1, false}} {
		a := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 1})
		for range 3 {
			a.Rehearse(gamma.Observation{VerifyMS: 10})
			a.Rehearse(gamma.Observation{Drafted: 1, DraftMS: 1, VerifyMS: 10})
		}
		for i := range 40 {
			o := gamma.Observation{Drafted: 1, Tested: 1, Accepted: 1, DraftMS: 1, VerifyMS: 10, Pending: 2}
			if i%10 == 0 {
				o.Pending, o.DraftMS = 21, 1+20*c.readMS
			}
			a.Observe(o)
		}
		a.BeginReply()
		a.Observe(gamma.Observation{VerifyMS: 10}) // the plain round to compare with
		if d := a.Next(gamma.Outlook{Unread: 40, Left: 8}); (d.Gamma > 0) != c.drafts {
			t.Errorf("reading a token takes %g ms: γ %d before 8 tokens, for which 40 must be read: %s", c.readMS, d.Gamma, d.Why)
		}
	}
}

// Unread tokens make a try expensive, so the try waits until there is little to read.
func TestTriesPayForWhatTheyRead(t *testing.T) {
	tries := func(replies int) (n int) {
		c := gamma.New(gamma.Options{Rule: gamma.CostAware, Max: 4, Nominal: &gamma.NominalCosts{DraftStep: 0.2, Verify: 1, VerifyRow: 0.2, Read: 0.05}})
		for range 60 { // nothing is accepted
			c.Observe(gamma.Observation{Drafted: 2, Tested: 1})
		}
		for range replies {
			c.BeginReply()
			unread := 4
			for range 4000 / replies {
				d := c.Next(gamma.Outlook{Unread: unread, Left: 4000})
				unread++
				if d.Gamma > 0 {
					unread = 0
					n++
				}
				c.Observe(gamma.Observation{Drafted: d.Gamma, Tested: min(1, d.Gamma)})
			}
		}
		return n
	}
	if n := tries(1); n > 3 {
		t.Errorf("in one long reply of 4000 rounds a hopeless draft is tried %d times, each time reading what it missed", n)
	}
	if n := tries(80); n < 5 || n > 30 {
		t.Errorf("in 80 replies of 50 rounds a hopeless draft is tried %d times, want some at their beginnings", n)
	}
}

// While one kind of round does not run, the machine may become slower. Its price must follow the
// prices of the rounds that do run.
func TestPricesFollowTheMachine(t *testing.T) {
	for _, factor := range []float64{0.3, 3} {
		now := 1.0
		m := newMachine(always(0.5), 0.3, func(rows int) float64 { return now * steep(rows) }, 5)
		c := costAware()
		m.run(c, 600, func(gamma.Decision, gamma.Observation) {})
		now, m.draftMS = factor, 0.3*factor
		if counts := chosen(m, c, 300, 300); share(counts, 0, 0) < 0.97 {
			t.Errorf("on a machine %g times as slow as before γ is chosen by how often: %v, want 0 as before", factor, counts)
		}
	}
}
