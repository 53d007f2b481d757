package sample

import "math"

// drawBlock is how many probabilities are added up at once, before the one that u falls into is looked for among them.
const drawBlock = 64

// Draw returns the token that the uniform u in [0,1) picks: the lowest id whose cumulative probability exceeds u.
// Probabilities are added in order of ids, block by block. Where rounding leaves the total at or below u, it is the last id that
// has a probability. So an id of probability 0, or one outside the vocabulary, is never drawn.
func Draw(d Dist, u float64) int32 {
	if d.P == nil {
		return d.Hot
	}
	at, before, sum := -1, 0.0, 0.0 // the latest block with mass, and the mass in front of it
	for start := 0; start < len(d.P) && u >= sum; start += drawBlock {
		if mass := sumOf(d.P[start:min(start+drawBlock, len(d.P))]); mass > 0 {
			at, before = start, sum
			sum += mass
		}
	}
	if at < 0 {
		panic("sample: draw from a distribution without mass")
	}
	last := int32(-1)
	sum = before
	for i, p := range d.P[at:min(at+drawBlock, len(d.P))] {
		if p <= 0 {
			continue
		}
		last = int32(at + i)
		if sum += p; u < sum {
			break
		}
	}
	return last
}

// Residual returns the distribution to draw from after a token from q was refused by p: normalise(max(0, p−q)), written to
// dst (vocab numbers; may be p.P). Where that has no mass, which only rounding brings about, it is p itself.
// For a one-hot q it is p without that token. (Leviathan et al. 2023, appendix A.1; Chen et al. 2023, theorem 1)
func Residual(dst []float64, p, q Dist) Dist {
	if p.P == nil {
		return p // whatever q is, only p's single token can be left
	}
	dst = dst[:len(p.P)]
	common := min(len(p.P), len(q.P))
	copy(dst[common:], p.P[common:])
	mine, theirs, rest := p.P[:common], q.P[:common], dst[:common]
	for i := range rest {
		rest[i] = positive(mine[i] - theirs[i])
	}
	if q.P == nil && 0 <= q.Hot && int(q.Hot) < len(dst) {
		dst[q.Hot] = 0
	}
	mass := sumOf(dst)
	if mass == 0 {
		return p
	}
	share := 1 / mass
	for i := range dst {
		dst[i] *= share
	}
	return Dist{P: dst}
}

// positive is max(0, x) without a branch, which would be guessed wrong half of the time; x is no NaN.
func positive(x float64) float64 {
	b := math.Float64bits(x)
	return math.Float64frombits(b &^ uint64(int64(b)>>63))
}
