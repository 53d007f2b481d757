package spec

import "specula/engine/sample"

// blockwise is block verification (Sun et al. 2024, arXiv 2403.10444): a draft is judged as a whole. Write x₁…xₙ for the draft,
// p(x|…) and q(x|…) for what target and draft give to x behind the tokens before it. Going forward,
//
//	w₀ = 1,  wᵢ = min(1, wᵢ₋₁ · p(xᵢ|…)/q(xᵢ|…))
//	Rᵢ = Σₓ max(0, wᵢ·p(x|x₁…xᵢ) − q(x|x₁…xᵢ)),  hᵢ = Rᵢ / (Rᵢ + 1 − wᵢ) for i < n,  hₙ = wₙ.
//
// Each i ≥ 1 passes with probability hᵢ, by a uniform of its own. The first τ tokens are kept, τ being the largest i that
// passed, or 0. What follows is drawn from max(0, w·p − q)/R with w and R of τ, or from p if τ = n. So a token that a test of its
// own would refuse can stay, if the ones behind it are likelier for the target than for the draft.
//
// Why the tokens have the target's distribution:
//
// (1) P(τ ≥ i | x₁…xᵢ drafted) = wᵢ, backwards from n, where it is hₙ. With M = Σₓ q(x)·wᵢ₊₁(x) = Σₓ min(q(x), wᵢ·p(x)), the chance of
// τ > i given x₁…xᵢ, Rᵢ is wᵢ − M and so hᵢ = (wᵢ − M)/(1 − M). Hence P(τ ≥ i) = M + (1 − M)·hᵢ = wᵢ, and P(τ = i) = wᵢ − M = Rᵢ.
//
// (2) Let f(x₁…xᵢ) be the chance that the output begins so, Q that of drafting it. If f = p for i tokens, it is for one more, xᵢ₊₁ = x:
// by (1) the draft gets that far and is kept with Q·q(x)·wᵢ₊₁ = Q·min(q(x), wᵢ·p(x)), it is kept up to i and continued by x with
// Q·Rᵢ·max(0, wᵢ·p(x) − q(x))/Rᵢ, which together are Q·wᵢ·p(x); and where τ < i, the rest f − Q·wᵢ of f, x is drawn from p in later
// rounds. The sum is f·p(x).
//
// (3) wᵢ ≥ Π min(1, p/q), because min(1, a·r) ≥ a·min(1, r) for a ≤ 1. So τ ≥ i is at least as probable as that a test token by token
// gets there, for every i and every pair of models; the two are the same for n = 1, and in expectation for a one-hot q.
//
// Nothing in this needs n to be fixed: a draft may end where what was drafted so far says so, as it does behind a stop token, by
// a proposer's own judgement, or before a row that cannot be read. If w falls to 0, no later i can pass and nothing is read any more.
//
// The steps are fields for the same reason as tokenwise's.
type blockwise struct {
	// carry is wᵢ.
	carry func(before, p, q float64) float64
	// pass tests i < n by the uniform u, end tests n.
	pass func(u, mass, w float64) bool
	end  func(u, w float64) bool
	// residual writes w·p − q, cut at 0, and returns its mass R.
	residual       func(dst []float64, w float64, p, q sample.Dist) float64
	residualStream sample.Stream
	bonus          func(p sample.Dist, draft Draft) sample.Dist

	kept   int     // τ so far
	w      float64 // of the tokens weighed so far
	keptW  float64 // of τ
	rest   leftover
	unused leftover
}

// leftover is a residual that is not normalised yet. A target that is one-hot leaves one token.
type leftover struct {
	p    []float64 // (vocab)
	mass float64
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
		// hᵢ, multiplied out, so that no mass never passes.
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

// passes tests whether i tokens can be the last to stay, given the residual's mass behind them; none always can.
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
		t.P = (t.P*r.rest.mass + t.Q) / r.keptW // solved for p, whose row is gone by now
	}
	return t
}

func (r *blockwise) follow(e *evidence, n int, p sample.Dist) Judged {
	t := unjudged(sample.Draw(r.bonus(p, e.draft), e.uniform(sample.BonusDraw, n)))
	t.P = p.Prob(t.ID)
	return t
}

// fill computes the residual behind the tokens weighed so far and returns its mass. Where there is none, it is p itself, which only
// rounding makes anybody draw from.
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

// normalised is what to draw from.
func (l *leftover) normalised() sample.Dist {
	if l.mass > 0 {
		for id := range l.dist.P {
			l.dist.P[id] /= l.mass
		}
	}
	return l.dist
}

// weightedResidual is max(0, w·p − q).
func weightedResidual(dst []float64, w float64, p, q sample.Dist) float64 {
	if len(q.P) < len(p.P) {
		return weightedResidualOf(dst, w, p, q, 0)
	}
	// Four sums, because one would wait for each addition.
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

// weightedResidualOf is the same for the ids from first on, with a draft of any form.
func weightedResidualOf(dst []float64, w float64, p, q sample.Dist, first int) float64 {
	mass := 0.0
	for id := first; id < len(p.P); id++ {
		dst[id] = max(0, w*p.P[id]-q.Prob(int32(id)))
		mass += dst[id]
	}
	return mass
}
