package proof

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"specula/engine/event"
)

// Judge collects the values of replies (see the package comment). Fault in decide.go tests them.
type Judge struct {
	stops  []int32
	decode func(ids []int32) string
	rng    *rand.Rand

	singles map[string]*[orders][]float64 // key: the name of a test; value: the values that must be uniform, in each order
	pairs   map[string]*[orders][]pair    // key: the name of a test; value: the pairs that must be independent, in each order
	lengths []float64                     // the value of each reply's length
	drafts  [orders][]float64             // values of the draft tokens that were tested, accepted or not
	names   []string                      // keys of singles and pairs, in the order of their first use

	replies, tokens           int
	drafted, tested, accepted int
	last                      []written // tokens of the last reply
	contradicted              string    // how the first reply that contradicts itself does so; "" if none does
}

// pair is a value and a number that was known before the value.
type pair struct{ before, value float64 }

// NewJudge returns a Judge without replies. stops are the tokens that end a reply. seed is for the
// judge's own uniforms.
func NewJudge(stops []int32, decode func(ids []int32) string, seed uint64) *Judge {
	return &Judge{stops: stops, decode: decode, rng: rand.New(rand.NewPCG(seed, 0x9E3779B97F4A7C15)),
		singles: map[string]*[orders][]float64{}, pairs: map[string]*[orders][]pair{}}
}

// ends reports whether a token ends a reply.
func (j *Judge) ends(id int32) bool { return slices.Contains(j.stops, id) }

// mostPositions is how many positions of a round are tested separately. All later positions are tested
// as one.
const mostPositions = 4

// Add adds a reply. It returns the first error of r.Places. A reply that contradicts itself is no
// error; Fault reports it.
func (j *Judge) Add(r *Reply) error {
	list, places := r.written(), 0
	var drafts []values
	for place, err := range r.Places {
		if err != nil {
			return err
		}
		if places < len(list) {
			w := &list[places]
			if w.impossible = place.P == nil || place.P[w.ID] == 0; !w.impossible {
				w.values, w.ending = j.values(&place, w.ID), j.ending(&place)
			}
			if round := &r.Rounds[w.round]; w.position < round.Tested && place.P != nil {
				drafts = append(drafts, j.values(&place, round.Draft[w.position].ID))
			}
		}
		places++
	}
	j.replies++
	if why := j.contradiction(r, list, places); why != "" {
		if j.contradicted == "" {
			j.contradicted = fmt.Sprintf("reply %d: %s", j.replies, why)
		}
		return nil
	}
	first := 0 // the first token of the round
	for t, w := range list {
		if w.position == 0 {
			first = t
		}
		j.single(r, &w)
		j.neighbours(r, list, t, first)
		if t < len(j.last) {
			j.pair("the same place of two replies", j.last[t].values, w.values)
		}
	}
	j.last = list
	j.tokens += len(list)
	j.lengths = append(j.lengths, j.length(list))
	for _, u := range drafts {
		for o, x := range u {
			if x >= 0 {
				j.drafts[o] = append(j.drafts[o], x)
			}
		}
	}
	for i := range r.Rounds {
		j.drafted += len(r.Rounds[i].Draft)
		j.tested += r.Rounds[i].Tested
		j.accepted += r.Rounds[i].Accepted
	}
	return nil
}

// single adds the value of a token to one test for each fact that was known before the token was written,
// such as its position in the round. In each of these tests the values must be uniform.
func (j *Judge) single(r *Reply, w *written) {
	u, round, position := w.values, w.round, w.position
	j.file("all tokens", u)
	if position < mostPositions {
		j.file(fmt.Sprintf("position %d of the round", position), u)
	} else {
		j.file("later positions of the round", u)
	}
	now := &r.Rounds[round]
	switch {
	case len(now.Draft) == 0:
		j.file("rounds without a draft", u)
	case position == len(now.Draft):
		j.file("after a whole draft", u)
	}
	switch {
	case position > 0:
	case round == 0:
		j.file("the first token", u)
	case r.Rounds[round-1].Tested > r.Rounds[round-1].Accepted:
		j.file("after a refusal", u)
	case r.Rounds[round-1].Accepted > 0:
		j.file("after a round without a refusal", u)
	}
}

func (j *Judge) file(name string, u values) {
	s := j.singles[name]
	if s == nil {
		s = &[orders][]float64{}
		j.singles[name] = s
		j.names = append(j.names, name)
	}
	for o, x := range u {
		if x >= 0 {
			s[o] = append(s[o], x)
		}
	}
}

// neighbours pairs the values of token t with those of earlier tokens: the last one, the one before that,
// and the one at the same position of the previous round. If a draft token was tested just before token t,
// it also pairs them with the random number of that test.
func (j *Judge) neighbours(r *Reply, list []written, t, first int) {
	w := list[t]
	if t > 0 && w.position > 0 {
		j.pair("neighbours in a round", list[t-1].values, w.values)
	} else if t > 0 {
		j.pair("the end of a round and the next", list[t-1].values, w.values)
	}
	if t > 1 {
		j.pair("one between", list[t-2].values, w.values)
	}
	// Pair the token with the one at the same position of the previous round.
	if w.round > 0 {
		last := first - len(r.Rounds[w.round-1].Committed())
		if last+w.position < first {
			j.pair("the same position of two rounds", list[last+w.position].values, w.values)
		}
		if w.position == 0 {
			if tests := tested(&r.Rounds[w.round-1]); len(tests) > 0 {
				j.beside("the test at the end of the round before", tests[len(tests)-1], w.values)
			}
		}
	}
	if w.position > 0 {
		if tests := tested(&r.Rounds[w.round]); w.position <= len(tests) {
			j.beside("the test of the token before", tests[w.position-1], w.values)
		}
	}
}

// tested returns the uniforms of a round's tests if u·q < p was tested for each token, as by the rule token;
// otherwise nil.
func tested(r *event.Round) (list []float64) {
	for _, t := range r.Draft[:r.Tested] {
		if t.U == nil || t.Bound != nil {
			return nil
		}
		list = append(list, *t.U)
	}
	return list
}

func (j *Judge) beside(name string, before float64, u values) {
	j.pair(name, values{byID: before, byP: before, byRatio: before}, u)
}

func (j *Judge) pair(name string, before, u values) {
	p := j.pairs[name]
	if p == nil {
		p = &[orders][]pair{}
		j.pairs[name] = p
		j.names = append(j.names, name)
	}
	for o := range paired {
		if before[o] >= 0 && u[o] >= 0 {
			p[o] = append(p[o], pair{before[o], u[o]})
		}
	}
}
