package spec

import (
	"errors"

	"specula/engine/compute"
	"specula/engine/sample"
)

// predictions are the target's distributions along a draft. at(i) is the distribution of the token after
// the first i draft tokens. Decoding without speculation would draw from the same distribution. at is
// called once for each i, in order from 0, up to the last row that matters. Its result is valid until the
// next call.
//
// Acceptance rules see only this interface of the target, so each rule works on each path.
type predictions interface {
	// at returns an error that wraps compute.ErrNotFinite if the logits are not finite.
	at(i int) (sample.Dist, error)
	// close undoes what at has changed: it pops the tokens that were pushed to shapers.
	close()
}

// predict returns the predictions for a path.
func (v *Verifier) predict(path Path, target Rows, draft []int32, terms Terms) (predictions, error) {
	if path == Greedy {
		return v.argmaxes.open(v, target)
	}
	v.plain = plain{v: v, target: target, params: terms.Params}
	if len(terms.Shapers) > 0 {
		v.shaped = shaped{plain: v.plain, shapers: terms.Shapers, draft: draft}
		return &v.shaped, nil
	}
	return &v.plain, nil
}

// plain predictions depend only on the row itself.
type plain struct {
	v      *Verifier
	target Rows
	params sample.Params
}

func (s *plain) at(i int) (sample.Dist, error) {
	if err := s.target.Row(i, s.v.scores); err != nil {
		return sample.Dist{}, err
	}
	return s.v.sampler.FromLogits(s.v.p, s.v.scores, s.params)
}

func (s *plain) close() {}

// argmaxes are one-hot predictions: the best token of each row, or the token that a Drawer drew there. The
// ids of all rows are copied at once, 4 bytes each.
type argmaxes struct {
	v      *Verifier
	target Rows
	best   []int32 // the best token of each row; nil if some row is not finite, so that rows must be read one by one
}

func (g *argmaxes) open(v *Verifier, target Rows) (*argmaxes, error) {
	if cap(v.best) < target.Rows() {
		v.best = make([]int32, target.Rows())
	}
	*g = argmaxes{v: v, target: target, best: v.best[:target.Rows()]}
	err := target.Argmax(g.best)
	if errors.Is(err, compute.ErrNotFinite) {
		// The row that is not finite may come after the last row that matters. Then it does no harm.
		g.best, err = nil, nil
	}
	return g, err
}

func (g *argmaxes) at(i int) (sample.Dist, error) {
	if g.best != nil {
		return sample.OneHot(g.best[i]), nil
	}
	if err := g.target.Row(i, g.v.scores); err != nil {
		return sample.Dist{}, err
	}
	best, err := sample.Argmax(g.v.scores)
	return sample.OneHot(best), err
}

func (g *argmaxes) close() {}
