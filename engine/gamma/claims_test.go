package gamma_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"specula/engine/gamma"
)

// The promises of the cost-aware rule, each tested on a simulated clock with noise and stalls.

const most = 8 // the largest γ in all these tests

func costAware() *gamma.Controller {
	return gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: most})
}

func newMachine(accept func(int) float64, draftMS float64, passMS func(int) float64, seed uint64) *machine {
	return &machine{accept: accept, draftMS: draftMS, passMS: passMS, noise: 0.05, stalls: 0.01, rng: rand.New(rand.NewPCG(seed, 1))}
}

// chosen counts how often each γ was chosen in the last rounds, without probes.
func chosen(m *machine, c *gamma.Controller, tokens, last int) []int {
	var all []int
	m.run(c, tokens, func(d gamma.Decision, _ gamma.Observation) {
		if !d.Probe {
			all = append(all, d.Gamma)
		}
	})
	counts := make([]int, most+1)
	for _, g := range all[max(0, len(all)-last):] {
		counts[g]++
	}
	return counts
}

func share(counts []int, from, to int) float64 {
	sum, all := 0, 0
	for g, n := range counts {
		all += n
		if from <= g && g <= to {
			sum += n
		}
	}
	return float64(sum) / float64(all)
}

func TestSelectsDeepWhenForwardFlat(t *testing.T) {
	counts := chosen(newMachine(always(0.9), 0.3, flat, 1), costAware(), 2000, 200)
	if share(counts, 6, 8) < 0.9 {
		t.Errorf("γ chosen by how often: %v, want 6 to 8 nearly always", counts)
	}
}

func TestSelectsShallowWhenSteep(t *testing.T) {
	half := func(rows int) float64 { return 10 * (1 + 0.4*float64(rows-1)) }
	counts := chosen(newMachine(always(0.75), 0.3, half, 1), costAware(), 2000, 200)
	if share(counts, 1, 3) < 0.9 {
		t.Errorf("γ chosen by how often: %v, want 1 to 3 nearly always", counts)
	}
}

func TestSelectsZeroWhenDraftNotWorthIt(t *testing.T) {
	for name, m := range map[string]*machine{
		"the draft is as slow as the target": newMachine(always(0.8), 10, flat, 1),
		"rows cost as much as passes":        newMachine(always(0.6), 1, steep, 1),
		"nothing is accepted":                newMachine(always(0), 1, flat, 1),
	} {
		if counts := chosen(m, costAware(), 2000, 500); share(counts, 0, 0) < 0.98 {
			t.Errorf("%s: γ chosen by how often: %v, want 0", name, counts)
		}
	}
}

func TestStaysBelowACliff(t *testing.T) {
	for _, rows := range []int{5, 7, 9} {
		counts := chosen(newMachine(always(0.9), 0.5, cliff(rows), 1), costAware(), 4000, 300)
		if share(counts, rows-3, rows-2) < 0.9 {
			t.Errorf("cliff at %d rows: γ chosen by how often: %v", rows, counts)
		}
	}
}

func TestRecoversWhenAcceptanceReturns(t *testing.T) {
	for seed := range uint64(20) {
		now := 0.9
		m := newMachine(func(int) float64 { return now }, 1, flat, seed)
		c := costAware()
		m.run(c, 500, func(gamma.Decision, gamma.Observation) {})
		now = 0
		if counts := chosen(m, c, 1000, 200); share(counts, 0, 0) < 0.95 {
			t.Fatalf("while nothing is accepted: %v", counts)
		}
		now = 0.9
		for rounds, deep := 0, 0; deep < 10; rounds++ {
			d := c.Next(gamma.Outlook{})
			c.Observe(m.round(d.Gamma, c.Continue))
			if d.Gamma >= 4 {
				deep++
			}
			if rounds == 600 {
				t.Fatalf("run %d: after 600 rounds speculation is not back", seed)
			}
		}
	}
}

