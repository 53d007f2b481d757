package ref

import "math/bits"

// What follows is how the GPU turns weights into tokens, to the bit: weights are float32, sums of them double, and a row of weights
// is added in a fixed tree of slices, lanes and weights, down which a draw goes.

// SliceTokens of a row are one warp's work.
const SliceTokens = 1024

const lanes = 32 // of a warp

// Slices is the number of slices of a row.
func Slices(vocab int) int { return (vocab + SliceTokens - 1) / SliceTokens }

func slice[T any](row []T, s int) []T { return row[s*SliceTokens : min((s+1)*SliceTokens, len(row))] }

// Round addresses the uniforms of one sequence in one round, and says what its draft is, as the device has it.
type Round struct {
	Seed         [2]uint32 // low word first
	Reply, Round uint32
	Certain      uint32 // bit i: draft token i was no draw, its q is 1
	Drafts       int32
}

// The streams of uniforms, numbered as engine/sample does.
const (
	DraftDraw = iota
	AcceptTest
	ResidualDraw
	BonusDraw
	TargetDraw
)

// Uniform is in [0,1) with 53 bits, from Philox4x32-10.
// Source: Salmon et al., Parallel random numbers: as easy as 1, 2, 3, 2011.
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

// runningSums gives each lane the sum of itself and those before it, in the order of doubling distances.
func runningSums(v [lanes]float64) [lanes]float64 {
	for distance := 1; distance < lanes; distance *= 2 {
		before := v
		for i := distance; i < lanes; i++ {
			v[i] = before[i] + before[i-distance]
		}
	}
	return v
}

// laneSums gives lane i the sum of weights i, i+32, and so on.
func laneSums(n int, weight func(int) float64) (sums [lanes]float64) {
	for j := range n {
		sums[j%lanes] += weight(j)
	}
	return sums
}

// Total adds n weights in the order of a warp.
func Total(n int, weight func(int) float64) float64 {
	return runningSums(laneSums(n, weight))[lanes-1]
}

// pickLane returns the first lane whose running sum exceeds the target, the last one with weight if rounding leaves none, −1 if
// no lane has weight; and the target without what the lanes before it have.
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

// pick goes down to a lane and to one of the up to 32 weights that it added; n ≤ 1024.
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

// draw goes down from the slices of a row to a token; −1 if the row has no weight.
func draw(vocab int, sums []float64, weight func(id int) float64, target float64) int {
	s, target := pick(len(sums), func(i int) float64 { return sums[i] }, target)
	if s < 0 {
		return -1
	}
	first := s * SliceTokens
	j, _ := pick(min(SliceTokens, vocab-first), func(j int) float64 { return weight(first + j) }, target)
	return first + j
}

// WeightRow is a row of weights and the sums of its slices; weight / total is a token's probability.
type WeightRow struct {
	Weights []float32
	Sums    []float64
}

// Total is 0 for a row whose scores were not finite numbers, at least 1 for every other.
func (r WeightRow) Total() float64 {
	return Total(len(r.Sums), func(i int) float64 { return r.Sums[i] })
}

// Chance is the probability of a token, given the row's total.
func (r WeightRow) Chance(id int, total float64) float64 {
	return float64(r.Weights[id]) * (1 / total)
}

// Draw returns the token that the uniform u picks, −1 for a row without weight.
func (r WeightRow) Draw(u float64) int {
	return draw(len(r.Weights), r.Sums, func(id int) float64 { return float64(r.Weights[id]) }, u*r.Total())
}
