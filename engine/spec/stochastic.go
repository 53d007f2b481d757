package spec

import "specula/engine/sample"

// rule is the arithmetic of acceptance: the steps of a stochastic round that have to fit each other exactly for the output
// to have the target's distribution. They stand together, so that tests can put a wrong one in and see it caught.
type rule struct {
	accept func(u, p, q float64) bool
	// residual is what the token in place of the refused one is drawn from, with a uniform of residualStream.
	residual       func(dst []float64, p, q sample.Dist, refused int32) sample.Dist
	residualStream sample.Stream
	// bonus is what the token behind an accepted draft is drawn from.
	bonus func(p sample.Dist, draft Draft) sample.Dist
}

// exact is speculative sampling (Leviathan et al. 2023, Chen et al. 2023). A token x is emitted either as an accepted draft,
// with probability q(x)·min(1, p(x)/q(x)) = min(p, q), or from the residual, whose mass Σ max(0, p−q) is exactly the
// probability of a refusal: together min(p, q) + max(0, p−q) = p(x).
func exact() rule {
	return rule{
		// Multiplied, not divided: q may be tiny, and p = 0 must never pass, not even at u = 0.
		accept: func(u, p, q float64) bool { return u*q < p },
		residual: func(dst []float64, p, q sample.Dist, _ int32) sample.Dist {
			return sample.Residual(dst, p, q)
		},
		residualStream: sample.ResidualDraw,
		bonus:          func(p sample.Dist, _ Draft) sample.Dist { return p },
	}
}

// stochastic judges by the distributions of single rows.
type stochastic struct {
	v      *Verifier
	target Rows
	draft  Draft
	terms  Terms
	p      sample.Dist // of the row asked last
}

// read fills p with the target's distribution of row i.
func (s *stochastic) read(i int) (err error) {
	if err = s.target.Row(i, s.v.scores); err != nil {
		return err
	}
	s.p, err = s.v.sampler.FromLogits(s.v.p, s.v.scores, s.terms.Params)
	return err
}

func (s *stochastic) test(i int, t *Judged) (bool, error) {
	if err := s.read(i); err != nil {
		return false, err
	}
	t.P, t.Q = s.p.Prob(t.ID), s.draft.Q[i].Prob(t.ID)
	t.U = s.terms.Uniforms.Uniform(sample.AcceptTest, s.terms.Round, i)
	return s.v.rule.accept(t.U, t.P, t.Q), nil
}

func (s *stochastic) replace(i int) (Judged, error) {
	q := s.draft.Q[i]
	rest := s.v.rule.residual(s.v.residual, s.p, q, s.draft.Tokens[i])
	id := sample.Draw(rest, s.terms.Uniforms.Uniform(s.v.rule.residualStream, s.terms.Round, i))
	return Judged{ID: id, P: s.p.Prob(id), Q: q.Prob(id), U: Unknown}, nil
}

func (s *stochastic) follow(i int) (Judged, error) {
	if err := s.read(i); err != nil {
		return Judged{}, err
	}
	from := s.v.rule.bonus(s.p, s.draft)
	id := sample.Draw(from, s.terms.Uniforms.Uniform(sample.BonusDraw, s.terms.Round, i))
	return Judged{ID: id, P: s.p.Prob(id), Q: Unknown, U: Unknown}, nil
}
