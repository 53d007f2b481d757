package sample

import "math"

// drawBlock is how many probabilities Draw adds up at once. Draw first finds the block that u falls
// into, then the token within that block.
const drawBlock = 64

// Draw returns the token that the uniform u in [0,1) picks: the lowest id whose cumulative
// probability exceeds u. Probabilities are added block by block in the order of ids. If the total
// is at or below u because of rounding, Draw returns the last id with a probability above 0. So it
// never returns an id of probability 0, nor one outside the vocabulary. It panics if every
// probability is 0.
func Draw(d Dist, u float64) int32 {
	if d.P == nil {
		return d.Hot
	}
	at, before, sum := -1, 0.0, 0.0 // the last block with a probability above 0, and the sum before that block
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

// Residual returns the distribution to draw from after p rejected a token drawn from q:
// normalise(max(0, p−q)). It writes this distribution to dst, which may be p.P. If max(0, p−q) has no
// mass, which only rounding can cause, Residual returns p itself. For a one-hot q the residual is p
// without q's token. (Leviathan et al. 2023, appendix A.1; Chen et al. 2023, theorem 1)
func Residual(dst []float64, p, q Dist) Dist {
	if p.P == nil {
		return p // p has only one token, so nothing else can remain
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

// positive returns max(0, x) without a branch, which the processor would mispredict half of the
// time. x must not be NaN.
func positive(x float64) float64 {
	b := math.Float64bits(x)
	return math.Float64frombits(b &^ uint64(int64(b)>>63))
}
