package gamma_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"specula/engine/gamma"
)

// round is the Observation of a round with these counts, at 1 ms per draft step and 10 ms per pass.
func round(drafted, tested, accepted int) gamma.Observation {
	return gamma.Observation{Drafted: drafted, Tested: tested, Accepted: accepted, DraftMS: float64(drafted), VerifyMS: 10}
}

func TestFixed(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 5, Max: 8})
	for range 50 {
		d := c.Next(gamma.Outlook{})
		if d.Gamma != 5 && !d.Probe {
			t.Fatalf("%+v", d)
		}
		c.Observe(round(d.Gamma, min(d.Gamma, 1), 0))
	}
	c.Configure(gamma.Options{Rule: gamma.Fixed, Gamma: 5, Max: 3})
	if d := c.Next(gamma.Outlook{}); d.Gamma != 3 {
		t.Errorf("γ %d above the largest allowed, 3", d.Gamma)
	}
	if why := c.Continue(0, 0.01); why != "" {
		t.Errorf("a fixed draft was stopped: %s", why)
	}
}

func TestWindowed(t *testing.T) {
	o := gamma.Options{Rule: gamma.Windowed, Gamma: 4, Max: 8, Window: 3, Low: 0.4, High: 0.7}
	c := gamma.New(o)
	bad, middling, good := round(4, 1, 0), round(4, 2, 1), round(4, 4, 4)
	for i, step := range []struct {
		o    gamma.Observation
		want int
		why  string
	}{
		{bad, 4, "no window"}, {bad, 4, "no window"}, {bad, 2, "0 % accepted over 3 rounds, under 40 %: halved to 2"},
		{bad, 2, "halved"}, {bad, 2, "halved"}, {bad, 1, "halved to 1"},
		// The windowed rule never goes to 0: without drafts there is no acceptance to measure.
		{bad, 1, ""}, {bad, 1, ""}, {bad, 1, "0 % accepted over 3 rounds"},
		{good, 1, "33 %"}, {good, 1, "67 %"}, {good, 4, "100 % accepted over 3 rounds, over 70 %: restored to 4"},
		{middling, 4, "restored"}, {middling, 4, "restored"}, {middling, 4, "50 % accepted over 3 rounds"},
	} {
		c.Observe(step.o)
		c.Observe(gamma.Observation{VerifyMS: 10}) // a plain round says nothing about acceptance
		if d := c.Next(gamma.Outlook{}); d.Gamma != step.want || !strings.Contains(d.Why, step.why) {
			t.Fatalf("step %d: γ %d, %q; want %d, %q", i, d.Gamma, d.Why, step.want, step.why)
		}
	}
	o.Gamma = 6
	c.Configure(o)
	if d := c.Next(gamma.Outlook{}); d.Gamma != 6 {
		t.Errorf("a new full γ of 6 gives %d", d.Gamma)
	}
}

func TestAcceptanceIsCensored(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.Fixed, Gamma: 4, Max: 4})
	for range 300 {
		// Position 0 is always accepted and position 1 never, so nothing is known about later ones.
		c.Observe(round(4, 2, 1))
	}
	c.Observe(round(0, 0, 0)) // a plain round is due
	a := c.Next(gamma.Outlook{}).Acceptance
	if a[0] < 0.99 || a[1] > 0.01 || a[2] != a[1] || a[3] != a[1] {
		t.Errorf("acceptance %.3f, want 1, 0, and the same as before for what was never tested", a)
	}
	if d := c.Next(gamma.Outlook{}); math.Abs(d.Expected-(1+a[0]+a[0]*a[1]+a[0]*a[1]*a[2]+a[0]*a[1]*a[2]*a[3])) > 1e-12 {
		t.Errorf("expected tokens %g of acceptance %g", d.Expected, a)
	}
}

func TestFirstRoundsMeasure(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 8})
	if d := c.Next(gamma.Outlook{}); d.Gamma != 0 || !d.Probe {
		t.Errorf("first %+v, want a plain round", d)
	}
	c.Observe(round(0, 0, 0))
	if d := c.Next(gamma.Outlook{}); d.Gamma != 1 || !d.Probe {
		t.Errorf("then %+v, want one draft token", d)
	}
	c.Observe(round(1, 1, 1))
	c.Observe(round(1, 1, 1))
	if d := c.Next(gamma.Outlook{}); d.Gamma < 2 {
		t.Errorf("then %+v, want the best by what is known", d)
	}
}

func TestWithoutRoomThereIsNoDraft(t *testing.T) {
	for _, rule := range []gamma.Rule{gamma.Fixed, gamma.Windowed, gamma.CostAware} {
		c := gamma.New(gamma.Options{Rule: rule, Gamma: 4, Max: 0, Window: 4})
		for range 40 {
			if d := c.Next(gamma.Outlook{}); d.Gamma != 0 || len(d.Acceptance) != 0 || d.Expected != 1 {
				t.Fatalf("%s: %+v", rule, d)
			}
			c.Observe(round(0, 0, 0))
		}
	}
}

