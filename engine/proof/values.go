package proof

import (
	"cmp"
	"math/bits"
)

// order is a way to order the vocabulary.
type order int

// Different faults show in different orders. A uniform that is used twice shows by id, because tokens are
// drawn in the order of ids. Draft tokens that are accepted too often show by q/p, or by p if the target
// likes them. A dropped stop token shows where stop tokens come first. A fault that depends on the token
// itself shows by id, or by the bits of the id from the lowest on: even ids come before odd ones.
const (
	byID order = iota
	byP
	byRatio
	byBits
	stopsFirst
	orders

	paired = byBits // pairs use only the orders before byBits
)

func (o order) String() string {
	return [...]string{"by id", "by p", "by q/p", "by the bits of the id", "by whether it ends the reply"}[o]
}

// values holds the value U of one token in each order (see the package comment); −1 if there is no such
// order.
type values [orders]float64

// spread is the place of a token in an order: the probability of all tokens before it, and the probability
// of all tokens at its place, itself included.
type spread struct{ before, own float64 }

func (s spread) at(v float64) float64 { return min(s.before+v*s.own, 1-1e-12) }

// values computes the values of a token.
func (j *Judge) values(place *Place, id int32) values {
	var s [orders]spread
	p, q, h := place.P, place.Q, j.ending(place)
	if s[stopsFirst] = (spread{h, 1 - h}); j.ends(id) {
		s[stopsFirst] = spread{0, h}
	}
	for y, py := range p {
		if py == 0 {
			continue
		}
		s[byID].add(py, cmp.Compare(int32(y), id))
		s[byBits].add(py, cmp.Compare(bits.Reverse32(uint32(y)), bits.Reverse32(uint32(id))))
		s[byP].add(py, cmp.Compare(p[id], py))
		if q != nil {
			s[byRatio].add(py, cmp.Compare(q[id]*py, q[y]*p[id]))
		}
	}
	var u values
	v := j.rng.Float64()
	for o := range u {
		u[o] = s[o].at(v)
	}
	if q == nil {
		u[byRatio] = -1
	}
	return u
}

// add counts a token of probability p, which comes before (place < 0), is equal to (0) or comes
// after the token of s.
func (s *spread) add(p float64, place int) {
	switch {
	case place < 0:
		s.before += p
	case place == 0:
		s.own += p
	}
}

// length returns the value U of a reply's length. At each position, let h be the probability that the
// reply ends there. Let G be the product of 1 − h over all earlier positions, which is the probability to
// get so far. If the reply ends at a position, U is drawn there from 1 − G to 1 − G·(1 − h). If the reply
// was cut short after its last position, U is drawn from 1 − G to 1. For the values h of this reply, U is
// uniform in [0,1).
func (j *Judge) length(list []written) float64 {
	longer, v := 1.0, j.rng.Float64()
	for _, w := range list {
		if j.ends(w.ID) {
			return spread{1 - longer, longer * w.ending}.at(v)
		}
		longer *= 1 - w.ending
	}
	return spread{1 - longer, longer}.at(v)
}

// ending returns the probability that a token ends the reply at a place.
func (j *Judge) ending(place *Place) (h float64) {
	for _, id := range j.stops {
		if int(id) < len(place.P) {
			h += place.P[id]
		}
	}
	return h
}
