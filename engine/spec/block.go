package spec

import "specula/engine/sample"

// blockwise is block verification (Sun et al. 2024, arXiv 2403.10444): it judges a draft as a
// whole. Let x₁…xₙ be the draft, and p(x|…) and q(x|…) what target and draft give to x after the
// tokens before it. Going forward,
//
//	w₀ = 1,  wᵢ = min(1, wᵢ₋₁ · p(xᵢ|…)/q(xᵢ|…))
//	Rᵢ = Σₓ max(0, wᵢ·p(x|x₁…xᵢ) − q(x|x₁…xᵢ)),  hᵢ = Rᵢ / (Rᵢ + 1 − wᵢ) for i < n,  hₙ = wₙ.
//
// Each i ≥ 1 passes with probability hᵢ, tested with its own uniform. The first τ tokens are accepted,
// where τ is the largest i that passed, or 0. The next token is drawn from max(0, w·p − q)/R with w
// and R of τ, or from p if τ = n. So a token that fails its own test can stay, if the target likes the
// tokens after it better than the draft does.
//
// Why the tokens have the target's distribution:
//
// (1) P(τ ≥ i | x₁…xᵢ drafted) = wᵢ. For i = n this is hₙ; the rest follows backwards. Let M = Σₓ
// q(x)·wᵢ₊₁(x) = Σₓ min(q(x), wᵢ·p(x)) be the chance of τ > i given x₁…xᵢ. Then Rᵢ is wᵢ − M, and
// hᵢ = (wᵢ − M)/(1 − M). Hence P(τ ≥ i) = M + (1 − M)·hᵢ = wᵢ, and P(τ = i) = wᵢ − M = Rᵢ.
//
// (2) Let f(x₁…xᵢ) be the chance that the output begins with these tokens, and Q the chance that
// they are drafted. If f = p holds for i tokens, it holds for one more, xᵢ₊₁ = x. The output can get x
// in three ways. First, by (1), x is drafted and kept with probability Q·q(x)·wᵢ₊₁ = Q·min(q(x),
// wᵢ·p(x)). Second, the draft is kept up to i, and x is drawn after it, with probability
// Q·Rᵢ·max(0, wᵢ·p(x) − q(x))/Rᵢ. Together these are Q·wᵢ·p(x). For i = n the first way is missing, and the
// second has probability Q·wₙ·p(x), which is the same. Third, τ < i with the remaining probability
// f − Q·wᵢ, and x is drawn from p in a later round. The sum is f·p(x).
//
// (3) wᵢ ≥ Π min(1, p/q), because min(1, a·r) ≥ a·min(1, r) for a ≤ 1. Token verification (the rule
// token) accepts the first i with probability Π min(1, p/q). So τ ≥ i is at least as probable, for each i and
// each pair of models. Both are equally probable for n = 1 and for a one-hot q.
//
// The proof does not need a fixed n. A draft may end because of the tokens drafted so far: after a
// stop token, when its proposer is not sure enough, or before a row that cannot be read. If w falls
// to 0, no later i can pass, and the remaining rows need not be read.
//
// The steps are fields so that tests can replace one by a wrong step, as in tokenwise.
type blockwise struct {
	// carry returns wᵢ; before is wᵢ₋₁.
	carry func(before, p, q float64) float64
	// pass tests i < n with the uniform u; end tests i = n.
	pass func(u, mass, w float64) bool
	end  func(u, w float64) bool
	// residual writes max(0, w·p − q) to dst and returns its mass R.
	residual       func(dst []float64, w float64, p, q sample.Dist) float64
	residualStream sample.Stream
	bonus          func(p sample.Dist, draft Draft) sample.Dist

	kept   int      // the largest i so far that passed
	w      float64  // wᵢ of the last token that was weighed
	keptW  float64  // wᵢ for i = kept
	rest   leftover // the residual after the first kept tokens
	unused leftover // memory for the residual of the next token
}

// leftover is a residual before it is normalised. If the target's row is one-hot, dist is one-hot.
type leftover struct {
	p    []float64 // (vocab) memory of dist
	mass float64   // sum of dist, by which normalised divides; 0: dist is a distribution already
	dist sample.Dist
}

func newBlockwise() blockwise {
	return blockwise{
		carry: func(before, p, q float64) float64 {
			if p == 0 {
				return 0
			}
			return min(1, before*p/q)
		},
		// This is u < hᵢ, multiplied by the denominator, so that a mass of 0 never passes.
		pass:     func(u, mass, w float64) bool { return u*(mass+1-w) < mass },
		end:      func(u, w float64) bool { return u < w },
		residual: weightedResidual,

		residualStream: sample.ResidualDraw,
		bonus:          func(p sample.Dist, _ Draft) sample.Dist { return p },
	}
}

