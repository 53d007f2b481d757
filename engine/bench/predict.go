package bench

import "math"

// Prediction is the speed-up that the formula of speculative decoding gives, with the measurements that
// it was computed from.
type Prediction struct {
	Speedup      float64 `json:"speedup"`
	Alpha        float64 `json:"alpha"`        // accepted over tested draft tokens
	DraftMS      float64 `json:"draftMS"`      // time of one draft token
	PlainMS      float64 `json:"plainMS"`      // time of a target pass over one row and of choosing its token, v(1)
	VerifyMS     float64 `json:"verifyMS"`     // time of the pass and of choosing tokens in a speculative round, v(γ+1) on average
	Gamma        float64 `json:"gamma"`        // draft tokens of a speculative round on average
	TokensARound float64 `json:"tokensARound"` // expected tokens of a round
}

// predict evaluates theorem 3.8 of Leviathan et al. (2023), with the cost of a verification as
// measured instead of constant:
//
//	S(γ) = E(γ) / (γ·c + v(γ+1)/v(1)),  E(γ) = (1 − α^(γ+1)) / (1 − α),
//
// where v(m) is the time of a target pass over m rows, and c the time of drafting one token, divided by
// v(1). Rounds of different γ, which an adaptive rule makes, are weighted by how often they occurred. A
// round without a draft counts as one token for one pass. The result is nil if there was no plain round,
// no speculative round or no draft token.
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

// expectedTokens returns the expected tokens of a round that drafts gamma tokens, each accepted
// with probability alpha independently of the others.
func expectedTokens(alpha float64, gamma int) float64 {
	if alpha >= 1 {
		return float64(gamma + 1)
	}
	return (1 - math.Pow(alpha, float64(gamma+1))) / (1 - alpha)
}

type mean struct{ sum, n float64 }

func (m *mean) add(x, n float64) { m.sum, m.n = m.sum+x, m.n+n }

func (m *mean) value() float64 { return over(m.sum, m.n) }
