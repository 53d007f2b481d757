package spec

import "specula/engine/sample"

// tokenwise is speculative sampling (Leviathan et al. 2023, Chen et al. 2023): draft token x is accepted
// with probability min(1, p(x)/q(x)), until one is rejected. So x is emitted in two ways. As an accepted
// draft token, with probability q(x)·min(1, p(x)/q(x)) = min(p, q). Or from the residual, with max(0,
// p−q), because the residual's mass Σ max(0, p−q) is exactly the probability of a rejection. The sum is
// min(p, q) + max(0, p−q) = p(x).
//
// The steps must fit each other exactly. They are fields so that tests can replace one by a wrong step
// and check that this is noticed.
type tokenwise struct {
	accept func(u, p, q float64) bool
	// residual returns the distribution of the token in place of the rejected one. The token is drawn
	// with a uniform of residualStream.
	residual       func(dst []float64, p, q sample.Dist, refused int32) sample.Dist
	residualStream sample.Stream
	// bonus returns the distribution of the token after a draft that was accepted whole.
	bonus func(p sample.Dist, draft Draft) sample.Dist

	kept int
	p    sample.Dist // the target's distribution at the last position that was weighed
	rest []float64   // memory for the residual
}

func newTokenwise() tokenwise {
	return tokenwise{
		// Multiply instead of dividing, because q may be tiny, and p = 0 must never pass, even with
		// u = 0.
		accept: func(u, p, q float64) bool { return u*q < p },
		residual: func(dst []float64, p, q sample.Dist, _ int32) sample.Dist {
			return sample.Residual(dst, p, q)
		},
		residualStream: sample.ResidualDraw,
		bonus:          func(p sample.Dist, _ Draft) sample.Dist { return p },
	}
}

func (r *tokenwise) begin() { r.kept = 0 }

func (r *tokenwise) weigh(e *evidence, i int, p sample.Dist) bool {
	t := &e.judged[i]
	t.P, t.Q = p.Prob(t.ID), e.draft.Q[i].Prob(t.ID)
	t.U = e.uniform(sample.AcceptTest, i)
	r.p = p
	if !r.accept(t.U, t.P, t.Q) {
		return false
	}
	r.kept++
	return true
}

func (r *tokenwise) settle(*evidence, int) int { return r.kept }

func (r *tokenwise) replace(e *evidence, i int) Judged {
	if len(r.rest) < len(r.p.P) {
		r.rest = make([]float64, len(r.p.P))
	}
	q := e.draft.Q[i]
	t := unjudged(sample.Draw(r.residual(r.rest, r.p, q, e.draft.Tokens[i]), e.uniform(r.residualStream, i)))
	t.P, t.Q = r.p.Prob(t.ID), q.Prob(t.ID)
	return t
}

func (r *tokenwise) follow(e *evidence, n int, p sample.Dist) Judged {
	t := unjudged(sample.Draw(r.bonus(p, e.draft), e.uniform(sample.BonusDraw, n)))
	t.P = p.Prob(t.ID)
	return t
}
