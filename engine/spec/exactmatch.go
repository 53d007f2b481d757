package spec

import "specula/engine/sample"

// exactMatch lets the target draw a token at each position, and accepts a draft token iff the target drew
// it, too. So the text is what the target draws token by token. A draft token x is accepted with
// probability p(x). The rule token accepts it with probability min(1, p/q), which is larger if q < 1.
//
// The uniforms are numbered by the position in the reply, not by round. So a seed gives the same text with
// every draft: with another gamma, another draft model, or none.
type exactMatch struct {
	kept int    // accepted tokens so far
	own  Judged // what the target drew at the last position
}

func (r *exactMatch) begin() { r.kept = 0 }

func (r *exactMatch) draw(e *evidence, i int, p sample.Dist) Judged {
	u := e.terms.Uniforms.Uniform(sample.TargetDraw, 0, e.terms.Written+i)
	t := unjudged(sample.Draw(p, u))
	t.P = p.Prob(t.ID)
	return t
}

func (r *exactMatch) weigh(e *evidence, i int, p sample.Dist) bool {
	t := &e.judged[i]
	r.own = r.draw(e, i, p)
	r.own.Q = e.draft.Q[i].Prob(r.own.ID)
	t.P, t.Q = p.Prob(t.ID), e.draft.Q[i].Prob(t.ID)
	if r.own.ID != t.ID {
		return false
	}
	r.kept++
	return true
}

func (r *exactMatch) settle(*evidence, int) int { return r.kept }

func (r *exactMatch) replace(*evidence, int) Judged { return r.own }

func (r *exactMatch) follow(e *evidence, n int, p sample.Dist) Judged { return r.draw(e, n, p) }
