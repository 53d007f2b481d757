package proof

import (
	"cmp"
	"math/bits"
)

// order is a way to put the vocabulary in an order.
type order int

// Faults show in different orders. A uniform that is used twice does by id, in which tokens are drawn. What is kept too often shows
// by q/p, and if it is what the target likes, by p. A stop token that is dropped shows where stop tokens come first. What goes by the
// token itself shows by id, or where even ids come before odd ones, and so on from bit to bit.
const (
	byID order = iota
	byP
	byRatio
	byBits
	stopsFirst
	orders

	paired = byBits // the orders before it serve for pairs
)

func (o order) String() string {
	return [...]string{"by id", "by p", "by q/p", "by the bits of the id", "by whether it ends the reply"}[o]
}

// values are those of one token in every order; -1 where there is no such order.
type values [orders]float64

// spread is where a token lies in an order: the probability of what is in front of it, and of it and its equals.
type spread struct{ before, own float64 }

func (s spread) at(v float64) float64 { return min(s.before+v*s.own, 1-1e-12) }

// values computes those of a token.
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

// add takes a token into account that is in front of it, its equal or behind it.
func (s *spread) add(p float64, place int) {
	switch {
	case place < 0:
		s.before += p
	case place == 0:
		s.own += p
	}
}

// length is the value of a reply's length. Give each place the chance h that the reply ends there, and let G be the product of all
// 1 − h so far: the chance to be so long. Then what lies between G before and behind the end is hit by 1 − U uniformly, and a reply
// that was cut short for another reason is spread over all the rest. That holds along the way that the reply took, given each h.
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

// ending is the chance that a token ends the reply at a place.
func (j *Judge) ending(place *Place) (h float64) {
	for _, id := range j.stops {
		if int(id) < len(place.P) {
			h += place.P[id]
		}
	}
	return h
}