func (r *blockwise) begin() { r.kept, r.w = 0, 1 }

func (r *blockwise) weigh(e *evidence, i int, p sample.Dist) bool {
	q := e.draft.Q[i]
	mass := r.unused.fill(r, p, q)
	if r.passes(e, i, mass) {
		r.kept, r.keptW = i, r.w
		r.rest, r.unused = r.unused, r.rest
	}
	t := &e.judged[i]
	t.P, t.Q = p.Prob(t.ID), q.Prob(t.ID)
	r.w = r.carry(r.w, t.P, t.Q)
	return r.w > 0
}

// passes tests whether the draft may end after i tokens. mass is the mass R of the residual after them.
// i = 0 always passes.
func (r *blockwise) passes(e *evidence, i int, mass float64) bool {
	if i == 0 {
		return true
	}
	t := &e.judged[i-1]
	t.U, t.Bound = e.uniform(sample.AcceptTest, i-1), 0
	if mass > 0 {
		t.Bound = mass / (mass + 1 - r.w)
	}
	return r.pass(t.U, mass, r.w)
}

func (r *blockwise) settle(e *evidence, n int) int {
	if n == 0 {
		return 0
	}
	t := &e.judged[n-1]
	t.U, t.Bound = e.uniform(sample.AcceptTest, n-1), r.w
	if r.end(t.U, r.w) {
		r.kept = n
	}
	return r.kept
}

func (r *blockwise) replace(e *evidence, i int) Judged {
	d := r.rest.normalised()
	t := unjudged(sample.Draw(d, e.uniform(r.residualStream, i)))
	t.Q = e.draft.Q[i].Prob(t.ID)
	t.P = d.Prob(t.ID)
	if r.rest.mass > 0 {
		t.P = (t.P*r.rest.mass + t.Q) / r.keptW // p from max(0, w·p − q) = t.P·R, because the row of p is not kept
	}
	return t
}

func (r *blockwise) follow(e *evidence, n int, p sample.Dist) Judged {
	t := unjudged(sample.Draw(r.bonus(p, e.draft), e.uniform(sample.BonusDraw, n)))
	t.P = p.Prob(t.ID)
	return t
}

// fill computes the residual after the tokens weighed so far, and returns its mass. It stores p in place of
// the residual in two cases: if p is one-hot, and if the mass is 0. A residual of mass 0 is drawn from only
// after a rounding error.
func (l *leftover) fill(r *blockwise, p, q sample.Dist) float64 {
	if p.P == nil {
		l.dist, l.mass = p, 0
		return max(0, r.w-q.Prob(p.Hot))
	}
	if len(l.p) < len(p.P) {
		l.p = make([]float64, len(p.P))
	}
	l.dist = sample.Dist{P: l.p[:len(p.P)]}
	if l.mass = r.residual(l.dist.P, r.w, p, q); l.mass == 0 {
		copy(l.dist.P, p.P)
	}
	return l.mass
}

// normalised returns the residual as a distribution.
func (l *leftover) normalised() sample.Dist {
	if l.mass > 0 {
		for id := range l.dist.P {
			l.dist.P[id] /= l.mass
		}
	}
	return l.dist
}

// weightedResidual writes max(0, w·p − q) to dst and returns its sum.
func weightedResidual(dst []float64, w float64, p, q sample.Dist) float64 {
	if len(q.P) < len(p.P) {
		return weightedResidualOf(dst, w, p, q, 0)
	}
	// Four sums are independent, so an addition need not wait for the one before it.
	var sums [4]float64
	n := len(p.P) &^ 3
	for i := 0; i < n; i += 4 {
		to, target, draft := dst[i:i+4:i+4], p.P[i:i+4:i+4], q.P[i:i+4:i+4]
		for k := range 4 {
			rest := max(0, w*target[k]-draft[k])
			to[k] = rest
			sums[k] += rest
		}
	}
	return sums[0] + sums[1] + (sums[2] + sums[3]) + weightedResidualOf(dst, w, p, q, n)
}

// weightedResidualOf is weightedResidual for the ids from first on, and for every kind of q.
func weightedResidualOf(dst []float64, w float64, p, q sample.Dist, first int) float64 {
	mass := 0.0
	for id := first; id < len(p.P); id++ {
		dst[id] = max(0, w*p.P[id]-q.Prob(int32(id)))
		mass += dst[id]
	}
	return mass
}
