package ref

import "math"

// Rejection is the device's verdict about the draft of one sequence.
type Rejection struct {
	Accepted int
	Commit   int       // the token that follows; −1 if the target's row has no weight
	Chance   float32   // p of that token
	P, Q     []float64 // of each draft token
}

type verdict int

const (
	accepted verdict = iota
	rejected
	noTarget
	noDraft
)

// Reject judges the draft tokens ids by the target's rows p, one more than there are tokens, and
// the draft's rows q. p and q of a token are its weight divided by the total of its row; q is 1 if
// the token is certain (Round). A token is accepted iff u·q < p. At the first rejection a token is
// drawn from max(0, p − q), or from p if that has no mass. Without a rejection, a token is drawn
// from the row p where the draft ends: after its last token, at an id that is no token or whose q
// is 0, or at a row p without weight.
func Reject(p, q []WeightRow, ids []int32, round Round) Rejection {
	n := int(round.Drafts)
	out := Rejection{P: make([]float64, n), Q: make([]float64, n)}
	verdicts := make([]verdict, n)
	for i := range n {
		certain := round.Certain>>i&1 == 1
		var qi WeightRow
		if !certain {
			qi = q[i]
		}
		out.P[i], out.Q[i], verdicts[i] = judge(p[i], qi, int(ids[i]), certain, round.Uniform(AcceptTest, i))
	}
	for out.Accepted < n && verdicts[out.Accepted] == accepted {
		out.Accepted++
	}
	at := out.Accepted
	row := p[at]
	out.Commit = -1
	stream := BonusDraw
	if at < n && verdicts[at] == rejected {
		stream = ResidualDraw
		out.Commit = drawRest(row, restOf(p, q, at, ids[at], round), round.Uniform(stream, at))
	}
	if out.Commit < 0 {
		out.Commit = row.Draw(round.Uniform(stream, at))
	}
	if out.Commit >= 0 {
		out.Chance = float32(row.Chance(out.Commit, row.Total()))
	}
	return out
}

func judge(p, q WeightRow, id int, certain bool, u float64) (pOfID, qOfID float64, v verdict) {
	target, token := p.Total(), id >= 0 && id < len(p.Weights)
	if target > 0 && token {
		pOfID = p.Chance(id, target)
	}
	if certain {
		qOfID = 1
	} else if total := q.Total(); total > 0 && token && id < len(q.Weights) {
		qOfID = q.Chance(id, total)
	}
	switch {
	case !(target > 0):
		return pOfID, qOfID, noTarget
	case !token || !(qOfID > 0):
		return pOfID, qOfID, noDraft
	case float64(u*qOfID) < pOfID:
		return pOfID, qOfID, accepted
	}
	return pOfID, qOfID, rejected
}

// restOf returns max(0, p − q) as a function of the token.
func restOf(p, q []WeightRow, at int, drafted int32, round Round) func(id int) float64 {
	perTarget := 1 / p[at].Total()
	if round.Certain>>at&1 == 1 {
		return func(id int) float64 {
			if id == int(drafted) {
				return 0
			}
			return float64(p[at].Weights[id]) * perTarget
		}
	}
	perDraft := 1 / q[at].Total()
	return func(id int) float64 {
		rest := float64(float64(p[at].Weights[id]) * perTarget)
		if id < len(q[at].Weights) {
			rest -= float64(float64(q[at].Weights[id]) * perDraft)
		}
		return max(0, rest)
	}
}

func drawRest(row WeightRow, rest func(id int) float64, u float64) int {
	vocab := len(row.Weights)
	sums := make([]float64, len(row.Sums))
	for s := range sums {
		first := s * SliceTokens
		sums[s] = Total(min(SliceTokens, vocab-first), func(j int) float64 { return rest(first + j) })
	}
	return draw(vocab, sums, rest, u*Total(len(sums), func(i int) float64 { return sums[i] }))
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
func shortFloat(v float64) uint64 { return uint64(math.Float32bits(float32(v))+0x400) >> 11 }
