package bench

import "math"

// Prediction is the speed-up that the formula of speculative decoding gives, and the measured figures that went into it.
type Prediction struct {
	Speedup      float64 `json:"speedup"`
	Alpha        float64 `json:"alpha"`        // accepted over tested draft tokens
	DraftMS      float64 `json:"draftMS"`      // of one draft token
	PlainMS      float64 `json:"plainMS"`      // of a target pass over one row, v(1)
	VerifyMS     float64 `json:"verifyMS"`     // of a target pass in speculative rounds, v(γ+1) on average
	Gamma        float64 `json:"gamma"`        // drafted tokens of a speculative round on average
	TokensARound float64 `json:"tokensARound"` // expected
}

// predict evaluates, after Leviathan et al. (2023), theorem 3.8, with the cost of a verification measured and not assumed flat,
//
//	S(γ) = E(γ) / (γ·c + v(γ+1)/v(1)),  E(γ) = (1 − α^(γ+1)) / (1 − α),
//
// c being the cost of a draft token in target passes. Rounds of different γ, as an adaptive rule makes them, are weighted by
// how often they occurred. Rounds without a draft count as what they are: one token for one pass.
func predict(pairs []pair, alpha float64) *Prediction {
	var plain, verify, draft mean
	var expected float64
	for i := range pairs {
		for _, r := range pairs[i].plain.rounds {
			plain.add(r.verifyMS, 1)
		}
		for _, r := range pairs[i].speculative.rounds {
			verify.add(r.verifyMS, 1)
			draft.add(r.draftMS, float64(r.drafted))
			expected += expectedTokens(alpha, r.drafted)
		}
	}
	if plain.n == 0 || verify.n == 0 || draft.n == 0 || plain.value() == 0 {
		return nil
	}
	p := Prediction{Alpha: alpha, DraftMS: draft.value(), PlainMS: plain.value(), VerifyMS: verify.value(),
		Gamma: draft.n / verify.n, TokensARound: expected / verify.n}
	p.Speedup = p.TokensARound / (p.Gamma*p.DraftMS/p.PlainMS + p.VerifyMS/p.PlainMS)
	return &p
}

// expectedTokens of a round that drafts gamma tokens, each accepted with probability alpha independently of the others.
func expectedTokens(alpha float64, gamma int) float64 {
	if alpha >= 1 {
		return float64(gamma + 1)
	}
	return (1 - math.Pow(alpha, float64(gamma+1))) / (1 - alpha)
}

type mean struct{ sum, n float64 }

func (m *mean) add(x, n float64) { m.sum, m.n = m.sum+x, m.n+n }

func (m *mean) value() float64 { return over(m.sum, m.n) }
