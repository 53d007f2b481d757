package spec

import (
	"errors"

	"specula/engine/compute"
	"specula/engine/sample"
)

// greedy keeps a draft token iff it is the target's best one. It knows ids, not probabilities.
type greedy struct {
	v      *Verifier
	target Rows
	best   []int32 // (rows); nil when a row somewhere is not finite, and rows must be judged one by one
}

func (v *Verifier) newGreedy(target Rows) (*greedy, error) {
	if cap(v.best) < target.Rows() {
		v.best = make([]int32, target.Rows())
	}
	g := &greedy{v: v, target: target, best: v.best[:target.Rows()]}
	err := target.Argmax(g.best)
	if errors.Is(err, compute.ErrNotFinite) {
		// The bad row may lie behind the one that decides, and then it is none of this round's business.
		g.best, err = nil, nil
	}
	return g, err
}

func (g *greedy) choice(i int) (int32, error) {
	if g.best != nil {
		return g.best[i], nil
	}
	if err := g.target.Row(i, g.v.scores); err != nil {
		return 0, err
	}
	return sample.Argmax(g.v.scores)
}

func (g *greedy) test(i int, t *Judged) (bool, error) {
	best, err := g.choice(i)
	return best == t.ID, err
}

func (g *greedy) replace(i int) (Judged, error) { return g.follow(i) }

func (g *greedy) follow(i int) (Judged, error) {
	best, err := g.choice(i)
	return Judged{ID: best, P: Unknown, Q: Unknown, U: Unknown}, err
}
