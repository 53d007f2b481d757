package gamma_test

import (
	"math"
	"math/rand/v2"

	"specula/engine/gamma"
)

// machine is a pair of models with known costs and acceptance, on a simulated clock.
type machine struct {
	accept  func(position int) float64 // chance to be accepted when tested, averaged over tokens
	draftMS float64                    // one draft step
	passMS  func(rows int) float64     // one target pass
	noise   float64                    // relative standard deviation of every duration
	stalls  float64                    // share of durations that take five times as long
	spread  float64                    // distance of a token's own chance, known to the draft, from the average
	rng     *rand.Rand
}

func (m *machine) took(ms float64) float64 {
	ms *= math.Exp(m.noise * m.rng.NormFloat64())
	if m.rng.Float64() < m.stalls {
		ms *= 5
	}
	return ms
}

// round plays one round and returns what the engine would observe.
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

// run writes a number of tokens and shows every round to trace.
func (m *machine) run(c *gamma.Controller, tokens int, trace func(gamma.Decision, gamma.Observation)) {
	for written := 0; written < tokens; {
		d := c.Next(gamma.Outlook{})
		o := m.round(d.Gamma, c.Continue)
		c.Observe(o)
		written += o.Accepted + 1
		trace(d, o)
	}
}

// typical returns the expected tokens and milliseconds of a round with this many draft tokens.
func (m *machine) typical(drafted int) (tokens, ms float64) {
	tokens, reach := 1.0, 1.0
	for i := range drafted {
		reach *= m.accept(i)
		tokens += reach
	}
	return tokens, float64(drafted)*m.draftMS + m.passMS(drafted+1)
}

// bestFixed returns the γ of 0..most with the fewest expected milliseconds per token, and how many
// milliseconds that is.
func (m *machine) bestFixed(most int) (best int, msPerToken float64) {
	msPerToken = math.Inf(1)
	for g := 0; g <= most; g++ {
		if tokens, ms := m.typical(g); ms/tokens < msPerToken {
			best, msPerToken = g, ms/tokens
		}
	}
	return best, msPerToken
}

func always(a float64) func(int) float64 { return func(int) float64 { return a } }

// flat costs the same for any number of rows; in steep each further row costs nearly a whole pass.
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
