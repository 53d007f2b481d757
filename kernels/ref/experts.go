package ref

import "math"

// Router says how a mixture chooses experts for a row from its scores, one per expert, and how it
// computes their shares: the factors of their outputs.
type Router struct {
	Used    int     // experts of a row
	Sigmoid bool    // a share is σ(score); otherwise the softmax over the scores of all experts
	Normed  bool    // the shares of the chosen experts are divided by their sum
	Scale   float64 // the factor by which all shares are multiplied at the end
}

// Route returns the experts of a row, the best first, and their shares. The best have the highest
// share plus bias; bias may be nil. Among equally good experts, the lowest number wins.
// Sources: Shazeer et al., Outrageously Large Neural Networks, 2017; the bias: DeepSeek-V3, 2024.
func Route(scores, bias []float32, r Router) (chosen []int, shares []float64) {
	all := make([]float64, len(scores))
	for e, s := range scores {
		all[e] = float64(s)
	}
	if r.Sigmoid {
		for e, s := range all {
			all[e] = Sigmoid(s)
		}
	} else {
		Softmax(all)
	}
	rank := func(e int) float64 {
		if bias == nil {
			return float64(scores[e]) // same order as the shares, which may be equal after rounding
		}
		return all[e] + float64(bias[e])
	}
	taken := make([]bool, len(scores))
	sum := 0.0
	for range r.Used {
		best := -1
		for e := range scores {
			if !taken[e] && (best < 0 || rank(e) > rank(best)) {
				best = e
			}
		}
		taken[best] = true
		chosen, shares = append(chosen, best), append(shares, all[best])
		sum += all[best]
	}
	for i := range shares {
		if r.Normed {
			shares[i] /= sum
		}
		shares[i] *= r.Scale
	}
	return chosen, shares
}

// MatMulExperts multiplies each row of x (m, cols) with the matrices of the experts that it chose:
// dst (m, used, rows), to the bit. product multiplies one row with the matrix of an expert, by
// MatMulF32 or MatMulQuantized.
func MatMulExperts(dst, x []float32, m, rows, cols int, chosen [][]int,
	product func(dst, x []float32, expert int)) {
	for i := range m {
		for rank, expert := range chosen[i] {
			product(dst[(i*len(chosen[i])+rank)*rows:][:rows], x[i*cols:][:cols], expert)
		}
	}
}

// Mix writes the sum of the rows of x (used, cols), each times its share, to dst. To the bit: each
// product is rounded, and they are added by rank, the best expert first.
func Mix(dst, x, shares []float32) {
	for c := range dst {
		sum := x[c] * shares[0]
		for rank := 1; rank < len(shares); rank++ {
			sum += float32(x[rank*len(dst)+c] * shares[rank])
		}
		dst[c] = sum
	}
}

// ClampedSwiGLU is the activation of gpt-oss, g·σ(1.702·g)·(u + 1): g is gate, at most 7, and u is up,
// bounded to −7 … 7.
func ClampedSwiGLU(gate, up float64) float64 {
	const limit, slope = 7, 1.702
	g, u := math.Min(gate, limit), math.Max(-limit, math.Min(up, limit))
	return g * Sigmoid(slope*g) * (u + 1)
}
