package ref

import "math/bits"

// This file defines to the bit how the GPU turns weights into tokens. Weights are float32 and their
// sums float64. A row is summed in a fixed tree of slices, lanes and weights. To draw a random token,
// one walks down the same tree.

// SliceTokens is the number of tokens that one warp sums.
const SliceTokens = 1024

const lanes = 32 // per warp

// Slices returns the number of slices in a row.
func Slices(vocab int) int { return (vocab + SliceTokens - 1) / SliceTokens }

func slice[T any](row []T, s int) []T { return row[s*SliceTokens : min((s+1)*SliceTokens, len(row))] }

// Round addresses the uniforms of one sequence in one round and describes its draft. The device has
// the same layout.
type Round struct {
	Seed         [2]uint32 // low word first
	Reply, Round uint32
	Certain      uint32 // bit i: draft token i was chosen greedily, not drawn at random, so its q is 1
	Drafts       int32
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
	c, k := [4]uint32{uint32(position), r.Round, uint32(stream), r.Reply}, r.Seed
	for range 10 {
		high0, low0 := bits.Mul32(0xD2511F53, c[0])
		high1, low1 := bits.Mul32(0xCD9E8D57, c[2])
		c = [4]uint32{high1 ^ c[1] ^ k[0], low1, high0 ^ c[3] ^ k[1], low0}
		k[0] += 0x9E3779B9
		k[1] += 0xBB67AE85
	}
	return float64(uint64(c[0]>>5)<<26|uint64(c[1]>>6)) / (1 << 53)
}

// runningSums returns for each lane the sum of itself and all lanes before it. It adds at distances
// 1, 2, 4, …
func runningSums(v [lanes]float64) [lanes]float64 {
	for distance := 1; distance < lanes; distance *= 2 {
		before := v
		for i := distance; i < lanes; i++ {
			v[i] = before[i] + before[i-distance]
		}
	}
	return v
}

// laneSums gives lane i the sum of the weights i, i+32, …
func laneSums(n int, weight func(int) float64) (sums [lanes]float64) {
	for j := range n {
		sums[j%lanes] += weight(j)
	}
	return sums
}

// Total adds n weights in the order in which a warp does.
func Total(n int, weight func(int) float64) float64 {
	return runningSums(laneSums(n, weight))[lanes-1]
}

// pickLane returns the first lane whose running sum exceeds target. If rounding leaves none, it
// returns the last lane with weight; if no lane has weight, −1. rest is target minus the sum of the
// lanes before the returned one.
func pickLane(weights [lanes]float64, target float64) (lane int, rest float64) {
	upto, last := runningSums(weights), -1
	before := func(i int) float64 {
		if i == 0 {
			return 0
		}
		return upto[i-1]
	}
	for i, w := range weights {
		if !(w > 0) {
			continue
		}
		if target < upto[i] {
			return i, target - before(i)
		}
		last = i
	}
	if last < 0 {
		return -1, target
	}
	return last, target - before(last)
}

// pick finds a lane, and then one of the up to 32 weights that the lane added; n ≤ 1024. It returns the
// index of that weight, and target minus the sum of all weights that precede it in the order of
// summation. The index is −1 if no weight is above 0.
func pick(n int, weight func(int) float64, target float64) (j int, rest float64) {
	lane, target := pickLane(laneSums(n, weight), target)
	if lane < 0 {
		return -1, target
	}
	var own [lanes]float64
	for i := range own {
		if j := lane + lanes*i; j < n {
			own[i] = weight(j)
		}
	}
	i, target := pickLane(own, target)
	return lane + lanes*i, target
}

// draw walks down from the slices of a row to a token. It returns −1 if the row has no weight.
func draw(vocab int, sums []float64, weight func(id int) float64, target float64) int {
	s, target := pick(len(sums), func(i int) float64 { return sums[i] }, target)
	if s < 0 {
		return -1
	}
	first := s * SliceTokens
	j, _ := pick(min(SliceTokens, vocab-first), func(j int) float64 { return weight(first + j) }, target)
	return first + j
}

// WeightRow is a row of weights with the sums of its slices. A token's probability is its weight
// divided by the total.
type WeightRow struct {
	Weights []float32
	Sums    []float64
}

// Total returns the sum of all weights: 0 for a row that Argmax refuses, at least 1 for every other
// row.
func (r WeightRow) Total() float64 {
	return Total(len(r.Sums), func(i int) float64 { return r.Sums[i] })
}

// Chance returns the probability of a token, given the total of the row.
func (r WeightRow) Chance(id int, total float64) float64 {
	return float64(r.Weights[id]) * (1 / total)
}

// Draw returns the token that the uniform u picks, or −1 for a row without weight.
func (r WeightRow) Draw(u float64) int {
	return draw(len(r.Weights), r.Sums, func(id int) float64 { return float64(r.Weights[id]) }, u*r.Total())
}
