package spec

import (
	"math"

	"specula/engine/sample"
)

// typical keeps a draft token iff p(x) > min(ε, δ·exp(−H(p))), H being the entropy of the target's row: what the target finds
// likely enough passes, however much likelier the draft finds it (Cai et al. 2024, "Medusa", section 3.3). The first token refused
// is replaced by a draw from p. This is no longer the target's distribution: the output leans to what the draft likes.
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
		// Only now the entropy matters, which costs a logarithm an id.
		t.Bound = min(t.Bound, e.terms.Typical.Delta*math.Exp(-entropy(p)))
	}
	if t.P <= t.Bound {
		return false
	}
	r.kept++
	return true
}

// entropy is that of a row, in nats.
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