// worlds are the pairs of models for which the two promises about time must hold.
func worlds() (all []*machine) {
	decaying := func(i int) float64 { return 0.9 * math.Pow(0.85, float64(i)) }
	half := func(rows int) float64 { return 10 * (1 + 0.3*float64(rows-1)) }
	for _, pass := range []func(int) float64{flat, half, steep, cliff(3), cliff(5), cliff(9)} {
		for _, accept := range []func(int) float64{always(0), always(0.3), always(0.6), always(0.8), always(0.95), decaying} {
			for _, draftMS := range []float64{0.2, 1, 3, 10, 40} {
				all = append(all, newMachine(accept, draftMS, pass, 0))
			}
		}
	}
	return all
}

// mean returns the milliseconds per token over several sessions, each with a new controller. A round
// counts with the tokens and the time that are expected of its γ, not with those drawn. So luck can
// mislead the controller, but does not enter the result directly.
func (m *machine) mean(sessions uint64, tokens int) float64 {
	given, took := 0.0, 0.0
	for seed := range sessions {
		m.rng = rand.New(rand.NewPCG(seed, 1))
		m.run(costAware(), tokens, func(_ gamma.Decision, o gamma.Observation) {
			tokens, ms := m.typical(o.Drafted)
			given += tokens
			took += ms
		})
	}
	return took / given
}

func (m *machine) String() string {
	return fmt.Sprintf("a₁ = %g, a₂ = %.2g, draft step %g ms, passes over 1, 2, 4, 6, 9 rows %g, %g, %g, %g, %g ms", m.accept(0), m.accept(1), m.draftMS,
		m.passMS(1), m.passMS(2), m.passMS(4), m.passMS(6), m.passMS(9))
}

func TestKeepsItsPromisesAboutTime(t *testing.T) {
	neverSlower := func(t *testing.T, m *machine, ms float64) {
		if ratio := m.passMS(1) / ms; ratio < 0.99 {
			t.Errorf("%.3f of plain speed: %v", ratio, m)
		}
	}
	nearBest := func(t *testing.T, m *machine, ms float64) {
		best, least := m.bestFixed(most)
		bound := 0.97
		if m.passMS(3) > 1.9*m.passMS(2) {
			// A pass doubles in cost after the second row. γ = 1 and the largest γ are nearly as
			// good, and all between are bad; it takes long to learn to cross that gap.
			bound = 0.95
		}
		if ratio := least / ms; ratio < bound {
			t.Errorf("%.3f of the speed of the best fixed γ %d: %v", ratio, best, m)
		}
	}
	all := worlds()
	ms := make([]float64, len(all))
	for i, m := range all {
		ms[i] = m.mean(8, 4000)
	}
	for name, promise := range map[string]func(*testing.T, *machine, float64){
		"NeverSlowerThanPlainBy1Percent": neverSlower, "FindsBestFixedGammaWithin3Percent": nearBest,
	} {
		t.Run(name, func(t *testing.T) {
			for i, m := range all {
				promise(t, m, ms[i])
			}
		})
	}
}

func TestStoppingInTheRoundPays(t *testing.T) {
	speed := func(stop bool) float64 {
		m := newMachine(always(0.6), 2, flat, 4)
		m.spread = 0.38
		c := costAware()
		tokens, ms := 0, 0.0
		for tokens < 8000 {
			d := c.Next(gamma.Outlook{})
			more := c.Continue
			if !stop {
				more = func(int, float64) string { return "" }
			}
			o := m.round(d.Gamma, more)
			c.Observe(o)
			tokens += o.Accepted + 1
			ms += o.DraftMS + o.VerifyMS
		}
		return float64(tokens) / ms
	}
	if gain := speed(true) / speed(false); gain < 1.03 {
		t.Errorf("stopping when the draft is unsure gains %.3f, want 1.03", gain)
	}
}
