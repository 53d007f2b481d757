package gamma_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"specula/engine/gamma"
)

func TestHindsight(t *testing.T) {
	o := gamma.Options{Rule: gamma.Fixed, Gamma: 1, Max: 8}
	c := gamma.New(o)
	for range 200 { // what other replies showed: nothing is ever accepted
		c.Next(gamma.Outlook{})
		c.Observe(round(1, 1, 0))
		c.Observe(round(8, 1, 0))
		c.Observe(round(0, 0, 0))
	}
	c.BeginReply()
	if _, _, ok := c.Hindsight(); ok {
		t.Error("a reply without rounds has a best γ")
	}
	for range 20 { // in this reply everything is accepted
		c.Next(gamma.Outlook{})
		c.Observe(round(1, 1, 1))
		c.Observe(round(8, 8, 8))
	}
	best, regret, ok := c.Hindsight()
	// 11 tokens took 11 ms and 18 ms. A round with γ = 8 takes 18 ms for 9 tokens.
	if want := 1 - (18.0/9)/(29.0/11); !ok || best != 8 || math.Abs(regret-want) > 1e-9 {
		t.Errorf("best γ %d, regret %.3f, known %v; want γ 8 and %.3f", best, regret, ok, want)
	}
}

func TestHindsightOfTheBestIsNoRegret(t *testing.T) {
	m := newMachine(always(0.8), 0.5, cliff(5), 3)
	m.noise, m.stalls = 0, 0
	best, _ := m.bestFixed(most)
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: best, Max: most})
	for rows := 1; rows <= most+1; rows++ {
		c.Observe(gamma.Observation{Drafted: rows - 1, DraftMS: 0.5 * float64(rows-1), VerifyMS: cliff(5)(rows)})
	}
	c.BeginReply()
	m.run(c, 4000, func(gamma.Decision, gamma.Observation) {})
	if found, regret, ok := c.Hindsight(); !ok || found != best || math.Abs(regret) > 0.02 {
		t.Errorf("best γ %d, regret %.3f; want %d and none", found, regret, best)
	}
}

// The estimate goes to the same value with verdicts and with chances, and with chances it varies
// less.
func TestChancesTellAcceptanceWithLessLuck(t *testing.T) {
	spread := func(chances bool) (mean, deviation float64) {
		var seen []float64
		for seed := range uint64(200) {
			rng := rand.New(rand.NewPCG(seed, 7))
			c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 1, Max: 1})
			for range 60 {
				chance := 0.4 + 0.4*rng.Float64()
				o := round(1, 1, 0)
				if rng.Float64() < chance {
					o.Accepted = 1
				}
				if chances {
					o.Chances = []float64{chance}
				}
				c.Observe(o)
			}
			seen = append(seen, c.Next(gamma.Outlook{}).Acceptance[0])
		}
		for _, a := range seen {
			mean += a / float64(len(seen))
		}
		for _, a := range seen {
			deviation += (a - mean) * (a - mean) / float64(len(seen))
		}
		return mean, math.Sqrt(deviation)
	}
	byVerdict, luck := spread(false)
	byChance, less := spread(true)
	if math.Abs(byVerdict-byChance) > 0.02 || math.Abs(byChance-0.6) > 0.02 || less > luck/2 {
		t.Errorf("by verdicts %.3f ± %.3f, by chances %.3f ± %.3f; want 0.6 and at most half of the deviation", byVerdict, luck, byChance, less)
	}
}

func TestOffSaysWhy(t *testing.T) {
	for name, c := range map[string]struct {
		m    *machine
		want string
	}{
		"nothing is accepted":   {newMachine(always(0.02), 0.3, flat, 1), "only "},
		"rows are dear":         {newMachine(always(0.7), 0.3, steep, 1), "verifying 2 rows takes 1."},
		"drafting is dear":      {newMachine(always(0.7), 12, flat, 1), "drafting takes 1."},
		"everything is as ever": {newMachine(always(0.8), 0.3, flat, 1), ""},
	} {
		t.Run(name, func(t *testing.T) {
			c.m.stalls, c.m.noise = 0, 0
			control, off := costAware(), ""
			c.m.run(control, 500, func(d gamma.Decision, _ gamma.Observation) { off = d.Off })
			if !strings.HasPrefix(off, c.want) || c.want == "" && off != "" {
				t.Errorf("off: %q, want %q", off, c.want)
			}
		})
	}
}
