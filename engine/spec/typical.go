package spec

import (
	"math"

	"specula/engine/sample"
)

// typical accepts a draft token iff p(x) > min(ε, δ·exp(−H(p))), where H is the entropy of the
// target's row (Cai et al. 2024, "Medusa", section 3.3). So a token that the target finds likely
// enough passes, even if the draft finds it much likelier. The first rejected token is replaced by a
// draw from p. The text does not have the target's distribution: it leans to what the draft likes.
type typical struct {
	kept int
	p    sample.Dist
}

func (r *typical) begin() { r.kept = 0 }

func (r *typical) weigh(e *evidence, i int, p sample.Dist) bool {
	t := &e.judged[i]
	r.p = p
	t.P, t.Q = p.Prob(t.ID), e.draft.Q[i].Prob(t.ID)
	if t.Bound = e.terms.Typical.Epsilon; t.P <= t.Bound {
		// The entropy is computed only now, because it costs a logarithm for each id.
		t.Bound = min(t.Bound, e.terms.Typical.Delta*math.Exp(-entropy(p)))
	}
	if t.P <= t.Bound {
		return false
	}
	r.kept++
	return true
}

// entropy returns the entropy of a distribution in nats; 0 if it is one-hot.
func entropy(d sample.Dist) float64 {
	sum := 0.0
	for _, p := range d.P {
		if p > 0 {
			sum -= p * math.Log(p)
		}
	}
	return sum
}

func (r *typical) settle(*evidence, int) int { return r.kept }

func (r *typical) replace(e *evidence, i int) Judged {
	t := unjudged(sample.Draw(r.p, e.uniform(sample.ResidualDraw, i)))
	t.P, t.Q = r.p.Prob(t.ID), e.draft.Q[i].Prob(t.ID)
	return t
}

func (r *typical) follow(e *evidence, n int, p sample.Dist) Judged {
	t := unjudged(sample.Draw(p, e.uniform(sample.BonusDraw, n)))
	t.P = p.Prob(t.ID)
	return t
}
