package ref

import (
	"math/big"
	"math/bits"
)

// This file defines to the bit how the GPU judges by the rule block (engine/spec/block.go).

// JudgedBlock is the device's verdict about the draft of one sequence.
type JudgedBlock struct {
	Rejection
	// Bounds has, for each draft token, the chance that the block may end after it. It is −1 for a token after
	// one of weight 0, and after the end of the draft.
	Bounds []float32
}

// weightOne is the weight 1 of a block. Weights are integers in units of 2^-63.
const weightOne = 1 << 63

// place is a row with its draft token. The totals of p and q are shifted to at least 2^62, and the masses
// with them.
type place struct {
	target, draft uint64
	mass          func(id int) uint64
	ofDraft       func(id int) uint64
	weight        uint64 // of the tokens before
	part          uint64 // ⌊draft · weight / 2^63⌋: in this row the weight is part / draft
	rest          wide   // the sum of all residual
}

// JudgeBlock judges the draft tokens ids by the target's rows p, one more than there are tokens, and the
// draft's rows q. Rows and the end of a draft are as in Reject. The rule is computed with integers. Only weights
// are rounded, down.
func JudgeBlock(p, q []WeightRow, ids []int32, round Round) JudgedBlock {
	return judgeBlock(p, q, ids, round, round.uniform)
}

func judgeBlock(p, q []WeightRow, ids []int32, round Round, uniform func(stream, position int) uint64) JudgedBlock {
	out := JudgedBlock{Rejection: Rejection{P: make([]float32, round.Drafts), Q: make([]float32, round.Drafts)}, Bounds: make([]float32, round.Drafts)}
	for i := range out.P {
		out.P[i], out.Q[i], _ = judge(p[i], draftOf(q, i, ids[i], round), int(ids[i]), 0)
		out.Bounds[i] = -1
	}
	places, last := weighBlock(p, q, ids, round)
	n := len(places)
	for i := range places {
		if places[i].weight == 0 {
			break
		}
		u := uniform(AcceptTest, i)
		passed := u<<(63-uniformBits) < last
		out.Bounds[i] = float32(last) * (1.0 / weightOne)
		if i+1 < n {
			passed, out.Bounds[i] = places[i+1].ends(u)
		}
		if passed {
			out.Accepted = i + 1
		}
	}
	row := p[out.Accepted]
	if out.Accepted < n {
		at := places[out.Accepted]
		out.Commit = draw(len(row.Weights), at.sums(len(row.Weights)), at.residual, share(uniform(ResidualDraw, out.Accepted), at.rest))
	} else {
		sums := make([]wide, len(row.Sums))
		for i, s := range row.Sums {
			sums[i].low = s
		}
		out.Commit = draw(len(row.Weights), sums, func(id int) wide { return wide{low: row.Mass(id)} },
			share(uniform(BonusDraw, out.Accepted), wide{low: row.Total()}))
	}
	if out.Commit >= 0 {
		out.Chance = row.Chance(out.Commit, row.Total())
	}
	return out
}

// weighBlock returns the places of a draft up to its end, and the weight after all of its tokens.
func weighBlock(p, q []WeightRow, ids []int32, round Round) (places []place, weight uint64) {
	weight = weightOne
	for i := range int(round.Drafts) {
		d, id := draftOf(q, i, ids[i], round), int(ids[i])
		if _, _, v := judge(p[i], d, id, 0); v == noTarget || v == noDraft {
			break
		}
		shift, draftShift := 63-bits.Len64(p[i].Total()), 63-bits.Len64(d.total)
		at := place{target: p[i].Total() << shift, draft: d.total << draftShift, weight: weight,
			mass:    func(id int) uint64 { return p[i].Mass(id) << shift },
			ofDraft: func(id int) uint64 { return d.mass(id) << draftShift }}
		at.part = quotientOf(at.draft, weight, weightOne, 1)
		weight = weightOne
		if product(at.mass(id), at.part).less(product(at.ofDraft(id), at.target)) {
			weight = quotientOf(weightOne, at.mass(id), at.ofDraft(id), at.target, at.part)
		}
		at.rest = sumOf(at.sums(len(p[i].Weights)))
		places = append(places, at)
	}
	return places, weight
}

// quotientOf returns a·b·times / (c·d), rounded down.
func quotientOf(a, b, c, d uint64, times ...uint64) uint64 {
	number := func(v uint64) *big.Int { return new(big.Int).SetUint64(v) }
	above, below := number(a), number(c)
	above.Mul(above, number(b))
	for _, t := range times {
		above.Mul(above, number(t))
	}
	return above.Quo(above, below.Mul(below, number(d))).Uint64()
}

// residual returns max(0, w·p − q) of a token, times all totals.
func (at *place) residual(id int) wide {
	ofTarget, ofDraft := product(at.mass(id), at.part), product(at.ofDraft(id), at.target)
	if ofDraft.less(ofTarget) {
		return ofTarget.minus(ofDraft)
	}
	return wide{}
}

func (at *place) sums(vocab int) []wide {
	sums := make([]wide, Slices(vocab))
	for id := range vocab {
		sums[id/SliceTokens] = sums[id/SliceTokens].plus(at.residual(id))
	}
	return sums
}

// ends tests whether the block may end before this place, and returns the chance of it.
func (at *place) ends(u uint64) (passed bool, chance float32) {
	all := at.rest.plus(product(at.draft-at.part, at.target))
	if mass := at.rest.float(); mass > 0 {
		chance = mass / all.float()
	}
	return share(u, all).less(at.rest), chance
}

// float rounds as the device does, for numbers that are only shown.
func (a wide) float() float32 { return float32(float32(a.high)*(1<<64)) + float32(a.low) }
