package gamma_test

import (
	"math"
	"math/rand/v2"

	"specula/engine/gamma"
)

// machine is a pair of models with known costs and acceptance, on a simulated clock.
type machine struct {
	accept  func(position int) float64 // chance to be accepted when tested, on average over tokens
	draftMS float64                    // one draft step
	passMS  func(rows int) float64     // one target pass
	noise   float64                    // relative standard deviation of every duration
	stalls  float64                    // share of durations that take five times as long
	spread  float64                    // how far a token's own chance, which the draft knows, lies from the average
	rng     *rand.Rand
}

func (m *machine) took(ms float64) float64 {
	ms *= math.Exp(m.noise * m.rng.NormFloat64())
	if m.rng.Float64() < m.stalls {
		ms *= 5
	}
	return ms
}

// round plays one round of a decision and returns what the engine would observe.
func (m *machine) round(gammaAsked int, more func(i int, q float64) string) gamma.Observation {
	var o gamma.Observation
	var chances []float64
	for i := 0; i < gammaAsked; i++ {
		chance := m.accept(i)
		if m.rng.Float64() < 0.5 {
			chance += m.spread
		} else {
			chance -= m.spread
		}
		chance = max(0, min(1, chance))
		chances = append(chances, chance)
		o.DraftMS += m.took(m.draftMS)
		if i+1 < gammaAsked && more(i, chance) != "" {
			break
		}
	}
	o.Drafted, o.Confidence = len(chances), chances
	for _, chance := range chances {
		o.Tested++
		if m.rng.Float64() >= chance {
			break
		}
		o.Accepted++
	}
	o.VerifyMS = m.took(m.passMS(o.Drafted + 1))
	o.Pending = 2
	return o
}

// run writes so many tokens and returns the milliseconds a token took. See what the controller does with trace.
func (m *machine) run(c *gamma.Controller, tokens int, trace func(gamma.Decision, gamma.Observation)) float64 {
	written, ms := 0, 0.0
	for written < tokens {
		d := c.Next()
		o := m.round(d.Gamma, c.Continue)
		c.Observe(o)
		written += o.Accepted + 1
		ms += o.DraftMS + o.VerifyMS
		if trace != nil {
			trace(d, o)
		}
	}
	return ms / float64(written)
}

// bestFixed returns the γ of 0..most with the fewest milliseconds a token, and these, by the formula.
func (m *machine) bestFixed(most int) (best int, msPerToken float64) {
	msPerToken = math.Inf(1)
	for g := 0; g <= most; g++ {
		tokens, reach := 1.0, 1.0
		for i := range g {
			reach *= m.accept(i)
			tokens += reach
		}
		stall := 1 + 4*m.stalls
		if ms := stall * math.Exp(m.noise*m.noise/2) * (float64(g)*m.draftMS + m.passMS(g+1)) / tokens; ms < msPerToken {
			best, msPerToken = g, ms
		}
	}
	return best, msPerToken
}

func always(a float64) func(int) float64 { return func(int) float64 { return a } }

// flat and steep are passes that cost the same for any number of rows, and nearly one pass for each.
func flat(int) float64       { return 10 }
func steep(rows int) float64 { return 10 * (1 + 0.9*float64(rows-1)) }
func cliff(at int) func(int) float64 {
	return func(rows int) float64 {
		if rows >= at {
			return 20
		}
		return 10 + 0.2*float64(rows-1)
	}
}