func TestChangesKeepTheEvidence(t *testing.T) {
	o := gamma.Options{Rule: gamma.Fixed, Gamma: 4, Max: 8, Window: 8}
	c := gamma.New(o)
	c.Observe(round(0, 0, 0))
	for range 100 {
		c.Observe(round(4, 1, 0))
	}
	before := c.Next(gamma.Outlook{}).Acceptance
	o.Rule, o.Gamma, o.Max = gamma.CostAware, 2, 6
	c.Configure(o)
	d := c.Next(gamma.Outlook{})
	if d.Gamma != 0 {
		t.Errorf("after 100 refusals the cost-aware rule starts with γ %d", d.Gamma)
	}
	for i, a := range d.Acceptance {
		if a != before[i] {
			t.Errorf("acceptance %g became %g", before, d.Acceptance)
		}
	}
}

func TestNominalCostsMakeChoicesRepeatable(t *testing.T) {
	play := func(clock uint64) (choices []string) {
		o := gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 8, Nominal: &gamma.NominalCosts{DraftStep: 0.1, Verify: 1, VerifyRow: 0.05}}
		c := gamma.New(o)
		text := rand.New(rand.NewPCG(1, 1))
		times := rand.New(rand.NewPCG(clock, 2))
		for range 500 {
			d := c.Next(gamma.Outlook{})
			ob := gamma.Observation{Drafted: d.Gamma, DraftMS: 100 * times.Float64(), VerifyMS: 100 * times.Float64()}
			for range d.Gamma {
				q := text.Float64()
				ob.Confidence = append(ob.Confidence, q)
				choices = append(choices, c.Continue(len(ob.Confidence)-1, q))
			}
			for ob.Tested < d.Gamma && ob.Accepted == ob.Tested {
				ob.Tested++
				if text.Float64() < 0.7 {
					ob.Accepted++
				}
			}
			c.Observe(ob)
			choices = append(choices, fmt.Sprint(d))
		}
		return choices
	}
	first, second := play(1), play(2)
	for i := range first {
		if first[i] != second[i] {
			t.Fatalf("choice %d depends on the clock: %s or %s", i, first[i], second[i])
		}
	}
}

func TestContinueWeighsConfidenceAgainstThePrice(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 4, Nominal: &gamma.NominalCosts{DraftStep: 0.2, Verify: 1}})
	c.Observe(round(0, 0, 0))
	for range 200 { // tokens with high confidence are accepted, the others are not
		o := round(4, 3, 2)
		o.Confidence = []float64{0.95, 0.95, 0.15, 0.5}
		c.Observe(o)
		o = round(4, 4, 4)
		o.Confidence = []float64{0.95, 0.95, 0.95, 0.95}
		c.Observe(o)
	}
	for c.Next(gamma.Outlook{}).Gamma < 2 || c.Next(gamma.Outlook{}).Probe {
		c.Observe(round(0, 0, 0))
	}
	if why := c.Continue(0, 0.95); why != "" {
		t.Errorf("stopped after a sure token: %s", why)
	}
	c.Next(gamma.Outlook{})
	if why := c.Continue(0, 0.15); why == "" {
		t.Error("went on after a token that never holds")
	}
}

func TestStallsDoNotMoveTheCosts(t *testing.T) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 4})
	rng := rand.New(rand.NewPCG(1, 1))
	deep := 0
	for i := range 400 {
		d := c.Next(gamma.Outlook{})
		o := round(d.Gamma, d.Gamma, d.Gamma)
		if rng.IntN(20) == 0 {
			o.VerifyMS *= 30
		}
		c.Observe(o)
		if i >= 100 && d.Gamma == 4 {
			deep++
		}
	}
	if deep < 280 {
		t.Errorf("γ 4 in %d of 300 rounds, with everything accepted", deep)
	}
}

func Example() {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 8})
	for range 30 {
		d := c.Next(gamma.Outlook{})
		// Draft d.Gamma tokens, let the target verify them, and report the result. Here all are
		// accepted.
		c.Observe(gamma.Observation{Drafted: d.Gamma, Tested: d.Gamma, Accepted: d.Gamma, DraftMS: float64(d.Gamma), VerifyMS: 20})
	}
	d := c.Next(gamma.Outlook{})
	fmt.Printf("γ %d: %s\n", d.Gamma, d.Why)
	// Output:
	// γ 8: expect 8.39 tokens, in the time of 1.40 without a draft
}

func BenchmarkRound(b *testing.B) {
	c := gamma.New(gamma.Options{Rule: gamma.CostAware, Gamma: 4, Max: 8})
	for b.Loop() {
		d := c.Next(gamma.Outlook{})
		c.Observe(gamma.Observation{Drafted: d.Gamma, Tested: d.Gamma, Accepted: d.Gamma / 2, DraftMS: float64(d.Gamma), VerifyMS: 20})
	}
}
