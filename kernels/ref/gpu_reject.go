package ref

import "math"

// Rejection is the device's verdict about the draft of one sequence.
type Rejection struct {
	Accepted int
	Commit   int       // the token that follows; −1 if the target's row has no weight
	Chance   float32   // p of that token
	P, Q     []float32 // of each draft token
}

type verdict int

const (
	accepted verdict = iota
	rejected
	noTarget
	noDraft
)

// Reject judges the draft tokens ids by the target's rows p, one more than there are tokens, and
// the draft's rows q. p and q of a token are its mass divided by the total of its row; q is 1 if
// the token is certain (Round). A token is accepted iff u·q < p. At the first rejection a token is
// drawn from max(0, p − q). Without a rejection, a token is drawn from the row p where the draft
// ends. A draft ends after its last token, or earlier: at an id that is no token or whose q is 0, or
// at a row p without mass. Everything is computed exactly, with integers in place of fractions.
func Reject(p, q []WeightRow, ids []int32, round Round) Rejection {
	n := int(round.Drafts)
	out := Rejection{P: make([]float32, n), Q: make([]float32, n)}
	verdicts := make([]verdict, n)
	for i := range n {
		out.P[i], out.Q[i], verdicts[i] = judge(p[i], draftOf(q, i, ids[i], round), int(ids[i]), round.uniform(AcceptTest, i))
	}
	for out.Accepted < n && verdicts[out.Accepted] == accepted {
		out.Accepted++
	}
	at := out.Accepted
	row := p[at]
	if at < n && verdicts[at] == rejected {
		out.Commit = drawRest(row, draftOf(q, at, ids[at], round), round.uniform(ResidualDraw, at))
	} else {
		out.Commit = row.Draw(round, BonusDraw, at)
	}
	if out.Commit >= 0 {
		out.Chance = row.Chance(out.Commit, row.Total())
	}
	return out
}

// drafted is the distribution of a draft token: mass(id) / total.
type drafted struct {
	mass  func(id int) uint64
	total uint64
}

func draftOf(q []WeightRow, at int, id int32, round Round) drafted {
	if round.Certain>>at&1 == 0 {
		return drafted{q[at].Mass, q[at].Total()}
	}
	return drafted{func(other int) uint64 {
		if other == int(id) {
			return 1
		}
		return 0
	}, 1}
}

func judge(p WeightRow, q drafted, id int, u uint64) (pOfID, qOfID float32, v verdict) {
	total, mass, ofDraft := p.Total(), p.Mass(id), q.mass(id)
	if total > 0 {
		pOfID = quotient(mass, total)
	}
	if q.total > 0 {
		qOfID = quotient(ofDraft, q.total)
	}
	switch {
	case total == 0:
		return pOfID, qOfID, noTarget
	case id < 0 || id >= len(p.Weights) || ofDraft == 0:
		return pOfID, qOfID, noDraft
	case share(u, product(ofDraft, total)).less(product(mass, q.total)): // u·q < p, times both totals
		return pOfID, qOfID, accepted
	}
	return pOfID, qOfID, rejected
}

// drawRest draws from max(0, p − q). These numbers, times both totals, are integers.
func drawRest(p WeightRow, q drafted, u uint64) int {
	vocab, total := len(p.Weights), p.Total()
	rest := func(id int) wide {
		ofTarget, ofDraft := product(p.Mass(id), q.total), product(q.mass(id), total)
		if ofDraft.less(ofTarget) {
			return ofTarget.minus(ofDraft)
		}
		return wide{}
	}
	sums := make([]wide, len(p.Sums))
	for id := range vocab {
		sums[id/SliceTokens] = sums[id/SliceTokens].plus(rest(id))
	}
	return draw(vocab, sums, rest, share(u, sumOf(sums)))
}

// Pack returns the rows+1 words in which the device sends a rejection to the host. Fields are named
// from the lowest bit up. The first word holds the token that follows (24 bits, all ones for −1),
// the number of accepted tokens (8 bits) and p of the token that follows (float32). Then comes one
// word for each draft token: the id (24 bits), p and q (20 bits each). The remaining words are 0.
func (r Rejection) Pack(ids []int32, rows int) []uint64 {
	words := make([]uint64, rows+1)
	words[0] = uint64(math.Float32bits(r.Chance))<<32 | uint64(r.Accepted)<<24 | uint64(r.Commit)&0xffffff
	for i := range r.P {
		words[1+i] = shortFloat(r.Q[i])<<44 | shortFloat(r.P[i])<<24 | uint64(ids[i])&0xffffff
	}
	return words
}

// shortFloat packs a number ≥ 0 into 20 bits: 8 of exponent and 12 of fraction, rounded to nearest.
func shortFloat(v float32) uint64 { return uint64(math.Float32bits(v)+0x400) >> 11 }
