package ref

import "math/bits"

// This file defines to the bit how the GPU draws a token from a row of weights. A weight here is a float32 in
// proportion to a token's probability. Each weight becomes an integer, its mass (Mass). The masses of all
// tokens are laid end to end on a line, and the token at a random place of the line is chosen. Slice lies
// after slice, in the order of pick: 0, 32, 64, …, then 1, 33, …. The tokens of a slice lie in the same order.

// SliceTokens is the number of tokens that one warp sums.
const SliceTokens = 1024

const lanes = 32 // per warp

// Slices returns the number of slices in a row.
func Slices(vocab int) int { return (vocab + SliceTokens - 1) / SliceTokens }

// Round says which uniforms a sequence uses in one round, and describes the draft of that round. The
// kernels read it in this layout.
type Round struct {
	Seed         [2]uint32 // low word first
	Reply, Round uint32
	Certain      uint32 // bit i: draft token i was looked up or chosen greedily, not drawn at random, so its q is 1
	Drafts       int32
	Written      int32 // tokens that the reply had before the round
}

// The streams of uniforms, with the numbers of engine/sample.
const (
	DraftDraw = iota
	AcceptTest
	ResidualDraw
	BonusDraw
	TargetDraw
)

// Uniform returns a number in [0,1) with 53 bits, from Philox4x32-10. Source: Salmon et al.,
// Parallel random numbers: as easy as 1, 2, 3, 2011.
func (r Round) Uniform(stream, position int) float64 {
	return float64(r.uniform(stream, position)) / (1 << uniformBits)
}

// uniform is Uniform as an integer: it stands for itself / 2^uniformBits.
func (r Round) uniform(stream, position int) uint64 {
	c, k := [4]uint32{uint32(position), r.Round, uint32(stream), r.Reply}, r.Seed
	for range 10 {
		high0, low0 := bits.Mul32(0xD2511F53, c[0])
		high1, low1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0}
		k[0] += 0x9E3779B9
		k[1] += 0xBB67AE85
	}
	return uint64(c[0]>>5)<<26 | uint64(c[1]>>6)
}

// pick lays n masses end to end, first the masses of lane 0, then of lane 1, and so on; lane i has the masses
// i, i+32, … It returns the index j of the mass that lies at the place target, and target minus all masses
// before this one. j is −1 if the sum of all masses is not above target.
func pick(n int, mass func(int) wide, target wide) (j int, rest wide) {
	for lane := range lanes {
		for j := lane; j < n; j += lanes {
			m := mass(j)
			if target.less(m) {
				return j, target
			}
			target = target.minus(m)
		}
	}
	return -1, target
}

// draw finds the slice at the place target, then the token in it. It returns −1 if the row has no mass.
func draw(vocab int, sums []wide, mass func(id int) wide, target wide) int {
	s, target := pick(len(sums), func(i int) wide { return sums[i] }, target)
	if s < 0 {
		return -1
	}
	first := s * SliceTokens
	j, _ := pick(min(SliceTokens, vocab-first), func(j int) wide { return mass(first + j) }, target)
	return first + j
}

// sumOf adds integers.
func sumOf(list []wide) (sum wide) {
	for _, v := range list {
		sum = sum.plus(v)
	}
	return sum
}

// WeightRow is a row of weights with the sums of the masses of its slices. A token's probability is its
// mass divided by the total.
type WeightRow struct {
	Weights []float32
	Sums    []uint64
}

// Mass returns the mass of a token, 0 for an id outside the row.
func (r WeightRow) Mass(id int) uint64 {
	if id < 0 || id >= len(r.Weights) {
		return 0
	}
	return Mass(r.Weights[id], massUnit(len(r.Weights)))
}

// Total returns the sum of all masses: 0 for a row that Argmax refuses, at least the mass of a weight of
// 1 for every other row.
func (r WeightRow) Total() (total uint64) {
	for _, s := range r.Sums {
		total += s
	}
	return total
}

// Chance returns the probability of a token, given the total of the row.
func (r WeightRow) Chance(id int, total uint64) float32 { return quotient(r.Mass(id), total) }

// quotient divides integers as the device does, for numbers that are only shown.
func quotient(mass, total uint64) float32 { return float32(mass) / float32(total) }

// DrawByID returns the token that a uniform picks if masses are laid end to end in the order of ids, or −1
// for a row without mass.
func (r WeightRow) DrawByID(at Round, stream, position int) int {
	target := share(at.uniform(stream, position), wide{low: r.Total()}).low
	for id := range r.Weights {
		mass := r.Mass(id)
		if target < mass {
			return id
		}
		target -= mass
	}
	return -1
}

// Draw returns the token that a uniform picks, or −1 for a row without mass.
func (r WeightRow) Draw(at Round, stream, position int) int {
	sums := make([]wide, len(r.Sums))
	for i, s := range r.Sums {
		sums[i].low = s
	}
	return draw(len(r.Weights), sums, func(id int) wide { return wide{low: r.Mass(id)} },
		share(at.uniform(stream, position), wide{low: r.Total()}))
}
