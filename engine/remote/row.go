package remote

import (
	"fmt"
	"math"
	"slices"

	"specula/engine/sample"
)

// entry is one token of a row.
type entry struct {
	id      int32
	logProb float64 // natural logarithm, at temperature 1, over the whole vocabulary
}

// row has the likeliest tokens after one prefix, as a server sent them: best first, and the lowest id
// first among equally likely ones. It may have one more token, own.
type row struct {
	top   []entry
	vocab int
	own   *entry // the drawn token, if it is not among the likeliest; nil: none
}

// newRow checks the tokens that a server sent, and sorts them.
func newRow(top []entry, vocab int) (row, error) {
	if len(top) == 0 {
		return row{}, fmt.Errorf("%w: the server sent no log-probabilities for a place", errFalse)
	}
	slices.SortFunc(top, func(a, b entry) int {
		switch {
		case a.logProb > b.logProb:
			return -1
		case a.logProb < b.logProb:
			return 1
		}
		return int(a.id) - int(b.id)
	})
	sum, seen := 0.0, make(map[int32]bool, len(top))
	for _, e := range top {
		if e.id < 0 || int(e.id) >= vocab || seen[e.id] {
			return row{}, fmt.Errorf("%w: token %d, which is twice in its row or not among %d", errFalse, e.id, vocab)
		}
		if !(e.logProb <= slack) {
			return row{}, fmt.Errorf("%w: the log-probability of token %d is %v", errFalse, e.id, e.logProb)
		}
		seen[e.id] = true
		sum += math.Exp(e.logProb)
	}
	if sum > 1+massSlack {
		return row{}, fmt.Errorf("%w: probabilities of %d tokens add up to %v", errFalse, len(top), sum)
	}
	if most := sum + float64(vocab-len(top))*math.Exp(top[len(top)-1].logProb); most < 1-massSlack {
		return row{}, fmt.Errorf("%w: the probabilities of all tokens add up to at most %v, since none is above the last of the %d that it told", errFalse, most, len(top))
	}
	return row{top: top, vocab: vocab}, nil
}

const (
	slack     = 1e-3 // how far a log-probability may exceed 0, because of rounding
	massSlack = 1e-2 // how far the probabilities of a row may add up to more than 1, or those of all tokens to less
)

func (r *row) whole() bool { return len(r.top) == r.vocab }

// rest is the probability of all tokens that are not in the row.
func (r *row) rest() float64 {
	if r.whole() {
		return 0
	}
	sum := 0.0
	for _, e := range r.top {
		sum += math.Exp(e.logProb)
	}
	most := math.Exp(r.last()) * float64(r.vocab-len(r.top)) // no token outside the row is likelier than the last one in it
	return max(0, min(1-sum, most))
}

func (r *row) last() float64 { return r.top[len(r.top)-1].logProb }

// fill writes one score for each id of the vocabulary. The tokens outside the row, which have no score of
// their own, get equal shares of what the row leaves. Where decides returns true, these shares do not matter.
func (r *row) fill(dst []float32) {
	even := math.Inf(-1)
	if rest := r.rest(); rest > 0 {
		even = math.Log(rest / float64(r.vocab-len(r.top)))
	}
	for i := range dst {
		dst[i] = float32(even)
	}
	for _, e := range r.top {
		dst[e.id] = float32(e.logProb)
	}
	if r.own != nil {
		dst[r.own.id] = float32(r.own.logProb)
	}
}

// decides reports whether the filters p give the same distribution for every way in which the tokens
// outside the row can share their probability.
func (r *row) decides(p sample.Params) bool {
	switch {
	case r.whole():
		return true
	case p.Temperature == 0:
		return r.apart(1)
	case p.TopK > 0:
		return r.apart(p.TopK) // later filters work on these K tokens only
	case p.TopP < 1:
		return r.nucleusIsKnown(p)
	case p.MinP > 0:
		temperature := p.Temperature
		if p.TemperatureLast {
			temperature = 1
		}
		return math.Exp((r.last()-r.top[0].logProb)/temperature) < p.MinP*(1-relative)
	}
	return false
}

// apart reports whether the row shows which n tokens are the likeliest. These must be likelier than the
// last token of the row: a token outside the row may be as likely as that last one, and have a lower
// id.
func (r *row) apart(n int) bool { return n < len(r.top) && r.top[n-1].logProb > r.last() }

// relative is the relative error of a row's sums: the server rounds its numbers.
const relative = 1e-5

// nucleusIsKnown reports whether top-p keeps the same tokens, however the tokens outside the row share their
// probability. These n tokens have the probability m together, and at most c each: c is that of the row's last
// token. At temperature T a token of probability p gets the weight p^(1/T). The n weights add up to at least
// n·(m/n)^(1/T), if all are equal, and at most m·c^(1/T−1), if as many tokens as possible have c. For T > 1
// the first is the upper bound and the second the lower one.
func (r *row) nucleusIsKnown(p sample.Params) bool {
	power := 1 / p.Temperature
	if p.TemperatureLast {
		power = 1
	}
	known := 0.0
	for _, e := range r.top {
		known += math.Exp(power * e.logProb)
	}
	m, n, c := r.rest(), float64(r.vocab-len(r.top)), math.Exp(r.last())
	low, high := 0.0, 0.0
	if m > 0 {
		low, high = n*math.Pow(m/n, power), m*math.Pow(c, power-1)
	}
	low, high = min(low, high), max(low, high)
	few, sure := r.nucleus(p.TopP*(known+low)*(1-relative), power)
	many, sureToo := r.nucleus(p.TopP*(known+high)*(1+relative), power)
	return sure && sureToo && few == many && r.apart(few)
}

// nucleus returns how many of the best tokens together reach a mass, which is a sum of p^power. ok is false if
// even all tokens of the row do not reach the mass.
func (r *row) nucleus(mass, power float64) (n int, ok bool) {
	sum := 0.0
	for i, e := range r.top {
		if sum += math.Exp(power * e.logProb); sum >= mass {
			return i + 1, true
		}
	}
	return len(r.top), false
}
